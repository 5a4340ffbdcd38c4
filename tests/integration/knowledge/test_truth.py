"""Knowledge on a bus: spaces, bases, items and revisions as a client makes and reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from shared import knowledge_messages as kb
from shared import knowledge_upkeep_messages as kbu
from shared import spool
from shared import subjects as s
from shared.errors import ErrorCode, KxError
from tests.support.knowledge_bench import KnowledgeBench

pytestmark = pytest.mark.anyio


@pytest.fixture
def bench(tmp_path: Path) -> KnowledgeBench:
    return KnowledgeBench(tmp_path)


async def refused(awaitable) -> KxError:
    with pytest.raises(KxError) as caught:
        await awaitable
    return caught.value


async def test_life_of_an_item(bench: KnowledgeBench, blocking_is_an_error: object):
    """Mission 7.1 and 7.2: written, published, edited, archived, restored; old citations give the old bytes."""
    async with bench.serving() as me:
        base = await me.base("Runbooks")
        item = await me.item("runbooks", "Deploy", "# Deploy\n\nas it was\n")
        assert (item.status, item.number, item.reference, item.base) == ("draft", 1, "", base.id)
        item = await me.move(item.id, "publish")
        first = item.current_revision_id
        assert item.reference == f"knowledge:{item.id}@{first}"
        item = await me.edit(item.id, "# Deploy\n\nas it is\n")
        assert item.number == 2
        assert await me.read(item.id) == b"# Deploy\n\nas it is\n"
        assert await me.read(item.id, first) == b"# Deploy\n\nas it was\n"
        await me.move(item.id, "archive")
        for revision in (None, first, item.current_revision_id):
            assert (await refused(me.read(item.id, revision))).code is ErrorCode.KNOWLEDGE_UNKNOWN
        assert (await me.move(item.id, "restore")).status == "published"
        assert await me.read(item.id, first) == b"# Deploy\n\nas it was\n"
        rows = (await me.ask(s.REVISIONS, kb.RevisionsRequest(caller=me.caller, item=item.id))).revisions
        assert [(one.number, one.is_current, bool(one.published_at)) for one in rows] == [
            (2, True, True),
            (1, False, True),
        ]
        assert rows[0].provenance == {
            "principal": "local",
            "client": "test",
            "tool": "item_edit",
            "at": rows[0].created,
        }
        audit = await me.ask(s.AUDIT, kbu.AuditRequest(caller=me.caller))
        assert [row.action for row in audit.rows] == [
            "space.created", "base.created", "item.created", "item.revised", "item.published", "item.revised",
            "item.archived", "item.restored",
        ]  # fmt: skip


async def test_creation_under_a_key_is_done_once(bench: KnowledgeBench):
    """Who heard no answer asks again, and does not find two; another key, base or caller is another item."""
    async with bench.serving() as me:
        base, other = (await me.base("Runbooks")).id, (await me.base("Notes")).id
        asked = kb.CreateItem(caller=me.caller, base=base, title="Deploy", content="now", key="a1")
        first = await me.ask(s.ITEM_CREATE, asked)
        edited = await me.edit(first.item.id, "later")
        again = await me.ask(s.ITEM_CREATE, asked)
        assert (first.is_changed, again.is_changed, again.item) == (True, False, edited)
        others = [replace(asked, key="a2"), replace(asked, key=""), replace(asked, key=""), replace(asked, base=other)]
        ids = [(await me.ask(s.ITEM_CREATE, one)).item.id for one in others]
        assert len({first.item.id, *ids}) == 5


async def test_long_content_goes_beside_the_message_and_comes_in_parts(bench: KnowledgeBench):
    """A content above a message is handed over in a file, read in pages, and is the same bytes."""
    content = ("ação " * 100_000).encode()
    async with bench.serving() as me:
        await me.base("Runbooks")
        name = spool.put(bench.settings, content)
        asked = kb.CreateItem(caller=me.caller, base="Runbooks", title="long", spool=name)
        item = (await me.ask(s.ITEM_CREATE, asked)).item
        assert await me.read(item.id) == content
