"""A base as a folder, and back: the same contents, titles and states, through the command's own code."""

from __future__ import annotations

from pathlib import Path

import pytest

from kx.context import Context
from kx.knowledge.exporting import export_base
from kx.knowledge.importing import Import
from kx.knowledge.outcomes import Imported, counts
from kx.knowledge.sources import sources
from shared import knowledge_messages as kb
from shared import knowledge_upkeep_messages as kbu
from shared import spool
from shared import subjects as s
from shared.errors import ErrorCode, KxError
from tests.support.knowledge_bench import Asker, KnowledgeBench

pytestmark = pytest.mark.anyio

ODD = (
    "---\ntitle: not ours\n---\nText\n",
    "\r\nWindows\r\n",
    "\ufeffmark, no newline at the end",
    "",
    '---\nkx: "knowledge/1"\nid: nested\n---\n',
    "ação " * 20_000,
)


class Silent:
    """Nobody watches."""

    def files(self, done: int, total: int) -> None:
        """Show nothing."""


@pytest.fixture
def bench(tmp_path: Path) -> KnowledgeBench:
    return KnowledgeBench(tmp_path)


async def brought(
    bench: KnowledgeBench, me: Asker, base: kb.BaseRow, *paths: Path, publish: bool = False
) -> list[Imported]:
    limits = await me.ask(s.LIMITS, kbu.LimitsRequest())
    found = list(sources(paths, limits))
    return await Import(Context(bench.settings), me.bus, base, limits, publish=publish).run(found, Silent())


async def contents(me: Asker, base: str) -> list[tuple[str, str, str, bytes]]:
    rows = [row for row in await me.items(base) if row.current_revision_id and row.status != "archived"]
    return sorted([(row.title, row.status, row.locator, await me.read(row.id)) for row in rows])


async def test_export_and_import_give_the_same_base(bench: KnowledgeBench, tmp_path: Path):
    """Every byte, title, locator and state comes back in another base, under new ids; a second time nothing is new."""
    async with bench.serving() as me:
        first, second = await me.base("first"), await me.base("second")
        for at, text in enumerate(ODD):
            row = await me.item("first", f'Título {at}: "x" – y', text, publish=at % 2 == 0)
            await me.ask(s.ITEM_EDIT, kb.EditItem(caller=me.caller, item=row.id, locator=f"docs/{at}.md"))
        await me.item("first", "same title", "one")
        await me.item("first", "same title", "two", publish=True)
        gone = await me.item("first", "gone", "archived", publish=True)
        await me.move(gone.id, "archive")
        told = await export_base(me.bus, first, tmp_path / "out", revisions=False)
        assert (told.items, told.files, told.archived) == (len(ODD) + 2, len(ODD) + 2, ("gone",))

        done = await brought(bench, me, second, tmp_path / "out")
        assert counts(done)["created"] == len(done) == len(ODD) + 2
        assert await contents(me, "second") == await contents(me, "first")
        assert not {row.id for row in await me.items("first")} & {row.id for row in await me.items("second")}

        before = await contents(me, "second")
        for base in (first, second):
            again = await brought(bench, me, base, tmp_path / "out")
            assert counts(again)["unchanged"] == len(again) == len(ODD) + 2
        assert await contents(me, "second") == before
        assert {row.number for row in await me.items("first")} == {1}


async def test_export_of_all_revisions_brings_the_history_back(bench: KnowledgeBench, tmp_path: Path):
    """Numbers, contents and which of them were published are those of the original."""
    async with bench.serving() as me:
        first, second = await me.base("first"), await me.base("second")
        row = await me.item("first", "Deploy", "draft")
        await me.edit(row.id, "published")
        await me.move(row.id, "publish")
        await me.edit(row.id, "edited")
        told = await export_base(me.bus, first, tmp_path / "out", revisions=True)
        assert (told.items, told.files) == (1, 3)
        assert counts(await brought(bench, me, second, tmp_path / "out")) | {"skipped": 0} == {
            "created": 1, "changed": 0, "unchanged": 0, "failed": 0, "denied": 0, "skipped": 0,
        }  # fmt: skip
        copy = (await me.items("second"))[0]
        found = (await me.ask(s.REVISIONS, kb.RevisionsRequest(caller=me.caller, item=copy.id))).revisions
        assert [(one.number, bool(one.published_at)) for one in found] == [(3, True), (2, True), (1, False)]
        assert [await me.read(copy.id, one.id) for one in found] == [b"edited", b"published", b"draft"]


async def test_edited_export_becomes_a_revision_of_its_item(bench: KnowledgeBench, tmp_path: Path):
    """Whoever edits the exported file and imports it again edits the item; it is known by its id."""
    async with bench.serving() as me:
        base = await me.base("first")
        row = await me.item("first", "Deploy", "as it was\n", publish=True)
        await export_base(me.bus, base, tmp_path / "out", revisions=False)
        file = next((tmp_path / "out").glob("*.md"))
        data = file.read_bytes().replace(b"as it was", b"as it is").replace(b'title: "Deploy"', b"title: Deploy: now")
        file.write_bytes(data)
        done = await brought(bench, me, base, file)
        assert [(one.outcome, one.item.id, one.item.number) for one in done if one.item] == [("changed", row.id, 2)]
        assert await contents(me, "first") == [("Deploy: now", "published", "", b"as it is\n")]


async def test_files_are_known_again_and_each_failure_stands_alone(bench: KnowledgeBench, tmp_path: Path):
    """Created, changed and unchanged are told apart; a secret, a link and a file that is no text stop no other."""
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    for name in ("a.md", "sub/a.md", ".env"):
        (docs / name).write_text(name)
    (docs / "b.md").write_bytes(b"\x00\xff\x00binary")
    (docs / "c.png").write_bytes(b"\x89PNG")
    async with bench.serving() as me:
        base = await me.base("first")
        done = {Path(one.path).name: one for one in await brought(bench, me, base, docs, publish=True)}
        assert {name: one.outcome for name, one in done.items()} == {
            "a.md": "created", "b.md": "failed", "c.png": "skipped", ".env": "denied",
        }  # fmt: skip
        assert done["b.md"].error is not None
        assert [(row.title, row.status) for row in await me.items("first")] == [("a.md", "published")] * 2
        (docs / "a.md").write_text("another text")
        done = {
            one.path.removeprefix(f"{docs}/"): one
            for one in await brought(bench, me, base, docs / "a.md", docs / "sub")
        }
        assert {name: one.outcome for name, one in done.items()} == {"a.md": "changed", "sub/a.md": "unchanged"}
        assert done["a.md"].item is not None
        assert (done["a.md"].item.number, done["a.md"].item.status) == (2, "published")


async def test_longest_text_comes_back_too(bench: KnowledgeBench, tmp_path: Path):
    """Its front matter does not make it too long; one byte more is refused and named."""
    async with bench.serving() as me:
        first, second = await me.base("first"), await me.base("second")
        limit = (await me.ask(s.LIMITS, kbu.LimitsRequest())).max_text_bytes
        name = spool.put(bench.settings, b"x" * limit)
        await me.ask(s.ITEM_CREATE, kb.CreateItem(caller=me.caller, base="first", title="long", spool=name))
        await export_base(me.bus, first, tmp_path / "out", revisions=False)
        file = next((tmp_path / "out").glob("*.md"))
        assert counts(await brought(bench, me, second, file))["created"] == 1
        assert await contents(me, "second") == await contents(me, "first")
        file.write_bytes(file.read_bytes() + b"x")
        done = await brought(bench, me, second, file)
        assert [one.error.code for one in done if one.error] == [ErrorCode.CONTENT_TOO_LARGE]


async def test_export_writes_into_no_folder_that_holds_something(bench: KnowledgeBench, tmp_path: Path):
    """Nobody's files are overwritten or mixed with an export."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.md").write_text("mine")
    async with bench.serving() as me:
        base = await me.base("first")
        with pytest.raises(KxError) as refused:
            await export_base(me.bus, base, tmp_path / "out", revisions=False)
    assert refused.value.code is ErrorCode.BAD_REQUEST
