"""What a project remembers, who sees it, how it is recalled and forgotten."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from services.knowledge.adapters.memory_store import MemoryStore
from services.knowledge.adapters.shelf import Shelf
from services.knowledge.desk import Desk
from services.knowledge.indexing import Indexing
from services.knowledge.memory import Memory, MemoryTexts
from services.knowledge.trees import Trees
from shared import subjects as s
from shared.bus_memory import MemoryBus
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import Caller
from shared.knowledge_upkeep_messages import SetLink
from shared.memory_messages import (
    Forget,
    MemoriesRequest,
    MemoryRecord,
    PromoteMemory,
    RecallContext,
    RecalledContext,
    Remember,
    Remembered,
)
from shared.registry import Project
from tests.support.knowledge_bench import Asker
from tests.support.knowledge_product import KnowledgeProduct, indexed

pytestmark = pytest.mark.anyio

CANARY = "CANARY-51ee9b7d20-of-the-memory"
ID = "3f8e2c1a-9d1b-4c5e-8f7a-0123456789ab"


@pytest.fixture
def product(tmp_path: Path) -> KnowledgeProduct:
    return KnowledgeProduct(tmp_path)


async def remember(asker: Asker, project: Project, text: str, **fields: Any) -> Remembered:
    """Remember something as somebody."""
    asked = Remember(instance=project.instance, caller=asker.caller, text=text, **fields)
    return await asker.ask(s.REMEMBER, asked)


async def forget(asker: Asker, project: Project, *ids: str) -> int:
    """Forget records as somebody."""
    asked = Forget(instance=project.instance, caller=asker.caller, ids=ids)
    return (await asker.ask(s.FORGET, asked)).forgotten


async def recall(asker: Asker, project: Project, query: str, **fields: Any) -> RecalledContext:
    """Recall as somebody."""
    asked = RecallContext(instance=project.instance, caller=asker.caller, query=query, **fields)
    return await asker.ask(s.RECALL, asked)


async def recalled(asker: Asker, project: Project, query: str, **fields: Any) -> list[str]:
    """Give the texts that are recalled."""
    return [hit.record.text for hit in (await recall(asker, project, query, **fields)).memory]


async def listed(asker: Asker, project: Project) -> list[MemoryRecord]:
    """List what somebody sees."""
    asked = MemoriesRequest(instance=project.instance, caller=asker.caller)
    return list((await asker.ask(s.MEMORIES, asked)).records)


async def code_of(asked: Any) -> ErrorCode:
    """Give the code with which something is refused."""
    with pytest.raises(KxError) as caught:
        await asked
    return caught.value.code


async def test_what_is_remembered_is_recalled_by_the_next_question(product: KnowledgeProduct) -> None:
    """MISSION 7.5: a record says its source, and its writer finds it at once."""
    project = product.project()
    async with product.serving() as me:
        kept = await remember(me, project, "The queue lives in eu-west.", source="docs/queue.md", tags=("queue",))
        assert kept.is_new
        assert (kept.record.principal, kept.record.client, kept.record.source) == ("local", "test", "docs/queue.md")
        (hit,) = (await recall(me, project, "where does the queue live")).memory
        assert hit.record == kept.record
        assert await listed(me, project) == [kept.record]


async def test_the_same_is_remembered_once(product: KnowledgeProduct) -> None:
    """Idempotent by text, kind and owner; what is working gets its new end."""
    project = product.project()
    async with product.serving() as me:
        first = await remember(me, project, "Ana looks at it", kind="working", expires_s=60)
        again = await remember(me, project, " Ana looks at it ", kind="working", expires_s=6_000)
        assert (first.is_new, again.is_new) == (True, False)
        assert again.record.id == first.record.id
        assert again.record.expires > first.record.expires
        assert (await remember(me, project, "Ana looks at it")).is_new  # durable is another kind
        assert (await remember(me.named("rui"), project, "Ana looks at it")).is_new  # and another owner


async def test_what_has_ended_is_answered_to_nobody_and_leaves_no_bytes(product: KnowledgeProduct) -> None:
    """MISSION 7.5: working records expire."""
    project = product.project()
    async with product.serving() as me:
        ending = await remember(me, project, f"For now {CANARY}", kind="working", expires_s=60)
        await remember(me, project, "For ever")
        await indexed(me.bus, product.tree(f"memory-{project.instance}").instance)
        product.clock.time += timedelta(seconds=120)
        assert [one.text for one in await listed(me, project)] == ["For ever"]
        assert await recalled(me, project, "for now") == ["For ever"]
        assert await forget(me, project, ending.record.id) == 0
        assert product.holding(CANARY) != []
    async with product.serving():
        pass
    assert product.holding(CANARY) == []


@pytest.mark.parametrize("is_indexed", [True, False], ids=["indexed", "no_indexer"])
async def test_forgotten_record_leaves_no_bytes(product: KnowledgeProduct, is_indexed: bool) -> None:
    """Issue 9, point 5: gone from the store, the derived tree, the index and its log."""
    project = product.project()
    async with product.serving(indexes=is_indexed) as me:
        kept = await remember(me, project, "The queue lives in eu-west.")
        gone = await remember(me, project, f"The code is {CANARY}, keep it.")
        if is_indexed:
            await indexed(me.bus, product.tree(f"memory-{project.instance}").instance)
            assert len(product.holding(CANARY)) >= 3
        assert await forget(me, project, gone.record.id) == 1
        assert await forget(me, project, gone.record.id) == 0
        assert product.holding(CANARY) == []
        assert await recalled(me, project, "the code") in ([], [kept.record.text])
        assert await recalled(me, project, "the queue") == [kept.record.text]


async def test_forgotten_record_is_not_recalled_though_the_index_holds_it(
    product: KnowledgeProduct, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database says what there is."""
    project = product.project()
    async with product.serving() as me:
        gone = await remember(me, project, "The queue lives in eu-west.")
        await indexed(me.bus, product.tree(f"memory-{project.instance}").instance)

        async def keeps(*_: object) -> int:
            return 0

        monkeypatch.setattr(Trees, "erase", keeps)
        await forget(me, project, gone.record.id)
        assert await recalled(me, project, "where does the queue live") == []


async def test_record_that_the_index_has_not_seen_is_found_by_its_words(product: KnowledgeProduct) -> None:
    """Read your writes, also where nobody indexes."""
    project = product.project()
    async with product.serving() as me:
        await remember(me, project, "The queue lives in eu-west.")
    async with product.serving(indexes=False) as me:
        await remember(me, project, "Deploys go through the canary.")
        assert "Deploys go through the canary." in await recalled(me, project, "deploy")
    async with product.serving(indexes=False, searches=False) as me:
        reply = await recall(me, project, "deploy queue")
        assert {hit.record.text for hit in reply.memory} == {
            "The queue lives in eu-west.",
            "Deploys go through the canary.",
        }
        assert any("words alone" in note for note in reply.notes)


async def test_working_record_becomes_durable(product: KnowledgeProduct) -> None:
    """MISSION 7.5: promote; the same text is not kept twice."""
    project = product.project()
    async with product.serving() as me:
        working = (await remember(me, project, "The canary goes first", kind="working")).record
        assert working.expires is not None
        promoted = await me.ask(s.PROMOTE, PromoteMemory(instance=project.instance, caller=me.caller, id=working.id))
        assert (promoted.record.kind, promoted.record.expires, promoted.record.id) == ("knowledge", None, working.id)
        again = (await remember(me, project, "The canary goes first", kind="working")).record
        await me.ask(s.PROMOTE, PromoteMemory(instance=project.instance, caller=me.caller, id=again.id))
        assert [one.id for one in await listed(me, project)] == [working.id]
        asked = PromoteMemory(instance=project.instance, caller=me.caller, id="mem_00")
        assert await code_of(me.ask(s.PROMOTE, asked)) is ErrorCode.MEMORY_UNKNOWN


async def test_nobody_sees_the_memory_of_another(product: KnowledgeProduct) -> None:
    """Issue 9: a record is its principal's own, or a team space's."""
    project = product.project()
    async with product.serving() as me:
        ana, rui, eva = (me.named(name) for name in ("ana", "rui", "eva"))
        team = await ana.space("Team", rui="viewer")
        own = await remember(ana, project, "Ana prefers short answers about the queue")
        shared = await remember(ana, project, "The team keeps its queue in eu-west", space="team")
        assert shared.record.space == team.id
        assert {one.id for one in await listed(ana, project)} == {own.record.id, shared.record.id}
        assert [one.id for one in await listed(rui, project)] == [shared.record.id]
        assert await recalled(rui, project, "queue answers") == [shared.record.text]
        assert await recalled(eva, project, "queue answers") == []
        assert await forget(eva, project, own.record.id, shared.record.id) == 0
        assert await code_of(forget(rui, project, shared.record.id)) is ErrorCode.KNOWLEDGE_FORBIDDEN
        assert await code_of(remember(rui, project, "x y", space=team.id)) is ErrorCode.KNOWLEDGE_FORBIDDEN
        assert await code_of(remember(eva, project, "x y", space=team.id)) is ErrorCode.KNOWLEDGE_UNKNOWN


@pytest.mark.parametrize(
    ("scopes", "reads", "writes"),
    [
        (("memory:read",), True, False),
        (("memory:write",), False, True),
        (("admin",), True, True),
        (("search",), False, False),
    ],
    ids=["read", "write", "admin", "search"],
)
async def test_scopes_are_needed(product: KnowledgeProduct, scopes: Any, reads: bool, writes: bool) -> None:
    """A token does what its scopes say."""
    project = product.project()
    async with product.serving() as me:
        her = me.named("ana", *scopes)
        calls = [(remember(her, project, "a text"), writes), (forget(her, project, "mem_0"), writes)]
        calls += [(listed(her, project), reads), (recall(her, project, "text"), reads)]
        for call, is_allowed in calls:
            if is_allowed:
                await call
            else:
                assert await code_of(call) is ErrorCode.KNOWLEDGE_FORBIDDEN


async def test_trees_of_one_project_share_their_memory(product: KnowledgeProduct) -> None:
    """DESIGN 7: memory belongs to the project id, where there is one."""
    project = product.project({"project": "shop", "mcp": {"projectId": ID}})
    async with product.serving() as me:
        await remember(me, project, "The queue lives in eu-west.")
    assert (product.settings.memory_dir / f"{ID}.sqlite").exists()


async def test_memory_goes_with_a_project_that_gets_an_id(product: KnowledgeProduct) -> None:
    """What was remembered before `.kx.json` had an id is not lost with it."""
    project = product.project()
    async with product.serving() as me:
        kept = await remember(me, project, "The queue lives in eu-west.")
        named = product.project({"project": "shop", "mcp": {"projectId": ID}})
        assert named.instance == project.instance
        assert await listed(me, named) == [kept.record]
        assert await recalled(me, named, "where does the queue live") == [kept.record.text]
    assert [path.name for path in product.settings.memory_dir.iterdir()] == [f"{ID}.sqlite"]
    assert [path.name for path in product.settings.spaces_dir.glob("memory-*")] == [f"memory-{ID}"]


# --- knowledge beside memory --------------------------------------------------------------------------------------------


async def test_knowledge_is_recalled_where_it_is_asked_for_linked_or_team_wide(product: KnowledgeProduct) -> None:
    """MISSION 7.5: linked or team-wide, only when enabled and scoped; the notes say why there is none."""
    project = product.project()
    async with product.serving() as me:
        team = await me.space("Team")
        wide, linked, own = await me.base("Wide", team.id), await me.base("Linked"), await me.base("Own")
        for base, title in ((wide, "Of the team"), (linked, "Linked"), (own, "Not linked")):
            await me.item(base.id, title, f"The queue of {title} is drained first.\n", publish=True)
        await me.ask(s.LINK_SET, SetLink(caller=me.caller, project=project.instance, target=linked.id, linked=True))
        assert (await recall(me, project, "queue")).knowledge == ()
        found = await recall(me, project, "queue drained", include_knowledge=True)
        assert sorted(hit.title for hit in found.knowledge) == ["Linked", "Of the team"]
        await me.ask(s.LINK_SET, SetLink(caller=me.caller, project=project.instance, target=linked.id, linked=False))
        found = await recall(me, project, "queue drained", include_knowledge=True)
        assert [hit.title for hit in found.knowledge] == ["Of the team"]
        unscoped = await recall(me.named("local", "memory:read"), project, "queue", include_knowledge=True)
        assert unscoped.knowledge == ()
        assert any("knowledge:read" in note for note in unscoped.notes)


async def test_memory_is_kept_where_knowledge_is_switched_off(tmp_path: Path) -> None:
    """MISSION 7.5: memory is separate."""
    product = KnowledgeProduct(tmp_path, KX_KNOWLEDGE="false")
    project = product.project()
    async with product.serving() as me:
        await remember(me, project, "The queue lives in eu-west.")
        found = await recall(me, project, "queue", include_knowledge=True)
        assert [hit.record.text for hit in found.memory] == ["The queue lives in eu-west."]
        assert any("switched off" in note for note in found.notes)


async def test_forgetting_changes_no_item(product: KnowledgeProduct) -> None:
    """MISSION 7.5: removing a record never changes a knowledge item."""
    project = product.project()
    text = "The queue lives in eu-west."
    async with product.serving() as me:
        base = await me.base("Runbooks")
        item = await me.item(base.id, "Queue", text, publish=True)
        before = await me.items()
        record = (await remember(me, project, text)).record
        await forget(me, project, record.id)
        assert await me.items() == before
        assert await me.read(item.id) == text.encode()


async def test_answer_keeps_to_its_tokens(product: KnowledgeProduct) -> None:
    """Issue 9, point 5: within a token budget, and what was left out is told."""
    project = product.project()
    async with product.serving() as me:
        for number in range(5):
            await remember(me, project, f"queue {number} " + "drains slowly " * 20)
        found = await recall(me, project, "queue", max_tokens=250)
        assert 0 < len(found.memory) < 5
        assert found.tokens <= 250
        assert found.truncated
        assert any("did not fit" in note for note in found.notes)


async def test_memory_in_which_nothing_ends_is_not_opened_again(product: KnowledgeProduct) -> None:
    """A stack that idles leaves the disk alone; what ends is destroyed in time all the same."""
    project = product.project()
    async with MemoryBus() as bus:
        desk = Desk(product.settings, product.clock)
        trees = Trees(Shelf(product.settings), Indexing(bus), lambda _: MemoryTexts(memory))
        memory = Memory(desk, trees, product.clock)
        opened: list[str] = []
        store = memory.store

        def counted(key: str) -> MemoryStore:
            opened.append(key)
            return store(key)

        asked = Remember(instance=project.instance, caller=Caller(), text="For now", kind="working", expires_s=600)
        await memory.remember(asked)
        await memory.sweep()
        before = store(project.instance).path.stat().st_mtime_ns
        memory.store = counted  # type: ignore[method-assign]  # looked over the shoulder
        await memory.sweep()
        assert len(opened) == 1  # its time was looked at, nothing else
        assert store(project.instance).path.stat().st_mtime_ns == before
        product.clock.time += timedelta(seconds=1_200)
        await memory.sweep()
        assert store(project.instance).all() == ()
