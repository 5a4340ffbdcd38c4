"""What a file to be imported is, by its name."""

from __future__ import annotations

import pytest

from services.knowledge.core.files import base_name, kind_of, require_allowed, suffix_of
from shared.errors import ErrorCode, KxError


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.md", "text"), ("A.MARKDOWN", "text"), ("x.tsx", "text"), ("a.b.PDF", "document"), ("t.xlsx", "document")],
)
def test_kind_by_suffix(name: str, kind: str):
    """Mission 2.3: texts and documents, whatever the case."""
    assert kind_of(name) == kind


@pytest.mark.parametrize("name", ["md", ".md", "a.exe", "a.doc", "a.md ", "archive.zip", "a."])
def test_other_kinds_are_refused(name: str):
    """What is not taken is said before anything is read."""
    with pytest.raises(KxError) as caught:
        kind_of(name)
    assert caught.value.code is ErrorCode.BAD_REQUEST


@pytest.mark.parametrize("path", ["/home/x/.ssh/id.md", "\\\\host\\.AWS\\a.md", ".ENV", "a/.env.local/", "clé.PEM"])
def test_denied_paths_are_refused(path: str):
    """Row A4: the denylist counts for every component, on any system."""
    with pytest.raises(KxError) as caught:
        require_allowed("fine.md", path)
    assert caught.value.code is ErrorCode.PATH_DENIED


def test_name_is_the_last_component():
    """A path of any system gives its name, made visible."""
    assert base_name("C:\\docs\\a\u202eb.md") == "ab.md"
    assert suffix_of("a.tar.GZ") == ".gz"
    require_allowed("docs/guide.md", "", "environment.md")
