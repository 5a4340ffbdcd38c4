"""Row A8 at knowledge: whatever stands in a string argument, it is a value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from services.knowledge.core.words import line
from shared import knowledge_messages as kb
from shared import knowledge_upkeep_messages as kbu
from shared import subjects as s
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import Caller
from shared.messages import Message
from shared.subjects import RequestRoute
from tests.support.knowledge_bench import KnowledgeBench

pytestmark = pytest.mark.anyio

BASES = (
    "' OR 1=1 --", "'; DROP TABLE revisions; --", '" OR ""="', "a' UNION SELECT content FROM revisions --",
    "x') OR ('1'='1", "%", "_", "itm_%", "*", "[a-z]*", "../../etc/passwd", "?1", ":a", "%s", "{id}", '["a"]',
    "\\' OR 1=1", "a\0' OR 1=1", "\ud7ff\u202e", "itm_" + "0" * 32,
)  # fmt: skip
PAYLOADS = [base + end for base in BASES for end in ("", " x", ";", "*", '"')]
REFUSALS = {ErrorCode.KNOWLEDGE_UNKNOWN, ErrorCode.BAD_REQUEST, ErrorCode.KNOWLEDGE_FORBIDDEN}

Ask = Callable[[Caller, str], tuple[RequestRoute[Message, Message], Message]]
READS: tuple[Ask, ...] = (
    lambda who, text: (s.BASES, kb.BasesRequest(caller=who, space=text)),
    lambda who, text: (s.ITEMS, kb.ItemsRequest(caller=who, base=text)),
    lambda who, text: (s.ITEM_READ, kb.ReadItem(caller=who, item=text)),
    lambda who, text: (s.ITEM_READ, kb.ReadItem(caller=who, item=text, revision=text)),
    lambda who, text: (s.REVISIONS, kb.RevisionsRequest(caller=who, item=text)),
    lambda who, text: (s.AUDIT, kbu.AuditRequest(caller=who, space=text)),
    lambda who, text: (s.LINKS, kbu.LinksRequest(caller=who, project=text)),
    lambda _, text: (s.SPACES, kb.SpacesRequest(caller=Caller(principal=text, scopes=("knowledge:read",)))),
    lambda _, text: (s.ITEMS, kb.ItemsRequest(caller=Caller(principal=text, scopes=("knowledge:read",)))),
)


@pytest.fixture
def bench(tmp_path: Path) -> KnowledgeBench:
    return KnowledgeBench(tmp_path)


def whole(path: Path) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall()
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall():
        rows += connection.execute(f'SELECT * FROM "{table}"').fetchall()
    connection.close()
    return rows


async def test_no_payload_reads_or_changes_anything(bench: KnowledgeBench):
    """Row A8: 100 payloads in each string argument of what reads; nothing comes back, nothing is other than before."""
    async with bench.serving() as me:
        team = await me.space("Team", viewer="viewer")
        base = await me.base("Runbooks", team.id)
        await me.item(base.id, "Draft", "secret")
        await me.item((await me.base("Private")).id, "Mine", "secret", publish=True)
        before = whole(bench.path)
        who = Caller(principal="viewer", scopes=("knowledge:read",))
        for payload in PAYLOADS:
            for ask in READS:
                route, message = ask(who, payload)
                try:
                    reply = await me.ask(route, message)
                except KxError as error:
                    if error.code not in REFUSALS:
                        raise
                    continue
                assert isinstance(reply, kb.Spaces | kb.Items | kbu.Links), (payload, message)
                found = getattr(reply, "items", ()) or getattr(reply, "spaces", ()) or getattr(reply, "links", ())
                assert found == (), (payload, message)
        assert whole(bench.path) == before


async def test_payload_that_is_written_is_kept_as_text(bench: KnowledgeBench):
    """Row A8: a name, a title, a locator or a content of such words is those words, and the schema stays."""
    async with bench.serving() as me:
        base = await me.base("Runbooks")
        schema = [row for row in whole(bench.path) if row[0] in {"table", "trigger", "index"}]
        for number, payload in enumerate(PAYLOADS[::5]):
            content = payload.replace("\0", "")
            await me.ask(
                s.BASE_CREATE, kb.CreateBase(caller=me.caller, name=f"{payload} {number}", description=payload)
            )
            asked = kb.CreateItem(
                caller=me.caller, base=base.id, title=f"T {payload}", content=content, locator=payload
            )
            made = (await me.ask(s.ITEM_CREATE, asked)).item
            assert made.title == line("title", f"T {payload}", 300)
            assert made.locator == line("locator", payload, 300)
            assert await me.read(made.id) == content.encode()
        assert [row for row in whole(bench.path) if row[0] in {"table", "trigger", "index"}] == schema
