"""Documents of a tree: their text gets in as Markdown, and no bad or slow one is in anybody's way."""

from __future__ import annotations

import shutil
from pathlib import Path

import anyio
import apsw
import pytest

from shared import document_kinds
from shared.errors import ErrorCode
from shared.index_format import DocumentState
from tests.support.document_samples import REAL, hostile_documents, make_docx, make_pdf
from tests.support.indexing import Indexing, indexing

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    return root


def rows(work: Indexing, statement: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(work.project.index_path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def states(work: Indexing) -> dict[object, tuple[object, ...]]:
    return {row[0]: row[1:] for row in rows(work, "SELECT path, state, reason, detail FROM document_e1")}


async def test_text_of_real_documents_is_indexed_with_its_address(root, tmp_path):
    """Page, slide and sheet stand in the heading of what is found (MISSION 2.3)."""
    for path in REAL.iterdir():
        shutil.copy(path, root)
    (root / "README.md").unlink()
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch(*(path.name for path in root.iterdir()))
        await work.until("text")
        assert {row[0] for row in states(work).values()} == {DocumentState.INDEXED}
        found = rows(work, "SELECT path, kind, heading, text FROM chunk_e1 c JOIN document_e1 d ON d.id = c.document")
    told = {(str(path), kind, str(heading), word) for path, kind, heading, text in found for word in str(text).split()}
    assert ("runbook.pdf", "docs", "zstandard") in {(path, kind, word) for path, kind, _, word in told}
    assert "# Search roadmap" not in {text for *_, text in found}  # a title alone says nothing
    headings = {path: heading for path, _, heading, word in told if word in {"checksums", "March", "Armazéns"}}
    assert "Page 2" in headings["runbook.pdf"]
    assert "Slide 2" in headings["roadmap.pptx"]
    assert "Sheet Suppliers" in headings["costs.xlsx"]


async def test_document_that_gives_no_text_is_told_once_and_not_read_again(root, tmp_path):
    """One failed document is one line with its reason; it waits for a change (MISSION 2.6)."""
    bad = next(made for made in (make() for make in hostile_documents()) if made.name == "encrypted")
    name = f"bad.{bad.kind}"
    (root / name).write_bytes(bad.data)
    (root / "good.docx").write_bytes(make_docx())
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch(name, "good.docx")
        await work.until("text")
        state, reason, detail = states(work)[name]
        size = rows(work, f"SELECT size FROM document_e1 WHERE path = '{name}'")
        assert (state, reason, detail) == (DocumentState.FAILED, ErrorCode.EXTRACTION_REFUSED, "it is encrypted")
        assert size == [(len(bad.data),)]  # as the walk sees it: no difference, nothing to announce
        (root / name).write_bytes(make_docx() if bad.kind == "docx" else make_pdf("mended"))
        await work.touch(name, urgency="live")
        await work.until("text")
        assert states(work)[name][0] == DocumentState.INDEXED


async def test_slow_document_holds_up_no_edit(root, tmp_path, monkeypatch):
    """While a document is being read, a saved text is searchable at once."""
    begun, freed = anyio.Event(), anyio.Event()

    async def slow(*_: object, **__: object) -> None:
        begun.set()
        await freed.wait()
        raise AssertionError

    monkeypatch.setattr("shared.extraction.extract", slow)
    (root / "slow.docx").write_bytes(make_docx())
    (root / "note.md").write_text("A note about turbines.\n")
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch("slow.docx")
        with anyio.fail_after(30):
            await begun.wait()
            await work.touch("note.md", urgency="live")
            while "note.md" not in states(work):  # noqa: ASYNC110  # the database is the fact that is waited for
                await anyio.sleep(0.01)
        assert "slow.docx" not in states(work)


async def test_without_the_extra_a_document_is_skipped_and_says_what_it_needs(root, tmp_path, monkeypatch):
    """Whoever misses a document reads the name of the extra."""
    monkeypatch.setattr(document_kinds, "_is_there", lambda _: False)
    (root / "a.pdf").write_bytes(make_pdf("a"))
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch("a.pdf")
        await work.until("text")
        state, reason, detail = states(work)["a.pdf"]
    assert (state, reason) == (DocumentState.SKIPPED, "excluded_file")
    assert document_kinds.EXTRA in str(detail)
