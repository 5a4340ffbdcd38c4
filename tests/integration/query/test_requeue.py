"""A file that an answer found changed is looked at again: told to the indexer, once, and never as a storm."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from services.query import page as page_module
from services.query.adapters import requeue as requeue_module
from services.query.adapters.prover import Prover
from services.query.adapters.requeue import PATHS_AT_ONCE, Requeue
from shared.bus import Endpoint, ServiceContract
from shared.bus_memory import MemoryBus
from shared.identity import InstanceId
from shared.messages import PathsTouched, TouchAccepted
from shared.subjects import INDEXER, TOUCHED
from tests.support.query_bench import Asker, QueryBench

pytestmark = pytest.mark.anyio

INSTANCE = InstanceId("0123456789abcdef")


class Told:
    """Stands for the indexer: keeps what it was told."""

    def __init__(self) -> None:
        self.messages: list[PathsTouched] = []
        self._arrived = anyio.Event()

    async def touched(self, message: PathsTouched) -> TouchAccepted:
        """Take it."""
        self.messages.append(message)
        self._arrived.set()
        return TouchAccepted(queued=len(message.paths))

    async def first(self) -> PathsTouched:
        """Wait for the first message."""
        with anyio.fail_after(10):
            await self._arrived.wait()
        return self.messages[0]

    def contract(self) -> ServiceContract:
        """Answer as the indexer."""
        endpoint = Endpoint(route=TOUCHED, handle=self.touched)
        return ServiceContract(name=INDEXER, description="stand-in", endpoints=(endpoint,))


@asynccontextmanager
async def asking(bench: QueryBench) -> AsyncIterator[tuple[Asker, Told]]:
    told = Told()
    async with bench.serving() as ask, ask.bus.serve(told.contract()):
        yield ask, told


async def test_file_that_changed_under_the_index_is_looked_at_again(tmp_path: Path) -> None:
    """R-ANS-19: unchanged, re-anchored, or dropped and re-queued; what stands as indexed is not told."""
    bench = QueryBench(tmp_path)
    with bench.index() as index:
        index.add("edited.md", "oldword stands here").add("ghost.md", "oldword haunts").add("kept.md", "oldword lives")
    (bench.root / "edited.md").write_text("newword stands here\n")
    (bench.root / "ghost.md").unlink()
    async with asking(bench) as (ask, told):
        assert await ask.paths("oldword") == ["kept.md"]
        message = await told.first()
        await ask.search("oldword")
    assert sorted(message.paths) == ["edited.md", "ghost.md"]
    assert (message.urgency, message.instance) == ("live", bench.project.instance)
    assert len(told.messages) == 1  # the second answer saw the same


async def test_root_that_vanishes_is_not_told_file_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row F14: a disk lost between the lanes and the proof is the watcher's to notice, and no file's end."""

    class LateProver(Prover):
        def page(self, results, *, offset, top):
            bench.root.rename(tmp_path / "elsewhere")
            return super().page(results, offset=offset, top=top)

    monkeypatch.setattr(page_module, "Prover", LateProver)
    bench = QueryBench(tmp_path)
    with bench.index() as index:
        index.add("a.md", "oldword stands here")
    async with asking(bench) as (ask, told):
        assert await ask.paths("oldword") == []
        await anyio.wait_all_tasks_blocked()
    assert told.messages == []


async def test_empty_folder_in_the_place_of_a_tree_is_no_end_of_its_files(tmp_path: Path) -> None:
    """Row F14, case 25: the mount point of a disk that is away: who told of every file would empty the index."""
    bench = QueryBench(tmp_path)
    with bench.index() as index:
        index.add("a.md", "oldword stands here").add("b.md", "oldword lives")
    async with asking(bench) as (ask, told):
        bench.root.rename(tmp_path / "elsewhere")
        bench.root.mkdir()
        assert await ask.paths("oldword") == []
        await anyio.wait_all_tasks_blocked()
    assert told.messages == []


async def test_tree_that_is_far_behind_makes_no_storm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rule 8: few at a time, a pause between, the rest is dropped; a path is not told twice in a row."""
    monkeypatch.setattr(requeue_module, "PAUSE_S", 0.0)
    told = Told()
    async with MemoryBus() as bus, bus.serve(told.contract()), anyio.create_task_group() as tasks:
        requeue = Requeue(bus)
        tasks.start_soon(requeue.run)
        for _ in range(20):
            requeue.put(INSTANCE, (f"f{number}.md" for number in range(1_000)))
        await told.first()
        requeue.put(INSTANCE, (f"f{number}.md" for number in range(PATHS_AT_ONCE)))
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert [len(message.paths) for message in told.messages] == [PATHS_AT_ONCE]


async def test_nobody_who_indexes_costs_the_answer_nothing(tmp_path: Path) -> None:
    """Embedded search has no indexer: the answer comes as ever."""
    bench = QueryBench(tmp_path)
    with bench.index() as index:
        index.add("edited.md", "oldword stands here")
    (bench.root / "edited.md").write_text("newword\n")
    async with bench.serving() as ask:
        assert await ask.paths("oldword") == []
        assert await ask.paths("oldword") == []
