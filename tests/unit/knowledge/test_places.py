"""Where texts lie in a derived tree."""

from __future__ import annotations

import pytest

from services.knowledge.core.places import Place, path_of, place_of
from services.query.core.evidence.demotion import is_test
from shared.analyzer import terms
from shared.deny import DenyList
from shared.exclusions import excluded_file
from shared.kinds import classify

PLACE = Place(base="bas_" + "0a" * 16, item="itm_" + "5f" * 16, revision="rev_" + "93" * 16)
TITLES = (
    "secrets", "credentials", "id_rsa", ".env", "service-account prod", "client_secret", "package-lock", "kubeconfig",
    "unit test", "test_login", "app.min", "thumbs.db", "README", "Dockerfile", "../../etc/passwd", "a/b", "\u202e", "日本語",
    "CON", "x" * 300, "ação " * 60, "pnpm-lock", "terraform.tfstate",
)  # fmt: skip
FORMATS = (
    "markdown",
    "json",
    "yaml",
    "toml",
    "python",
    "text",
    "rtf",
    "env",
    "properties",
    "pdf",
    "exe",
    "klingon",
    "..",
)


@pytest.mark.parametrize("format_name", FORMATS)
def test_no_title_trips_over_a_rule_for_files(format_name: str) -> None:
    """A title is the user's to choose: whatever it says, its text is indexed."""
    deny = DenyList()
    for title in TITLES:
        path = path_of(PLACE, title, format_name)
        assert deny.denies(path) is None, path
        assert excluded_file(path) is None, path
        assert not is_test(path), path
        assert len(path.rpartition("/")[2].encode()) < 200
        assert place_of(path) == PLACE, path


@pytest.mark.parametrize(
    ("format_name", "language"), [("markdown", "markdown"), ("python", "python"), ("json", "json")]
)
def test_format_decides_how_a_text_is_cut(format_name: str, language: str) -> None:
    """A revision says what its text is."""
    assert classify(path_of(PLACE, "Notes", format_name)).language == language


def test_ids_give_the_index_no_terms_that_a_question_has() -> None:
    """A question with a number or a single letter in it finds texts, not ids."""
    found = terms(path_of(PLACE, "Restart", "markdown"))
    assert all(len(term) > 1 and not term.isdigit() for term in found)
    assert "restart" in found


@pytest.mark.parametrize("path", ["", "kb", "kb/bas_ab/itm_ab/rev_ab", "kb/bas_ab/itm_ab/rev_xy/_a_.md", ".kx.json"])
def test_nothing_else_is_a_text_of_ours(path: str) -> None:
    """What somebody puts there is shown to nobody."""
    assert place_of(path) is None
