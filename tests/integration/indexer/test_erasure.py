"""What must be forgotten is nowhere in the files of the index, and what is beside it stays."""

import json
import random
from pathlib import Path

import anyio
import pytest

from services.indexer.adapters.upkeep import Upkeep
from shared.index_files import beside
from shared.index_open import open_reader
from shared.messages import IndexProgress, ProgressRequest
from shared.subjects import PROGRESS, PURGE
from shared.upkeep_messages import PurgePaths
from tests.support.index_facts import facts_of
from tests.support.indexing import Indexing, indexing
from tests.support.residue import canary, found_in

pytestmark = pytest.mark.anyio

WORDS = [f"w{number:03x}" for number in range(600)]


async def until_tidy(work: Indexing) -> IndexProgress:
    """Wait until the upkeep has nothing left to do."""
    with anyio.fail_after(60):
        while True:
            message = ProgressRequest(instance=work.project.instance, until="text", wait_ms=50)
            progress = await work.bus.request(PROGRESS, message)
            if not progress.upkeep and not progress.text_pending:
                return progress
            await anyio.sleep(0.02)


def write_files(root: Path, seed: int) -> list[str]:
    """Files of every length, so that pages are split and merged."""
    chosen = random.Random(seed)
    names = []
    for number in range(60):
        text = "\n\n".join(
            f"# H{number}-{part}\n\n" + " ".join(chosen.choices(WORDS, k=chosen.randint(3, 150)))
            for part in range(chosen.randint(1, 6))
        )
        (root / f"f{number}.md").write_text(text)
        names.append(f"f{number}.md")
    return names


def deny(root: Path, *patterns: str) -> None:
    (root / ".kx.json").write_text(json.dumps({"project": "demo", "indexing": {"deny": list(patterns)}}))


@pytest.mark.parametrize("seed", [1, 2])
async def test_text_denied_after_it_was_indexed_leaves_no_trace(tmp_path, seed):
    """Row A4, MISSION 1.7: text, heading, words and vectors of a denied file are gone from database and log."""
    root = tmp_path / "tree"
    root.mkdir()
    text, heading = canary(), canary()
    names = write_files(root, seed)
    (root / "secret.md").write_text(f"# {heading}\n\nThe word is {text}.\n")
    async with indexing(root, tmp_path / ".kx") as work:
        index = work.project.index_path
        await work.touch(*names[:30], "secret.md", *names[30:])
        await work.until("vectors")
        for name in names[::3]:  # pages that held it are rewritten meanwhile
            (root / name).write_text("# Other\n\nshort\n")
        await work.touch(*names[::3], urgency="live")
        await work.until("vectors")
        assert found_in(index, text, heading) == [text, heading]
        before = facts_of(index, work.project.instance)
        deny(root, "secret.md")
        await work.touch(".kx.json", "secret.md")
        await work.until("text")
        await until_tidy(work)
        assert found_in(index, text, heading) == []
        after = facts_of(index, work.project.instance)
        assert before.vectors == after.vectors == after.texts  # one is out, the configuration is in
        rows = {row for row in before.rows if row[0] != "secret.md"}
        assert rows <= after.rows


async def test_purged_file_leaves_no_trace_though_it_was_deleted_long_ago(tmp_path):
    """A deletion leaves traces, a purge of the same path removes them: name, heading, text and earlier versions."""
    root = tmp_path / "tree"
    root.mkdir()
    text, heading, name, earlier = canary(), canary(), canary(), canary()
    names = write_files(root, 3)
    (root / f"{name}.md").write_text(f"# Heading\n\nOnce it was {earlier}.\n")
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch(*names, f"{name}.md")
        await work.until("vectors")
        (root / f"{name}.md").write_text(f"# {heading}\n\nNow it is {text}.\n")
        await work.touch(f"{name}.md", urgency="live")
        await work.until("vectors")
        (root / f"{name}.md").unlink()
        await work.touch(f"{name}.md", urgency="live")
        await work.until("vectors")
        index = work.project.index_path
        assert set(found_in(index, text, heading, name, earlier)) > set()
        await work.bus.request(PURGE, PurgePaths(instance=work.project.instance, paths=(f"{name}.md",)))
        await until_tidy(work)
        assert found_in(index, text, heading, name, earlier) == []
        connection = open_reader(index, work.project.instance)
        unused = "SELECT count(*) FROM embedding WHERE text_hash NOT IN (SELECT text_hash FROM chunk_e1)"
        assert connection.execute(unused).fetchall() == [(0,)]
        connection.close()


async def test_text_that_another_file_holds_stays_with_its_vector(tmp_path):
    """Case 33: erasing one of two equal files takes nothing from the other, and nothing is embedded again."""
    root = tmp_path / "tree"
    root.mkdir()
    for name in ("a.md", "b.md"):
        (root / name).write_text("# Licence\n\nTake it and be happy.\n")
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch("a.md", "b.md")
        await work.until("vectors")
        deny(root, "a.md")
        await work.touch(".kx.json", "a.md")
        await work.until("text")
        await until_tidy(work)
        progress = await work.until("vectors")
        assert (progress.vectors_missing, sum("Licence" in text for text in work.embedder.asked)) == (0, 1)


async def test_erasure_cut_short_is_done_by_the_next_run(tmp_path, monkeypatch):
    """A crash half-way: what is wanted stands in the index until it is done."""
    root = tmp_path / "tree"
    root.mkdir()
    text = canary()
    (root / "secret.md").write_text(f"# Secret\n\nThe word is {text}.\n")
    (root / "other.md").write_text("# Other\n\nNothing.\n")

    def never(self):
        yield False

    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch("secret.md", "other.md")
        await work.until("vectors")
        with monkeypatch.context() as patch:
            patch.setattr(Upkeep, "erase", never)
            deny(root, "secret.md")
            await work.touch(".kx.json", "secret.md")
            await work.until("text")
        index = work.project.index_path
    assert found_in(index, text) == [text]
    async with indexing(root, tmp_path / ".kx") as work:
        await work.until("text")
        await until_tidy(work)
        assert found_in(index, text) == []


async def test_erasure_waits_for_a_reader_that_holds_the_log_and_then_ends(tmp_path):
    """The pages a reader still sees cannot be overwritten; it is said, and goes on by itself."""
    root = tmp_path / "tree"
    root.mkdir()
    text = canary()
    (root / "secret.md").write_text(f"# Secret\n\nThe word is {text}.\n")
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch("secret.md")
        await work.until("vectors")
        index = work.project.index_path
        reader = open_reader(index, work.project.instance)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM chunk_e1").fetchall()
        await work.bus.request(PURGE, PurgePaths(instance=work.project.instance, paths=("secret.md",)))
        message = ProgressRequest(instance=work.project.instance)
        assert (await work.bus.request(PROGRESS, message)).upkeep == "erasing"
        reader.close()
        await until_tidy(work)
        assert found_in(index, text) == []
        assert not beside(index, "-wal").stat().st_size
