"""The database of knowledge keeps its own word: immutable, private, refused when it is damaged, forgetful when told."""

from __future__ import annotations

import secrets
import stat
from pathlib import Path

import apsw
import pytest
from msgspec.structs import replace

from services.knowledge.adapters.schema import HISTORY
from shared import knowledge_messages as kb
from shared import knowledge_upkeep_messages as kbu
from shared import subjects as s
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import Caller
from tests.support.knowledge_bench import Asker, KnowledgeBench
from tests.support.residue import found_in

pytestmark = pytest.mark.anyio

FORBIDDEN = (
    "UPDATE revisions SET content = x'00'",
    "UPDATE revisions SET content_hash = 'x'",
    "UPDATE revisions SET number = number + 10",
    "UPDATE revisions SET seq = seq + 10",
    "UPDATE revisions SET id = 'rev_x'",
    "UPDATE revisions SET created = '', published_at = '' WHERE published_at IS NULL",
    "UPDATE revisions SET published_at = 'later' WHERE published_at IS NOT NULL",
    "UPDATE revisions SET published_at = NULL WHERE published_at IS NOT NULL",
    "UPDATE OR REPLACE revisions SET number = 1",
    "DELETE FROM revisions",
    "DELETE FROM revisions WHERE number = 1",
    "INSERT OR REPLACE INTO revisions SELECT * FROM revisions WHERE number = 1",
    "REPLACE INTO revisions SELECT seq, id, item, number, format, 'x', source, provenance, created, NULL, x'00' FROM revisions",
    "INSERT INTO revisions SELECT 99, 'rev_y', item, 1, format, content_hash, source, provenance, created, NULL, content FROM revisions",
    "UPDATE items SET current = (SELECT id FROM revisions WHERE number = 1)",
    "UPDATE items SET current = NULL",
    "UPDATE audit SET principal = 'somebody'",
    "DELETE FROM audit",
)


@pytest.fixture
def bench(tmp_path: Path) -> KnowledgeBench:
    return KnowledgeBench(tmp_path)


async def refused(awaitable) -> KxError:
    with pytest.raises(KxError) as caught:
        await awaitable
    return caught.value


async def two_revisions(me: Asker) -> kb.ItemRow:
    base = await me.base("Runbooks")
    item = await me.item(base.id, "Deploy", "as it was", publish=True)
    return await me.edit(item.id, "as it is")


@pytest.mark.parametrize("statement", FORBIDDEN)
async def test_no_statement_changes_a_revision(bench: KnowledgeBench, statement: str):
    """Mission 7.1: the database itself refuses to change or remove a revision, whoever asks."""
    async with bench.serving() as me:
        item = await two_revisions(me)
        draft = await me.item(item.base, "Draft", "never published")
        connection = apsw.Connection(str(bench.path))  # as another program opens it, without our pragmas
        before = connection.execute("SELECT * FROM revisions ORDER BY seq").fetchall()
        with pytest.raises(apsw.ConstraintError):
            connection.execute(statement).fetchall()
        assert connection.execute("SELECT * FROM revisions ORDER BY seq").fetchall() == before
        connection.close()
        assert (await me.read(item.id), await me.read(draft.id)) == (b"as it is", b"never published")


async def test_database_is_private_and_written_through(bench: KnowledgeBench):
    """Nobody else reads it, its log neither; what was answered is on the disk; each process sees the other's writes."""
    async with bench.serving() as me:
        await two_revisions(me)
        for path in bench.path.parent.glob("knowledge.sqlite*"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        bench.path.chmod(0o644)
        async with bench.serving() as other:
            assert len(await other.items()) == 1
            assert stat.S_IMODE(bench.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", ["header", "noise", "other", "newer"])
async def test_damaged_database_is_refused_and_left_alone(bench: KnowledgeBench, damage: str):
    """What cannot be read is never set aside nor made anew; a copy put back is taken at once."""
    async with bench.serving() as me:
        await two_revisions(me)
    sound = bench.path.read_bytes()
    if damage == "header":
        bench.path.write_bytes(b"x" * 100 + sound[100:])
    elif damage == "noise":
        bench.path.write_bytes(secrets.token_bytes(len(sound)))
    else:
        connection = apsw.Connection(str(bench.path))
        pragma = "application_id=7" if damage == "other" else f"user_version={len(HISTORY) + 1}"
        connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.close()
    damaged = bench.path.read_bytes()
    async with bench.serving() as me:
        code = ErrorCode.INDEX_NEWER if damage == "newer" else ErrorCode.KNOWLEDGE_DAMAGED
        assert (await refused(me.items())).code is code
        assert (await refused(me.base("Another"))).code is code
        assert bench.path.read_bytes() == damaged
        copy = bench.path.with_name("copy")
        copy.write_bytes(sound)
        copy.rename(bench.path)
        assert len(await me.items()) == 1


async def test_copy_put_back_while_serving_is_the_truth_at_once(bench: KnowledgeBench):
    """A copy replaces the file under an open log: the log of the old file is not written into it."""
    async with bench.serving() as me:
        item = await two_revisions(me)
    copy = bench.path.read_bytes()
    async with bench.serving() as me:
        for number in range(20):
            await me.item(item.base, f"Later {number}", "x" * 9_000, publish=True)
            await me.items()
        assert bench.path.with_name(bench.path.name + "-wal").stat().st_size
        bench.path.with_name("copy").write_bytes(copy)
        bench.path.with_name("copy").rename(bench.path)
        assert [row.id for row in await me.items()] == [item.id]
        await me.item(item.base, "Anew", "text")
        assert sorted(row.title for row in await me.items()) == ["Anew", "Deploy"]
    connection = apsw.Connection(str(bench.path))
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


async def test_content_that_is_not_what_was_written_is_never_shown(bench: KnowledgeBench):
    """A flipped bit is damage, not an answer."""
    async with bench.serving() as me:
        item = await two_revisions(me)
    data = bench.path.read_bytes()
    assert data.count(b"as it is") == 1
    bench.path.write_bytes(data.replace(b"as it is", b"as it iz"))
    async with bench.serving() as me:
        assert (await refused(me.read(item.id))).code is ErrorCode.KNOWLEDGE_DAMAGED


@pytest.mark.parametrize("whole_base", [False, True], ids=["item", "base"])
async def test_deletion_leaves_no_byte(bench: KnowledgeBench, whole_base: bool):
    """Mission 7.3: title, texts of all revisions, source: in neither the database nor its log; the rest is as it was."""
    words = {name: secrets.token_hex(16) for name in ("title", "old", "new", "name")}
    async with bench.serving() as me:
        base = await me.base("Runbooks " + words["name"])
        kept = await me.item((await me.base("Kept")).id, "Kept", "kept " * 5_000, publish=True)
        item = await me.item(base.id, f"Title {words['title']}", f"old {words['old']} " + "x" * 50_000, publish=True)
        await me.edit(item.id, "y" * 9_000 + f" new {words['new']}")
        assert len(found_in(bench.path, *words.values())) == 4
        if whole_base:
            wrong = kb.DeleteBase(caller=me.caller, base=base.id, confirm="Runbooks")
            right = kb.DeleteBase(caller=me.caller, base=base.id, confirm=base.name)
            assert (await refused(me.ask(s.BASE_DELETE, wrong))).code is ErrorCode.BAD_REQUEST
            erased = await me.ask(s.BASE_DELETE, right)
        else:
            assert (
                await refused(me.ask(s.ITEM_DELETE, kb.DeleteItem(caller=me.caller, item=item.id, confirm="yes")))
            ).code is ErrorCode.BAD_REQUEST
            erased = await me.ask(s.ITEM_DELETE, kb.DeleteItem(caller=me.caller, item=item.id, confirm=item.id))
        assert (erased.items, erased.revisions, erased.residue) == (1, 2, 0)
        gone = words if whole_base else {name: word for name, word in words.items() if name != "name"}
        assert found_in(bench.path, *gone.values()) == []
        assert (await refused(me.read(item.id))).code is ErrorCode.KNOWLEDGE_UNKNOWN
        assert await me.read(kept.id) == b"kept " * 5_000
        assert [row.title for row in await me.items()] == ["Kept"]


async def test_residue_is_counted_where_bytes_are_left(bench: KnowledgeBench):
    """What is left of a destroyed text is said; a text that somebody else has as well is no residue."""
    word = secrets.token_hex(16)
    async with bench.serving() as me:
        base = await me.base("Runbooks")
        item = await me.item(base.id, "One", f"text {word}")
        twin = await me.item(base.id, "Two", f"text {word}")
        asked = kb.DeleteItem(caller=me.caller, item=item.id, confirm=item.id)
        assert (await me.ask(s.ITEM_DELETE, asked)).residue == 0
        reader = apsw.Connection(str(bench.path))
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM items").fetchall()  # holds the log: it cannot be cut
        asked = kb.DeleteItem(caller=me.caller, item=twin.id, confirm=twin.id)
        assert (await me.ask(s.ITEM_DELETE, asked)).residue > 0
        reader.close()
    async with bench.serving() as me:  # what was cut off is taken up again
        await me.base("Another")
        assert found_in(bench.path, word) == []


async def test_switched_off_is_an_answer(tmp_path: Path):
    """Mission 7.6: where knowledge is switched off, every operation says so."""
    bench = KnowledgeBench(tmp_path)
    bench.settings = replace(bench.settings, knowledge=False)
    async with bench.serving() as me:
        assert (await refused(me.items())).code is ErrorCode.KNOWLEDGE_DISABLED
        assert (await refused(me.base("B"))).code is ErrorCode.KNOWLEDGE_DISABLED
        assert not bench.path.exists()


async def test_team_of_one_file_and_many_names(bench: KnowledgeBench):
    """Spaces, members and names: who is in sees, who is out hears that there is nothing; one name is one thing."""
    async with bench.serving() as me:
        team = await me.space("Plataforma", ana="admin", rui="viewer")
        assert [one.principal for one in team.members] == ["local", "ana", "rui"]
        ana, rui, eva = me.named("ana"), me.named("rui"), me.named("eva")
        base = await ana.base("Runbooks", "plataforma")
        assert (await refused(ana.base("RUNBOOKS", team.id))).code is ErrorCode.KNOWLEDGE_EXISTS
        assert (await refused(me.space("PLATAFORMA"))).code is ErrorCode.KNOWLEDGE_EXISTS
        assert (await refused(rui.base("Other", team.id))).code is ErrorCode.KNOWLEDGE_FORBIDDEN
        assert (await refused(eva.base("Other", team.id))).code is ErrorCode.KNOWLEDGE_UNKNOWN
        await me.base("Runbooks")
        assert (await refused(me.item("runbooks", "T", ""))).code is ErrorCode.BAD_REQUEST  # two of that name
        draft = await ana.item(base.id, "\u202eDeploy\x1b[0m \u0301", "text")
        assert draft.title == "Deploy[0m \u0301"
        assert [row.id for row in await rui.items()] == []
        await ana.move(draft.id, "publish")
        assert [row.id for row in await rui.items()] == [draft.id]
        drop = kb.SetMember(caller=me.caller, space=team.id, principal="rui", role=None)
        await me.ask(s.SPACE_MEMBER, drop)
        assert (await refused(rui.read(draft.id))).code is ErrorCode.KNOWLEDGE_UNKNOWN
        for principal, role in (("local", "viewer"), ("eva", "owner"), ("Eva!", "viewer")):
            asked = kb.SetMember(caller=ana.caller, space=team.id, principal=principal, role=role)  # type: ignore[arg-type]
            assert (await refused(me.ask(s.SPACE_MEMBER, asked))).code is ErrorCode.BAD_REQUEST
        mine = (await me.ask(s.SPACES, kb.SpacesRequest(caller=me.caller))).spaces
        assert [(one.kind, one.role, one.bases) for one in mine] == [("personal", "owner", 1), ("team", "owner", 1)]
        asked = kb.SetMember(caller=me.caller, space=mine[0].id, principal="ana", role="viewer")
        assert (await refused(me.ask(s.SPACE_MEMBER, asked))).code is ErrorCode.KNOWLEDGE_FORBIDDEN


async def test_reading_writes_nothing(bench: KnowledgeBench):
    """Row A8: who may only read changes no byte of the database, whatever is asked."""
    async with bench.serving() as me:
        item = await two_revisions(me)
    before = bench.path.read_bytes()
    async with bench.serving() as me:
        agent = me.named("local", "knowledge:read")
        await agent.read(item.id)
        await agent.items()
        await agent.ask(s.SPACES, kb.SpacesRequest(caller=agent.caller))
        stranger = Caller(principal="stranger", scopes=("knowledge:read",))
        assert (await agent.ask(s.SPACES, kb.SpacesRequest(caller=stranger))).spaces == ()
        await agent.ask(s.BASES, kb.BasesRequest(caller=stranger, space=kb.PERSONAL))
    assert bench.path.read_bytes() == before


async def test_edit_of_what_changed_meanwhile_is_refused(bench: KnowledgeBench):
    """An edit names what it was made from; the same content makes no revision; an archived item is edited in the dark."""
    async with bench.serving() as me:
        item = await two_revisions(me)
        first = (await me.ask(s.REVISIONS, kb.RevisionsRequest(caller=me.caller, item=item.id))).revisions[1]
        stale = kb.EditItem(caller=me.caller, item=item.id, content="other", if_revision=first.id)
        assert (await refused(me.ask(s.ITEM_EDIT, stale))).code is ErrorCode.KNOWLEDGE_CONFLICT
        same = await me.ask(s.ITEM_EDIT, kb.EditItem(caller=me.caller, item=item.id, content="as it is"))
        assert (same.is_changed, same.item.number) == (False, 2)
        titled = await me.ask(s.ITEM_EDIT, kb.EditItem(caller=me.caller, item=item.id, title="Other"))
        assert (titled.is_changed, titled.item.number, titled.item.title) == (True, 2, "Other")
        await me.move(item.id, "archive")
        dark = await me.edit(item.id, "in the dark")
        assert dark.reference == ""
        assert (await refused(me.move(item.id, "publish"))).code is ErrorCode.BAD_REQUEST
        assert (await me.move(item.id, "restore")).reference == f"knowledge:{item.id}@{dark.current_revision_id}"
        assert await me.read(item.id, dark.current_revision_id) == b"in the dark"


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"title": "x" * 301}, ErrorCode.BAD_REQUEST),
        ({"title": " \u200b\x00 "}, ErrorCode.BAD_REQUEST),
        ({"content": "a\0b"}, ErrorCode.BAD_REQUEST),
        ({"format": "no format!"}, ErrorCode.BAD_REQUEST),
        ({"spool": "../../etc/passwd"}, ErrorCode.BAD_REQUEST),
        ({"spool": "0" * 32}, ErrorCode.BAD_REQUEST),
    ],
)
async def test_what_cannot_be_kept_is_refused(bench: KnowledgeBench, asked: dict[str, str], code: ErrorCode):
    """Sizes, names and texts are checked before anything is written."""
    async with bench.serving() as me:
        base = await me.base("Runbooks")
        message = kb.CreateItem(caller=me.caller, base=base.id, **{"title": "T", **asked})
        assert (await refused(me.ask(s.ITEM_CREATE, message))).code is code
        assert await me.items() == []


async def test_links_change_nothing_else(bench: KnowledgeBench):
    """Mission 7.5: tied and untied; only what the caller may read is told; what is destroyed is untied."""
    async with bench.serving() as me:
        item = await two_revisions(me)
        draft = await me.item(item.base, "Draft", "text")
        before = await me.items()
        for target in (item.id, draft.id, item.base, item.base):
            links = await me.ask(s.LINK_SET, kbu.SetLink(caller=me.caller, project="p1", target=target, linked=True))
        assert [(one.target, one.kind) for one in links.links] == [
            (item.id, "item"),
            (draft.id, "item"),
            (item.base, "base"),
        ]
        stranger = me.named("eva").caller
        assert (await me.ask(s.LINKS, kbu.LinksRequest(caller=stranger, project="p1"))).links == ()
        theirs = kbu.SetLink(caller=stranger, project="p1", target=item.id, linked=False)
        assert (await refused(me.ask(s.LINK_SET, theirs))).code is ErrorCode.KNOWLEDGE_UNKNOWN
        links = await me.ask(s.LINK_SET, kbu.SetLink(caller=me.caller, project="p1", target=draft.id, linked=False))
        assert [one.target for one in links.links] == [item.id, item.base]
        assert await me.items() == before
        await me.ask(s.ITEM_DELETE, kb.DeleteItem(caller=me.caller, item=item.id, confirm=item.id))
        links = await me.ask(s.LINKS, kbu.LinksRequest(caller=me.caller, project="p1"))
        assert [one.target for one in links.links] == [item.base]
