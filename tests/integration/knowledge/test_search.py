"""What a query search finds of knowledge bases, and what it never finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.knowledge.trees import Trees
from shared.errors import ErrorCode, KxError
from shared.registry import Registry
from shared.subjects import KNOWLEDGE_ROUTES
from tests.support.knowledge_bench import Asker
from tests.support.knowledge_product import KnowledgeProduct, indexed, search, titles
from tests.support.knowledge_samples import KNOWLEDGE_SAMPLES

pytestmark = pytest.mark.anyio

RESTART = "# Restart\n\nDrain the queue before the broker is restarted.\n"
BACKUP = "# Backup\n\nCopies are kept in the vault for thirty days.\n"


@pytest.fixture
def product(tmp_path: Path) -> KnowledgeProduct:
    return KnowledgeProduct(tmp_path)


async def test_published_text_is_found_and_cited_exactly(product: KnowledgeProduct) -> None:
    """MISSION 7.6: the answer names item and revision, and holds exact lines."""
    async with product.serving() as me:
        base = await me.base("Runbooks")
        item = await me.item(base.id, "Broker", RESTART, publish=True)
        await me.item(base.id, "Draft", "Drain the queue, says a draft.\n")
        reply = await search(me, "drain the queue")
        (hit,) = reply.results
        assert hit.reference == item.reference == f"knowledge:{item.id}@{item.current_revision_id}"
        assert (hit.title, hit.base, hit.space) == ("Broker", "Runbooks", hit.space)
        lines = (await me.read(item.id)).decode().split("\n")
        assert hit.content.rstrip("\n") == "\n".join(lines[hit.start_line - 1 : hit.end_line]).rstrip("\n")
        assert {lane: report.state for lane, report in reply.lanes.items()}["lexical"] == "ok"


@pytest.mark.parametrize("mode", ["hybrid", "rrf", "semantic", "lexical"])
async def test_each_mode_answers(product: KnowledgeProduct, mode: str) -> None:
    """Issue 9, point 2."""
    async with product.serving() as me:
        base = await me.base("Runbooks")
        await me.item(base.id, "Broker", RESTART, publish=True)
        await me.item(base.id, "Copies", BACKUP, publish=True)
        await indexed(me.bus, product.tree(base.space).instance)
        assert (await titles(me, "how long are copies kept in the vault", mode=mode))[0] == "Copies"


async def test_modes_find_what_they_are_for(tmp_path: Path) -> None:
    """Issue 9, point 2, with the model: meaning finds other words, words find a name, both together find either."""
    product = KnowledgeProduct(tmp_path, has_model=True)
    async with product.serving() as me:
        base = await me.base("Runbooks")
        for title, text in (
            ("Cold start", "# Cold start\n\nIf the machine will not boot, hold the power button for ten seconds.\n"),
            ("Holidays", "# Holidays\n\nEveryone may take thirty days off each year, as ticket QX-7741 says.\n"),
            ("Coffee", "# Coffee\n\nThe espresso machine is descaled on Mondays.\n"),
        ):
            await me.item(base.id, title, text, publish=True)
        await indexed(me.bus, product.tree(base.space).instance)
        for mode in ("semantic", "hybrid", "rrf"):
            assert (await titles(me, "how much vacation do people get", mode=mode))[0] == "Holidays", mode
            assert (await titles(me, "computer does not turn on", mode=mode))[0] == "Cold start", mode
        for mode in ("lexical", "hybrid", "rrf"):
            assert (await titles(me, "QX-7741", mode=mode))[0] == "Holidays", mode
        assert await titles(me, "vacation", mode="lexical") == []
        reply = await search(me, "vacation", mode="semantic")
        assert reply.lanes["vector"].state == "ok"
        scores = [hit.score for hit in reply.results]
        assert scores == sorted(scores, reverse=True)


async def test_title_is_found_though_the_text_does_not_say_it(product: KnowledgeProduct) -> None:
    """A title is words of the item."""
    async with product.serving() as me:
        base = await me.base("Runbooks")
        await me.item(base.id, "Zanzibar rollout", BACKUP, publish=True)
        assert await titles(me, "zanzibar", mode="lexical") == ["Zanzibar rollout"]


class Stale(Trees):
    """Trees that nobody keeps: the index goes on holding what was there."""

    async def keep(self, tree: str, *, thorough: bool = False, seen_s: float = 1.0) -> bool:  # noqa: ARG002
        """Do nothing."""
        return True


@pytest.mark.parametrize("how", ["archive the item", "archive the base", "supersede"])
async def test_withdrawn_text_is_not_found_though_the_index_holds_it(
    product: KnowledgeProduct, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Issue 9, point 2: what is withdrawn disappears at once, whatever the index still holds."""
    async with product.serving() as me:
        base = await me.base("Runbooks")
        item = await me.item(base.id, "Broker", RESTART, publish=True)
        assert await titles(me, "drain the queue") == ["Broker"]
        monkeypatch.setattr(Trees, "keep", Stale.keep)
        if how == "archive the item":
            await me.move(item.id, "archive")
        elif how == "archive the base":
            await me.move_base(base.id, "archive")
        else:
            await me.edit(item.id, "# Restart\n\nNothing of that.\n")
        assert product.files(base.space) == {"_broker_.md": RESTART}
        assert await titles(me, "drain the queue") == []


async def test_text_that_differs_from_its_revision_is_left_out(product: KnowledgeProduct) -> None:
    """What is shown stands in the immutable revision, not in a file that somebody changed."""
    async with product.serving() as me:
        base = await me.base("Runbooks")
        await me.item(base.id, "Broker", RESTART, publish=True)
        tree = product.tree(base.space)
        (file,) = (product.settings.spaces_dir / base.space / "kb").rglob("*.md")
        file.write_text("# Restart\n\nForget the queue, restart the broker.\n")
        await touched(me, tree, file)
        reply = await search(me, "restart the broker")
        assert reply.results == ()
        assert any("differ from their revision" in note for note in reply.notes)


async def touched(me: Asker, tree, file: Path) -> None:
    """Have the index look at a file."""
    from shared.messages import PathsTouched
    from shared.subjects import TOUCHED

    path = file.relative_to(tree.root_path).as_posix()
    await me.bus.request(TOUCHED, PathsTouched(instance=tree.instance, paths=(path,), urgency="live"))
    await indexed(me.bus, tree.instance)


async def test_roles_part_spaces(product: KnowledgeProduct) -> None:
    """MISSION 7.4: members of a space find what is in it, nobody else does."""
    async with product.serving() as me:
        ana, rui, eva = (me.named(name) for name in ("ana", "rui", "eva"))
        team = await ana.space("Team", rui="viewer")
        shared, own = await ana.base("Shared", team.id), await ana.base("Own")
        await ana.item(shared.id, "Of the team", RESTART, publish=True)
        await ana.item(own.id, "Of ana", RESTART.replace("queue", "queue at once"), publish=True)
        assert sorted(await titles(ana, "drain the queue")) == ["Of ana", "Of the team"]
        assert await titles(rui, "drain the queue") == ["Of the team"]
        assert await titles(eva, "drain the queue") == []
        for asked in ({"space": team.id}, {"base": shared.id}):
            with pytest.raises(KxError) as caught:
                await search(eva, "drain the queue", **asked)
            assert caught.value.code is ErrorCode.KNOWLEDGE_UNKNOWN
        with pytest.raises(KxError) as caught:
            await search(me.named("rui", "search"), "drain the queue")
        assert caught.value.code is ErrorCode.KNOWLEDGE_FORBIDDEN


async def test_filters_are_applied_before_the_cut(product: KnowledgeProduct) -> None:
    """Issue 9: what is asked for within a base is found however many better passages are elsewhere."""
    async with product.serving() as me:
        many, few = await me.base("Many"), await me.base("Few")
        sections = (f"# Queue {number}\n\n" + f"queue of the queue {number} " * 40 for number in range(120))
        await me.item(many.id, "Queues", "\n\n".join(sections), publish=True)
        wanted = await me.item(few.id, "Wanted", "Among many other things there is a queue.\n", publish=True)
        await indexed(me.bus, product.tree(few.space).instance)
        assert await titles(me, "queue", top=10) == ["Queues"]  # deeper than any lane looks
        assert await titles(me, "queue", top=1, base=few.id) == ["Wanted"]
        assert await titles(me, "queue", top=1, items=(wanted.id,)) == ["Wanted"]


async def test_pages_neither_overlap_nor_leave_a_gap(product: KnowledgeProduct) -> None:
    """Each item is one result."""
    async with product.serving() as me:
        base = await me.base("Notes")
        for number in range(13):
            await me.item(base.id, f"Note {number}", f"a queue numbered {number}\n", publish=True)
        pages = [await titles(me, "queue", top=5, offset=offset) for offset in (0, 5, 10)]
        assert [len(page) for page in pages] == [5, 5, 3]
        assert len({title for page in pages for title in page}) == 13


async def test_nearest_space_comes_first(product: KnowledgeProduct) -> None:
    """A space in which nothing fits does not stand beside one that answers, though each has a best passage."""
    async with product.serving() as me:
        team = await me.space("Team")
        far, near = await me.base("Far", team.id), await me.base("Near")
        await me.item(far.id, "Lunch", "The canteen of the third floor has soup and a queue.\n", publish=True)
        await me.item(near.id, "Broker", RESTART, publish=True)
        for base in (far, near):
            await indexed(me.bus, product.tree(base.space).instance)
        reply = await search(me, "drain the queue before the broker is restarted")
        assert [hit.title for hit in reply.results] == ["Broker", "Lunch"]
        assert reply.results[0].score > reply.results[1].score


async def test_lane_says_that_nobody_answered(product: KnowledgeProduct) -> None:
    """Degrading is a field of the answer."""
    async with product.serving() as me:
        base = await me.base("Runbooks")
        await me.item(base.id, "Broker", RESTART, publish=True)
    async with product.serving(searches=False) as me:
        reply = await search(me, "drain the queue")
        assert reply.results == ()
        assert {report.state for report in reply.lanes.values()} == {"failed"}


async def test_switched_off_knowledge_answers_nothing(tmp_path: Path) -> None:
    """MISSION 7.6: the runtime may be disabled."""
    product = KnowledgeProduct(tmp_path, KX_KNOWLEDGE="false")
    samples = {type(sample): sample for sample in KNOWLEDGE_SAMPLES}
    answered = []
    async with product.serving() as me:
        for route in (route for route in KNOWLEDGE_ROUTES if not route.per_instance):
            try:
                await me.ask(route, samples[route.request])
            except KxError as error:
                answered += [] if error.code is ErrorCode.KNOWLEDGE_DISABLED else [(route.verb, error.code)]
            else:
                answered.append((route.verb, None))
    assert answered == []
    assert not product.settings.home.joinpath("knowledge.sqlite").exists()
    assert Registry(product.settings).trees() == ()
