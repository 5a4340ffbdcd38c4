"""The index stays small: old vectors go, free space is given back, the same file saved often costs nothing."""

import os
from pathlib import Path

import anyio
import anyio.from_thread
import anyio.lowlevel
import pytest

from services.indexer.adapters.upkeep import Upkeep
from services.indexer.core.cache_bound import CACHE_AGE_NS
from shared.identity import InstanceId
from shared.index_files import size_of, wal_bytes
from shared.index_open import open_reader, open_writer
from shared.messages import ProgressRequest
from shared.subjects import COMPACT, PROGRESS, PURGE
from shared.upkeep_messages import CompactIndex, PurgePaths
from tests.support.index_builder import NOON_NS, IndexBuilder
from tests.support.index_facts import facts_of
from tests.support.indexing import Indexing, indexing

pytestmark = pytest.mark.anyio

INSTANCE = InstanceId("0123456789abcdef")


async def compact(work: Indexing) -> None:
    """Ask for the smallest file and wait for it."""
    await work.bus.request(COMPACT, CompactIndex(instance=work.project.instance))
    with anyio.fail_after(60):
        while (await work.bus.request(PROGRESS, ProgressRequest(instance=work.project.instance))).upkeep:
            await anyio.lowlevel.checkpoint()


def unused_left(tmp_path: Path, last_used: list[int], *, monkeypatch, bound: int) -> list[int]:
    """Trim an index with two texts in use and unused vectors of these ages; give what is left of the unused."""
    monkeypatch.setattr("services.indexer.core.cache_bound.CACHE_ROWS", bound)
    path = tmp_path / "index.sqlite"
    with IndexBuilder(path, INSTANCE, tmp_path) as index:
        index.add("a.md", "one", "two")
    connection = open_writer(path, INSTANCE, project="demo", root=str(tmp_path))
    rows = [(os.urandom(16), b"\0" * 1536, moment) for moment in last_used]
    connection.executemany("INSERT INTO embedding(text_hash, model, vector, last_used_ns) VALUES(?, 1, ?, ?)", rows)
    list(Upkeep(connection, path).trim_cache(now_ns=NOON_NS))
    left = connection.execute("SELECT last_used_ns FROM embedding WHERE last_used_ns > 0 ORDER BY 1").fetchall()
    used = connection.execute("SELECT count(*) FROM embedding WHERE last_used_ns = 0").fetchall()
    connection.close()
    assert used == [(2,)]
    return [int(row[0]) for row in left]


def test_vectors_beyond_the_bound_go_the_longest_unused_first(tmp_path, monkeypatch):
    """A branch switched back finds its vectors; those of long ago do not pile up."""
    ages = [NOON_NS - age for age in range(9)]
    assert unused_left(tmp_path, ages, monkeypatch=monkeypatch, bound=4) == sorted(ages[:4])


def test_vectors_unused_for_a_month_go(tmp_path, monkeypatch):
    """Also below the bound."""
    ages = [NOON_NS - 5, NOON_NS - CACHE_AGE_NS - 1]
    assert unused_left(tmp_path, ages, monkeypatch=monkeypatch, bound=100) == ages[:1]


async def test_vector_grows_old_from_when_its_text_went(tmp_path):
    """What was in use until now is the youngest of the unused, however long ago it was made."""
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.md").write_text("# A\n\nfirst text\n")
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch("a.md")
        await work.until("vectors")
        path, instance = work.project.index_path, work.project.instance
        connection = open_writer(path, instance, project="demo", root=str(root))
        connection.execute("UPDATE embedding SET last_used_ns = 1").fetchall()
        connection.close()
        (root / "a.md").write_text("# A\n\nsecond text\n")
        await work.touch("a.md", urgency="live")
        await work.until("vectors")
        (root / "a.md").write_text("# A\n\nfirst text\n")
        await work.touch("a.md", urgency="live")
        await work.until("vectors")
    assert len(work.embedder.asked) == 2
    reader = open_reader(path, instance)
    assert reader.execute("SELECT count(*) FROM embedding WHERE last_used_ns = 1").fetchall() == [(0,)]
    reader.close()


async def test_file_saved_often_costs_no_space_after_compaction(tmp_path):
    """Case 27: many saves with small edits; after kx vacuum the file is as small as a fresh index."""
    root = tmp_path / "tree"
    root.mkdir()
    texts = [f"# Part {part}\n\n" + f"word{part} stands here. " * 40 for part in range(50)]
    async with indexing(root, tmp_path / "often" / ".kx") as work:
        for save in range(30):
            texts[save % 50] = f"# Part {save}\n\nedit{save} " + f"word{save} stands there. " * 40
            (root / "a.md").write_text("\n\n".join(texts))
            await work.touch("a.md", urgency="live")
            await work.until("text")
        await work.until("vectors")
        await compact(work)
        often = work.project.index_path
        assert wal_bytes(often) == 0
    async with indexing(root, tmp_path / "fresh" / ".kx") as work:
        await work.touch("a.md")
        await work.until("vectors")
        await compact(work)
    fresh = work.project.index_path
    assert facts_of(often, facts_instance(often)).rows == facts_of(fresh, work.project.instance).rows
    assert size_of(often) <= 1.5 * size_of(fresh)


def facts_instance(path: Path) -> InstanceId:
    """The instance an index says it belongs to."""
    entry = next((path.parent.parent / "projects").glob("*.json"))
    return InstanceId(entry.stem)


async def test_erasure_that_is_cut_off_leaves_the_connection_in_order(tmp_path, monkeypatch):
    """What a service was in the middle of ends before its index is closed, not when the rest of it is collected."""
    ended = []
    begun = anyio.Event()

    def erase(self: Upkeep):
        try:
            while True:
                anyio.from_thread.run_sync(begun.set)
                yield False
        finally:
            ended.append(self._connection.execute("PRAGMA secure_delete=FAST").fetchall())

    monkeypatch.setattr(Upkeep, "erase", erase)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.md").write_text("# A\n\nto be removed\n")
    async with indexing(tmp_path / "tree", tmp_path / ".kx") as work:
        await work.touch("a.md")
        await work.until("text")
        await work.bus.request(PURGE, PurgePaths(instance=work.project.instance, paths=("a.md",)))
        with anyio.fail_after(20):
            await begun.wait()
    assert len(ended) == 1
