"""One ranking for whoever asks the same of the same commit."""

import anyio
import pytest
from msgspec import Struct
from msgspec.structs import replace

from services.query.adapters.facts import IndexFacts
from services.query.adapters.ranking_memory import REMEMBERED_RANKINGS, Asked, RankingMemory, asked_of
from shared.excerpts import Budget, Snippets
from shared.identity import InstanceId
from shared.messages import SearchRequest

pytestmark = pytest.mark.anyio

INSTANCE = InstanceId("0123456789abcdef")
PROJECT = object()
FACTS = IndexFacts(
    epoch=1,
    seq=1,
    building=0,
    model_id="m",
    documents=1,
    chunks=1,
    missing=0,
    set_aside=0,
    chunks_without_vector=0,
    oldest_ns=0,
    newest_ns=0,
)


class Made(Struct, frozen=True):
    """A ranking, told by its number."""

    number: int
    is_whole: bool = True


class Maker:
    """Makes a ranking when it is let, and counts how many were begun."""

    def __init__(self, *, is_whole: bool = True) -> None:
        self.begun = 0
        self.is_whole = is_whole
        self.go_on = anyio.Event()

    async def __call__(self) -> Made:
        """Make one."""
        self.begun += 1
        number = self.begun
        await self.go_on.wait()
        return Made(number, self.is_whole)


def asked(query: str = "circuit", **fields: object) -> Asked:
    return asked_of(replace(SearchRequest(instance=INSTANCE, query=query), **fields), FACTS, PROJECT, 1)


async def ask_at_once(memory: RankingMemory[Made], maker: Maker, callers: int) -> list[tuple[Made, bool]]:
    """Let several ask before the first is answered."""
    answers: list[tuple[Made, bool]] = []

    async def ask() -> None:
        answers.append(await memory.ranking(asked(), maker))

    async with anyio.create_task_group() as tasks:
        for _ in range(callers):
            tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        maker.go_on.set()
    return answers


async def test_a_question_asked_by_several_at_once_is_ranked_once() -> None:
    """Eight agents of one project often want to know the same."""
    maker = Maker()
    answers = await ask_at_once(RankingMemory(), maker, 3)
    assert maker.begun == 1
    assert sorted(answers, key=lambda one: not one[1]) == [(Made(1), True), (Made(1), False), (Made(1), False)]


async def test_whoever_waited_for_one_that_was_cancelled_ranks_for_himself() -> None:
    """A caller who leaves takes nobody's answer along."""
    memory, maker = RankingMemory[Made](), Maker()
    answers: list[Made] = []

    async def ask() -> None:
        answers.append((await memory.ranking(asked(), maker))[0])

    async with anyio.create_task_group() as others:
        async with anyio.create_task_group() as first:
            first.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            others.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            first.cancel_scope.cancel()
        await anyio.wait_all_tasks_blocked()
        maker.go_on.set()
    assert answers == [Made(2)]


async def test_what_fell_back_is_not_remembered() -> None:
    """A lane that failed is asked again by the next question."""
    memory, maker = RankingMemory[Made](), Maker(is_whole=False)
    maker.go_on.set()
    for number in (1, 2):
        assert await memory.ranking(asked(), maker) == (Made(number, is_whole=False), True)


async def test_the_last_few_are_remembered_until_the_next_commit() -> None:
    """Bounded, and forgotten as soon as it is of the past."""
    memory, maker = RankingMemory[Made](), Maker()
    maker.go_on.set()
    for number in range(REMEMBERED_RANKINGS + 1):
        await memory.ranking(asked(f"question {number}"), maker)
    assert not (await memory.ranking(asked("question 1"), maker))[1]
    assert (await memory.ranking(asked("question 0"), maker))[1]
    memory.forget(INSTANCE)
    assert (await memory.ranking(asked("question 0"), maker))[1]


@pytest.mark.parametrize(
    "other",
    [
        asked("breaker"),
        asked(kinds=("docs",)),
        asked(path_glob="docs/**"),
        asked(folders=("docs",)),
        asked(mode="rrf"),
        asked(k=10),
        asked(alpha=0.1),
        asked(group="passage"),
        replace(asked(), facts=replace(FACTS, seq=2)),
        replace(asked(), day=2),
        replace(asked(), project=id(asked)),
    ],
)
def test_another_order_is_another_question(other: Asked) -> None:
    """Whatever the order depends on tells two questions apart."""
    assert other != asked()


def test_what_is_shown_of_an_order_makes_no_other_question() -> None:
    """Pages, excerpts and budgets are of one ranking."""
    shown = asked(top=3, offset=10, explain=True, snippets=Snippets(lines=3), budget=Budget(tokens=100))
    assert shown == asked()
