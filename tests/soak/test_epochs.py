"""Row F16: another model, chunker or analyser builds beside; nothing ever answers with a mixture."""

import os
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.lowlevel
import numpy as np
import pytest
from msgspec.structs import replace

from services.indexer import service as indexer_service
from services.indexer.adapters.store import IndexStore
from services.indexer.core.chunking import CHUNKER_VERSION
from shared.index_format import for_epoch
from shared.index_open import open_reader
from shared.messages import FinishRebuild, PrioritiseTexts, ProgressRequest, RebuildIndex
from shared.model import locate_model
from shared.subjects import FINISH_REBUILD, PRIORITISE, PROGRESS, REBUILD
from shared.vectors import vector_from_bytes
from tests.soak.conftest import Report
from tests.support.fake_encoder import FakeEncoder
from tests.support.index_facts import facts_of
from tests.support.indexing import Indexing, indexing

pytestmark = pytest.mark.anyio

Amount = Callable[[int], int]

OLD, NEW = "first@00000001", "turned@00000002"


class TurnedEncoder(FakeEncoder):
    """The same weights in a turned space: same width, every vector elsewhere."""

    def encode(self, texts):
        """Turn by one place."""
        return np.roll(super().encode(texts), 1, axis=1)


def use_model(monkeypatch, work: Indexing | None, model_id: str) -> None:
    def located(folder):
        return replace(locate_model(folder), model_id=model_id)

    monkeypatch.setattr(indexer_service, "locate_model", located)
    if work is not None:
        work.embedder._encoder = TurnedEncoder() if model_id == NEW else FakeEncoder()


def write_files(root: Path, count: int) -> list[str]:
    root.mkdir()
    for number in range(count):
        (root / f"f{number}.md").write_text(
            f"# File {number}\n\nText of word{number}.\n\n# More\n\nand part{number}.\n"
        )
    return [f"f{number}.md" for number in range(count)]


def mixture(work: Indexing) -> list[str]:
    """Name what is wrong with the epoch that answers: vectors of another space under its model, or none where due."""
    connection = open_reader(work.project.index_path, work.project.instance)
    try:
        epoch = int(str(connection.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchall()[0][0]))
        rows = connection.execute(
            for_epoch(
                "SELECT c.heading || char(10) || c.text, v.vector, m.model_id FROM chunk{e} c"
                " JOIN epoch e ON e.id = ?1 JOIN model m ON m.id = e.model"
                " LEFT JOIN embedding v ON v.text_hash = c.text_hash AND v.model = e.model",
                epoch,
            ),
            (epoch,),
        ).fetchall()
    finally:
        connection.close()
    problems = []
    for text, vector, model_id in rows:
        encoder = TurnedEncoder() if model_id == NEW else FakeEncoder()
        if vector is None:
            problems.append(f"{text!r} has no vector of {model_id}")
        elif not np.allclose(vector_from_bytes(bytes(vector)), encoder.encode([str(text)])[0], atol=1e-5):
            problems.append(f"{text!r} has a vector of another space")
    return problems


async def until_swapped(work: Indexing) -> None:
    """Wait until the epoch that was built answers."""
    with anyio.fail_after(60):
        while (await work.until("vectors")).rebuilding:  # answered when something changes
            await anyio.lowlevel.checkpoint()


async def announce_all(work: Indexing, names: list[str]) -> None:
    """Announce the whole tree to the epoch that is built, as a walk does."""
    await work.touch(*names)
    started = await work.bus.request(REBUILD, RebuildIndex(instance=work.project.instance))
    await work.bus.request(FINISH_REBUILD, FinishRebuild(instance=work.project.instance, epoch=started.epoch))


async def test_another_model_answers_only_when_it_is_complete(tmp_path, monkeypatch):
    """Case 29: before and during the old epoch answers with its own vectors; after, all are of the new model."""
    root, home = tmp_path / "tree", tmp_path / ".kx"
    names = write_files(root, 8)
    use_model(monkeypatch, None, OLD)
    async with indexing(root, home) as work:
        await work.touch(*names)
        await work.until("vectors")
        assert mixture(work) == []
    use_model(monkeypatch, None, NEW)
    async with indexing(root, home) as work:
        work.embedder.is_away = True
        await announce_all(work, names)
        await work.until("text")
        assert mixture(work) == []  # still the old one
        (root / names[0]).write_text("# Live\n\nan edit while it is built\n")
        await work.touch(names[0], urgency="live")
        await work.until("text")
        assert [problem for problem in mixture(work) if "another space" in problem] == []
        use_model(monkeypatch, work, NEW)
        work.embedder.is_away = False
        await until_swapped(work)
        assert mixture(work) == []
        connection = open_reader(work.project.index_path, work.project.instance)
        assert connection.execute("SELECT m.model_id FROM epoch e JOIN model m ON m.id = e.model").fetchall() == [
            (NEW,)
        ]
        connection.close()


async def test_nobody_waits_for_vectors_of_a_model_that_is_gone(tmp_path, monkeypatch):
    """While another model's epoch answers, texts of it cannot be put first: nothing embeds them before the swap."""
    root, home = tmp_path / "tree", tmp_path / ".kx"
    names = write_files(root, 4)
    use_model(monkeypatch, None, OLD)
    async with indexing(root, home) as work:
        work.embedder.is_away = True
        await work.touch(*names)
        await work.until("text")
    connection = open_reader(work.project.index_path, work.project.instance)
    texts = tuple(bytes(row[0]) for row in connection.execute("SELECT text_hash FROM missing_e1").fetchall())
    connection.close()
    use_model(monkeypatch, None, NEW)
    async with indexing(root, home) as work:
        work.embedder.is_away = True
        await work.bus.request(PRIORITISE, PrioritiseTexts(instance=work.project.instance, text_hashes=texts))
        progress = await work.bus.request(PROGRESS, ProgressRequest(instance=work.project.instance))
    assert (len(texts), progress.rebuilding, progress.priority_missing) == (4, True, 0)


STEPS = {
    "model": ("_create_epoch", "mark_announced", "keep_vectors", "swap_if_complete", "_drop"),
    "chunker": ("_create_epoch", "mark_announced", "swap_if_complete", "_drop"),  # every text has its vector already
}


def bump(monkeypatch, what: str) -> None:
    """Be the next version of kx."""
    if what == "model":
        use_model(monkeypatch, None, NEW)
    else:
        monkeypatch.setattr(indexer_service, "CHUNKER_VERSION", CHUNKER_VERSION + 1)


def versions_of(work: Indexing) -> list[tuple[int, str]]:
    """Give chunker and model of every epoch there is."""
    connection = open_reader(work.project.index_path, work.project.instance)
    rows = connection.execute("SELECT e.chunker, m.model_id FROM epoch e JOIN model m ON m.id = e.model").fetchall()
    connection.close()
    return [(int(str(row[0])), str(row[1])) for row in rows]


@pytest.mark.parametrize("what", ["model", "chunker"])
async def test_killed_at_every_step_of_a_change_it_goes_on_without_a_mixture(
    tmp_path, what, amount: Amount, report: Report, monkeypatch
):
    """Row F16: model or chunker change, the process ends inside each step; the old epoch answers until the swap."""
    problems: list[str] = []
    steps = STEPS[what]
    new = (CHUNKER_VERSION, NEW) if what == "model" else (CHUNKER_VERSION + 1, OLD)
    kills = max(amount(20), len(steps))
    for number in range(kills):
        step = steps[number % len(steps)]
        root, home = tmp_path / f"tree{number}", tmp_path / f"home{number}" / ".kx"
        names = write_files(root, 6)
        use_model(monkeypatch, None, OLD)
        monkeypatch.setattr(indexer_service, "CHUNKER_VERSION", CHUNKER_VERSION)
        async with indexing(root, home) as work:
            await work.touch(*names)
            await work.until("vectors")
        expected = facts_of(work.project.index_path, work.project.instance)
        bump(monkeypatch, what)
        is_after = bool((number + number // len(steps)) % 2)
        await cut_short(root, home, names, step, after=is_after, is_turned=what == "model")
        problems += [f"after {step}: {problem}" for problem in mixture(work)]
        rows = facts_of(work.project.index_path, work.project.instance).rows
        problems += [] if rows == expected.rows else [f"after {step}: {rows} answer"]
        async with indexing(root, home) as work:
            if what == "model":
                use_model(monkeypatch, work, NEW)
            asked = ProgressRequest(instance=work.project.instance, until="text", wait_ms=100)
            await work.bus.request(PROGRESS, asked)  # it begins, and nothing is announced yet
            before = facts_of(work.project.index_path, work.project.instance).rows
            problems += [] if before == expected.rows else [f"begun again after {step}: {before} answer"]
            await announce_all(work, names)
            await until_swapped(work)
        problems += [f"at the end, {step}: {problem}" for problem in mixture(work)]
        problems += [] if what == "model" or not work.embedder.asked else [f"after {step}: embedded again"]
        found = facts_of(work.project.index_path, work.project.instance)
        if (found.rows, found.postings, found.missing) != (expected.rows, expected.chunks, 0):
            problems.append(f"after {step}: {found}")
        if versions_of(work) != [new]:
            problems.append(f"after {step}: {versions_of(work)}")
    report("F16", problems, change=what, kills=kills, steps=len(steps), mixtures=0)


async def cut_short(root: Path, home: Path, names: list[str], step: str, *, after: bool, is_turned: bool) -> None:
    """Run until `step` is met, and die before or after it, inside its transaction: nothing is closed in order."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)  # noqa: ASYNC222  # nothing else runs
        assert os.waitstatus_to_exitcode(status) == 9, "the step was never met"
        return
    try:
        run_until_killed(root, home, names, step, after=after, is_turned=is_turned)
    finally:
        os._exit(1)


def run_until_killed(root: Path, home: Path, names: list[str], step: str, *, after: bool, is_turned: bool) -> None:
    """In a process of its own."""
    import asyncio

    original = getattr(IndexStore, step)

    def die(store, *arguments, **named):
        if after:
            original(store, *arguments, **named)
        os._exit(9)

    setattr(IndexStore, step, die)

    async def work() -> None:
        async with indexing(root, home) as run:
            if is_turned:
                run.embedder._encoder = TurnedEncoder()
            await announce_all(run, names)
            await until_swapped(run)

    asyncio.set_event_loop(None)
    loop = asyncio.new_event_loop()
    asyncio._set_running_loop(None)
    loop.run_until_complete(asyncio.wait_for(work(), 30))
