"""Row B1: whatever is typed is answered, and what stands in the project is found among it."""

from __future__ import annotations

import itertools
import os
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from services.mcp_gateway.adapters.projects import SessionProject
from services.mcp_gateway.calls import Calls
from services.mcp_gateway.core.answers import SearchAnswer
from services.mcp_gateway.core.tools import BY_NAME
from services.query.service import service
from shared.bus_memory import MemoryBus
from shared.errors import ErrorCode, KxError
from shared.registry import canonical_root
from tests.soak.conftest import IS_SOAK, Report
from tests.support.query_bench import QueryBench
from tests.support.query_fuzz import MAX_CHARS, around, hostile_queries, planted_word

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(14_400 if IS_SOAK else 300)]

Amount = Callable[[int], int]

SEED = int(os.environ.get("KX_FUZZ_SEED", "7"))
FILES = 100
MODES = ("auto", "auto", "lexical", "rrf", "hybrid", "semantic")
P99_MS = 1_000  # of one processor; the lanes have two


def plant(bench: QueryBench, words: list[str]) -> None:
    """Write the words into files, each in a passage of its own among ordinary ones."""
    with bench.index() as index:
        for number in range(FILES):
            passages = [
                f"here stands the {word} alone\nhow the retry of kumquat works" for word in words[number::FILES]
            ]
            index.add(f"src/f{number}.md", *passages, "how does a retry work, and what of ação, 認証 and 끝말잇기")


class Asking:
    """Asks as an agent does: its arguments take any text, and its answer is written from whatever was found."""

    def __init__(self, calls: Calls, session: SessionProject) -> None:
        self._calls = calls
        self._session = session
        self.times_ms: list[float] = []  # of the processor, all threads: what else runs here does not count
        self.raised: Counter[str] = Counter()
        self.failed_lanes: Counter[str] = Counter()  # what a lane could not read
        self.cut_off = 0  # lanes stopped at their time limit, which a busy machine may bring about; the answer says so

    async def __call__(self, query: str, **arguments: Any) -> SearchAnswer | None:
        """Ask; an exception is a problem, whatever it is."""
        started = time.process_time()
        try:
            answer = await self._calls.call(self._session, BY_NAME["search"], {"query": query, **arguments})
        except Exception as error:  # noqa: BLE001 - that is what is counted
            self.raised[f"{type(error).__name__}: {error}: {query[:60]!r}"] += 1
            return None
        finally:
            self.times_ms.append((time.process_time() - started) * 1e3)
        assert isinstance(answer, SearchAnswer)
        for note in answer.notes:
            if "lane is failed" in note and ErrorCode.TIMEOUT in note:
                self.cut_off += 1
            elif "lane is failed" in note:
                self.failed_lanes[f"{note}: {query[:60]!r}"] += 1
        return answer


async def test_twenty_thousand_queries_raise_nothing_and_lose_no_planted_word(
    tmp_path: Path, amount: Amount, report: Report
) -> None:
    """Operators, quotes, NUL, brackets, emoji, lone surrogates, 10,000 characters: each is answered, by every mode."""
    rng = random.Random(SEED)
    words = [planted_word(number) for number in range(amount(2_000))]
    assert len(set(words)) == len(words)
    bench = QueryBench(tmp_path)
    plant(bench, words)
    session = SessionProject(canonical_root(bench.root), bench.settings)
    lost: list[str] = []
    async with (
        MemoryBus() as bus,
        service(bus, bench.settings, encoder=bench.encoder),
        anyio.create_task_group() as tasks,
    ):
        ask = Asking(Calls(bus, tasks), session)
        for word in words:
            answer = await ask(around(rng, word), mode="lexical", group="passage")
            if answer is None or not any(word in one.text for one in answer.results):
                lost.append(word)
        for query in itertools.islice(hostile_queries(rng), amount(20_000) - len(words)):
            await ask(
                query, mode=rng.choice(MODES), group=rng.choice(("file", "passage")), top=rng.choice((1, 10, 10, 100))
            )
        tasks.cancel_scope.cancel()
    times = sorted(ask.times_ms)
    p99 = times[len(times) * 99 // 100]
    told = (ask.raised + ask.failed_lanes).most_common(10)
    problems = [*(f"{count} x {problem}" for problem, count in told), *(f"lost {word}" for word in lost)]
    problems += [f"p99 {p99:.0f} ms"] if IS_SOAK and p99 > P99_MS else []
    report(
        "B1",
        problems,
        queries=len(times),
        exceptions=ask.raised.total(),
        lanes_failed=ask.failed_lanes.total(),
        lanes_cut_off=ask.cut_off,
        planted=f"{len(words) - len(lost)}/{len(words)}",
        cpu_p50_ms=round(times[len(times) // 2], 1),
        cpu_p99_ms=round(p99, 1),
        cpu_max_ms=round(times[-1]),
        seed=SEED,
    )


async def test_a_query_longer_than_that_is_refused_and_told_the_limit(tmp_path: Path) -> None:
    """What is not let in is an error that names the argument and its limit, not a shortened question."""
    bench = QueryBench(tmp_path)
    session = SessionProject(canonical_root(bench.root), bench.settings)
    async with MemoryBus() as bus, anyio.create_task_group() as tasks:
        calls = Calls(bus, tasks)
        with pytest.raises(KxError, match=r"query.*10000") as refused:
            await calls.call(session, BY_NAME["search"], {"query": "a" * (MAX_CHARS + 1)})
        tasks.cancel_scope.cancel()
    assert refused.value.code == ErrorCode.BAD_REQUEST
