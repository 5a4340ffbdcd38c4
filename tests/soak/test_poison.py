"""Row F12: a text the embedder fails on, and a file that kills its reader, cost themselves and nothing else."""

import struct
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import anyio
import pytest

from services.indexer.adapters.readers import ReadBatch
from services.indexer.adapters.reading import Outcome, Reader
from shared.index_open import open_reader
from shared.messages import ProgressRequest
from shared.subjects import PROGRESS
from shared.tokens import TokenCounter
from tests.soak.conftest import IS_SOAK, Report
from tests.support.chunks import TOKENIZER
from tests.support.index_facts import facts_of
from tests.support.indexing import Indexing, indexing

pytestmark = pytest.mark.anyio

Amount = Callable[[int], int]

NAN = struct.pack("<384f", *([float("nan")] * 384))
TRIES = 3


def write_files(root: Path, count: int, poisoned: Sequence[int], word: str) -> list[str]:
    root.mkdir()
    for number in range(count):
        body = f"word{number} {word if number in poisoned else 'harmless'}"
        (root / f"f{number:03}.md").write_text(f"# File {number}\n\nText of {body} and no more.\n")
    return [f"f{number:03}.md" for number in range(count)]


async def until_settled(work: Indexing) -> None:
    """Wait until every text has its vector or is set aside."""
    with anyio.fail_after(300 if IS_SOAK else 20):  # fifty texts hang three times each, for as long as is waited
        while True:
            message = ProgressRequest(instance=work.project.instance, until="vectors", wait_ms=500)
            progress = await work.bus.request(PROGRESS, message)
            if not progress.text_pending and progress.vectors_missing <= progress.texts_failed:
                return


@pytest.mark.parametrize("poison", ["nan", "hangs", "dies"])
async def test_poison_texts_are_set_aside_and_all_others_get_vectors(
    tmp_path, poison, amount: Amount, report: Report, monkeypatch
):
    """Row F12, case 28: each is tried three times alone, shown with its reason, and found by its words."""
    monkeypatch.setattr("services.indexer.embed_flow.EMBED_TIMEOUT_S", 0.3)
    for module in ("services.indexer.embed_flow", "services.indexer.adapters.store"):
        monkeypatch.setattr(f"{module}.retry_after_s", lambda *_: 0.01)
    files = amount(500)
    poisoned = range(0, files, 10)
    names = write_files(tmp_path / "tree", files, poisoned, "poisonword")
    async with indexing(tmp_path / "tree", tmp_path / ".kx") as work:
        if poison == "nan":
            work.embedder.nonsense = {"poisonword": NAN}
        else:
            (work.embedder.hangs_on if poison == "hangs" else work.embedder.dies_on).add("poisonword")
        await work.touch(*names)
        await until_settled(work)
    found = facts_of(work.project.index_path, work.project.instance)
    connection = open_reader(work.project.index_path, work.project.instance)
    failures = connection.execute("SELECT attempts, next_try_ns, code FROM failure").fetchall()
    connection.close()
    problems = [str(row) for row in failures if row[0] > TRIES or row[1]]
    problems += [] if len(failures) == len(poisoned) else [f"{len(failures)} set aside"]
    problems += [] if found.vectors == files - len(poisoned) else [f"{found.vectors} vectors"]
    problems += [] if found.postings == files else [f"{found.postings} found by words"]
    codes = ",".join(sorted({str(row[2]) for row in failures}))
    report("F12", problems, poison=poison, files=files, indexed=found.vectors, set_aside=len(failures), codes=codes)


async def test_an_embedder_that_is_away_for_long_blames_no_text(tmp_path, monkeypatch):
    """Case 36: away looks like dying; a harmless text told apart which."""
    monkeypatch.setattr("services.indexer.embed_flow.retry_after_s", lambda *_: 0.01)
    names = write_files(tmp_path / "tree", 20, (), "")
    async with indexing(tmp_path / "tree", tmp_path / ".kx") as work:
        work.embedder.is_away = True
        await work.touch(*names)
        await work.until("text")
        with anyio.move_on_after(1.0):
            await work.until("vectors")
        work.embedder.is_away = False
        progress = await work.until("vectors")
    assert (progress.vectors_ready, progress.texts_failed) == (20, 0)


class DyingReaders:
    """Reads in this process; a batch with a poison file breaks the pool, as a process that dies does."""

    def __init__(self, *_: object) -> None:
        self._count = TokenCounter.load(TOKENIZER).count

    def submit(self, batch: ReadBatch) -> Future[list[Outcome]]:
        """Read at once."""
        future: Future[list[Outcome]] = Future()
        if any("poison" in path for path in batch.paths):
            future.set_exception(BrokenProcessPool("it died"))
        else:
            reader = Reader(Path(batch.root), self._count)
            gate, rules = reader.begin(batch.paths, batch.config)
            pairs = zip(batch.paths, batch.known, strict=True)
            future.set_result([reader.read(gate, rules, path, known) for path, known in pairs])
        return future

    def close(self) -> None:
        """Nothing runs."""


async def test_file_that_kills_its_reader_fails_alone(tmp_path, amount: Amount, report: Report, monkeypatch):
    """Row F12: the others of its batch are read again one by one; it is not tried again before it changes."""
    monkeypatch.setattr("services.indexer.service.Readers", DyingReaders)
    monkeypatch.setattr("services.indexer.service.processes_for", lambda _: 2)
    monkeypatch.setattr("services.indexer.text_flow.MANY_PATHS", 5)
    files = amount(500)
    names = write_files(tmp_path / "tree", files, (), "")
    bad = [f"poison{number}.md" for number in range(files // 10)]
    for name in bad:
        (tmp_path / "tree" / name).write_text("# Poison\n\nkills\n")
    async with indexing(tmp_path / "tree", tmp_path / ".kx") as work:
        await work.touch(*names, *bad)
        await work.until("text")
    rows = facts_of(work.project.index_path, work.project.instance).rows
    states = {str(row[0]): str(row[2]) for row in rows}
    problems = [name for name in names if states.get(name) != "indexed"]
    problems += [name for name in bad if states.get(name) != "failed"]
    report("F12", problems, poison="reader", files=files, indexed=len(names), failed=len(bad))
