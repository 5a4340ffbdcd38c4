"""What an import takes from the disk, and what it does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kx.knowledge.given import given_bytes
from kx.knowledge.importing import locator_of
from kx.knowledge.sources import read_source, sources
from shared.errors import ErrorCode, KxError
from shared.knowledge_upkeep_messages import KnowledgeLimits

LIMITS = KnowledgeLimits(
    max_text_bytes=10,
    max_document_bytes=20,
    max_title_chars=9,
    text_suffixes=(".md", ".txt"),
    document_suffixes=(".pdf",),
    documents_available=True,
)
FILES = (
    "a.md", "b.TXT", "c.pdf", "d.png", "sub/e.md", ".env", "sub/id_rsa", ".vault/private/f.md", ".aws/g.md",
    "node_modules/h.md", ".git/config.txt",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of texts, a document, secrets, copies of dependencies, a link out of it."""
    root = tmp_path / "docs"
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("text")
    (root / "link.md").symlink_to("/etc/passwd")
    return root


def told(folder: Path, *paths: Path) -> dict[str, str | None]:
    return {str(source.path.relative_to(folder)): source.refusal for source in sources(paths, LIMITS)}


def test_folder_gives_what_is_taken_and_names_what_is_denied(folder: Path):
    """Secrets are refused wherever they lie; links are not followed; what others made is not even looked at."""
    assert told(folder, folder) == {
        "a.md": None, "b.TXT": None, "c.pdf": None, "d.png": "kind", "sub/e.md": None, ".env": "denied",
        "sub/id_rsa": "denied", ".vault/private": "denied", ".aws": "denied", "link.md": "link",
    }  # fmt: skip


@pytest.mark.parametrize("name", [".env", "sub/id_rsa", ".aws/g.md", ".vault/private/f.md"])
def test_denied_file_is_refused_also_by_its_own_name(folder: Path, name: str):
    """Naming it, or a folder below the denied one, is no way around the list."""
    found = list(sources((folder / name,), LIMITS))
    assert [(source.refusal, source.is_named) for source in found] == [("denied", True)]
    both = {source.path: source for source in sources((folder, folder / name), LIMITS)}
    assert both[folder / name].is_named  # though the folder met it too


def test_link_to_a_denied_file_is_judged_by_what_it_names(folder: Path, tmp_path: Path):
    """A harmless name does not make a secret harmless."""
    link = tmp_path / "notes.md"
    link.symlink_to(folder / ".env")
    assert [source.refusal for source in sources((link,), LIMITS)] == ["denied"]


def test_named_file_is_taken_whatever_its_kind(folder: Path):
    """Whoever names a file means it; the same file met again is one."""
    assert told(folder, folder / "d.png", folder / "d.png") == {"d.png": None}


def test_missing_path_is_refused_before_anything_is_imported(folder: Path):
    """A misspelt name is an error, not an empty import."""
    with pytest.raises(KxError) as refused:
        list(sources((folder / "nope.md",), LIMITS))
    assert refused.value.code == ErrorCode.PATH_NOT_FOUND


def test_file_longer_than_its_kind_may_be_is_refused(folder: Path):
    """A document may be longer than a text; nothing is read beyond the limit."""
    (folder / "c.pdf").write_bytes(b"x" * 20)
    assert len(read_source(folder / "c.pdf", LIMITS)) == 20
    (folder / "b.TXT").write_bytes(b"x" * 11)
    with pytest.raises(KxError) as refused:
        read_source(folder / "b.TXT", LIMITS)
    assert refused.value.code == ErrorCode.CONTENT_TOO_LARGE


def test_pipe_and_link_are_not_read(folder: Path):
    """What became a pipe or a link since it was found neither blocks the import nor leads it elsewhere."""
    os.mkfifo(folder / "pipe.md")
    for name in ("pipe.md", "link.md"):
        with pytest.raises(KxError) as refused:
            read_source(folder / name, LIMITS)
        assert refused.value.code == ErrorCode.BAD_REQUEST


def test_folder_that_cannot_be_read_is_told_and_stops_nothing(folder: Path):
    """What lies beside it is still imported."""
    if os.geteuid() == 0:
        pytest.skip("nothing is closed to root")
    (folder / "sub").chmod(0)
    found = {source.path.name: source.refusal for source in sources((folder,), LIMITS)}
    assert (found["sub"], found["a.md"]) == ("unreadable", None)
    (folder / "sub").chmod(0o700)


@pytest.mark.parametrize(("name", "code"), [(".env", ErrorCode.PATH_DENIED), ("nope.md", ErrorCode.PATH_NOT_FOUND)])
def test_secret_and_missing_file_are_refused_as_a_content_too(folder: Path, name: str, code: ErrorCode):
    """`kx kb add` and `edit` take no file that an import would not."""
    with pytest.raises(KxError) as refused:
        given_bytes(str(folder / name), None)
    assert refused.value.code == code
    assert given_bytes(str(folder / "a.md"), None) == b"text"


def test_equal_names_in_two_folders_are_two_items(folder: Path, tmp_path: Path):
    """The locator is the whole path, so importing one never overwrites the other."""
    assert locator_of(folder / "a.md", tmp_path) == "~/docs/a.md"
    assert locator_of(folder / "a.md", tmp_path) != locator_of(folder / "sub/a.md", tmp_path)
