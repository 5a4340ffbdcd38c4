"""Files become items: text as the index reads it, documents extracted, secrets refused, nothing made twice."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from shared import knowledge_upkeep_messages as kbu
from shared import subjects as s
from shared.errors import ErrorCode, KxError
from shared.spool import FOLDER
from tests.support.document_samples import make_docx
from tests.support.knowledge_bench import KnowledgeBench

pytestmark = pytest.mark.anyio


@pytest.fixture
def bench(tmp_path: Path) -> KnowledgeBench:
    return KnowledgeBench(tmp_path)


async def refused(awaitable) -> KxError:
    with pytest.raises(KxError) as caught:
        await awaitable
    return caught.value


async def test_changed_file_makes_a_revision_and_unchanged_nothing(bench: KnowledgeBench):
    """Mission 7.7: known again by its place in the base; its source is recorded; what was published stays so."""
    async with bench.serving() as me:
        base = await me.base("Docs")
        data = "título: ação\r\nfim\r\n".encode("latin-1")
        first = await me.put(base.id, "docs/guia.yaml", data, publish=True)
        item = first.item
        assert (item.title, item.locator, item.origin, item.status) == ("guia.yaml", "guia.yaml", "file", "published")
        assert await me.read(item.id) == "título: ação\nfim\n".encode()
        part = await me.part(item.id)
        assert part.revision.format == "yaml"
        assert part.revision.source == {
            "file_name": "guia.yaml",
            "file_sha256": hashlib.sha256(data).hexdigest(),
            "kind": "yaml",
        }
        assert part.revision.provenance["tool"] == "item_import"
        again = await me.put(base.id, "guia.yaml", data)
        assert (again.is_changed, again.item) == (False, item)
        saved_anew = await me.put(base.id, "guia.yaml", data.replace(b"\r\n", b"\n"))
        assert saved_anew.item.number == 1  # other bytes, the same text
        second = await me.put(base.id, "guia.yaml", data + b"mais\n")
        assert (second.is_changed, second.item.id, second.item.number) == (True, item.id, 2)
        assert second.item.reference.endswith(second.item.current_revision_id or "-")
        assert await me.read(item.id, item.current_revision_id) == "título: ação\nfim\n".encode()
        assert len(await me.items()) == 1
        assert list((bench.settings.run_dir / FOLDER).iterdir()) == []


async def test_document_is_extracted(bench: KnowledgeBench):
    """A document becomes Markdown, in a process of its own."""
    async with bench.serving() as me:
        base = await me.base("Docs")
        made = (await me.put(base.id, "manual.docx", make_docx(), publish=True)).item
        part = await me.part(made.id)
        assert (part.revision.format, part.revision.source["kind"], part.revision.source["parts"]) == (
            "markdown",
            "docx",
            "1",
        )
        assert b"drains the queue" in part.content
        assert made.title == "Handbook"


async def test_document_that_cannot_be_read_leaves_a_draft_with_the_reason(bench: KnowledgeBench):
    """A failed extraction is a draft that says why; a later good file fills it, and a later bad one keeps what is good."""
    async with bench.serving() as me:
        base = await me.base("Docs")
        failed = await me.put(base.id, "manual.pdf", b"%PDF-1.7 no document", publish=True)
        assert (failed.item.status, failed.item.current_revision_id, failed.item.number) == ("draft", None, 0)
        assert failed.item.failure
        assert failed.notes == (failed.item.failure,)
        assert (await refused(me.move(failed.item.id, "publish"))).code is ErrorCode.BAD_REQUEST
        assert (await refused(me.read(failed.item.id))).code is ErrorCode.KNOWLEDGE_UNKNOWN
        filled = await me.edit(failed.item.id, "written by hand")
        assert (filled.failure, filled.number) == ("", 1)
        bad = await me.put(base.id, "manual.pdf", b"%PDF-1.4 none either")
        assert bad.item.failure
        assert await me.read(failed.item.id) == b"written by hand"


@pytest.mark.parametrize(
    "name",
    [
        ".env",
        "a/.ENV.local",
        "id_rsa",
        "server.key",
        ".ssh/notes.md",
        "C:\\x\\.aws\\a.md",
        "Secrets.YAML",
        "x/.env/b.md",
    ],
)
async def test_secret_is_refused_by_its_name(bench: KnowledgeBench, name: str):
    """Row A4: what the denylist names is never kept, whatever the case or the folder; no byte of it stays."""
    async with bench.serving() as me:
        base = await me.base("Docs")
        assert (await refused(me.put(base.id, name, b"canary-1234567890"))).code is ErrorCode.PATH_DENIED
        assert await me.items() == []
        assert b"canary" not in bench.path.read_bytes()
        assert list((bench.settings.run_dir / FOLDER).iterdir()) == []


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("image.png", b"text", ErrorCode.BAD_REQUEST),
        ("noise.txt", bytes(range(256)) * 8, ErrorCode.BAD_REQUEST),
        ("long.txt", b"x" * 10_000_001, ErrorCode.CONTENT_TOO_LARGE),
        ("", b"text", ErrorCode.BAD_REQUEST),
    ],
    ids=["kind", "binary", "long", "nameless"],
)
async def test_file_that_is_no_text_is_refused(bench: KnowledgeBench, name: str, data: bytes, code: ErrorCode):
    """Kinds, sizes and bytes are checked; nothing is left."""
    async with bench.serving() as me:
        base = await me.base("Docs")
        assert (await refused(me.put(base.id, name, data))).code is code
        assert await me.items() == []


async def test_limits_are_told(bench: KnowledgeBench):
    """Mission 7.6: a client knows the sizes and kinds before it sends anything."""
    async with bench.serving() as me:
        told = await me.ask(s.LIMITS, kbu.LimitsRequest())
        assert {".md", ".markdown", ".txt", ".json", ".csv", ".py", ".js", ".ts", ".tsx", ".html"} <= set(
            told.text_suffixes
        )
        assert {".yaml", ".yml", ".toml", ".go", ".rs", ".java"} <= set(told.text_suffixes)
        assert told.document_suffixes == (".pdf", ".docx", ".pptx", ".xlsx")


async def test_viewer_imports_nothing_and_no_document_is_read_for_it(bench: KnowledgeBench):
    """Rights are asked before a file is read."""
    async with bench.serving() as me:
        team = await me.space("Team", rui="viewer")
        base = await me.base("Docs", team.id)
        rui, eva = me.named("rui"), me.named("eva")
        assert (await refused(rui.put(base.id, "a.md", b"text"))).code is ErrorCode.KNOWLEDGE_FORBIDDEN
        assert (await refused(eva.put(base.id, "a.md", b"text"))).code is ErrorCode.KNOWLEDGE_UNKNOWN
