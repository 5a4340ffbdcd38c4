"""Rows F5 and L5: no space, and a reader that holds the log."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from services.indexer.adapters.soundness import flaw_of
from shared.errors import ErrorCode, KxError
from shared.index_files import wal_bytes
from shared.index_format import WAL_KEPT_BYTES
from shared.index_open import open_reader, open_writer
from shared.messages import IndexProgress, ProgressRequest
from shared.subjects import PROGRESS
from tests.soak.conftest import IS_SOAK, Report
from tests.support.index_facts import facts_of
from tests.support.indexing import Indexing, indexing
from tests.support.megabrain_bench import Bench

pytestmark = pytest.mark.anyio

Amount = Callable[[int], int]

MIB = 1024 * 1024
SPACE_MIB = 32
BACK_S = 30.0
HELD_S = 300.0 if IS_SOAK else BACK_S  # until the log of the full row has grown


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """Mount a file system of `SPACE_MIB`, where that is allowed."""
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SPACE_MIB}m", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def write_files(root: Path, start: int, count: int) -> list[str]:
    root.mkdir(exist_ok=True)
    for number in range(start, start + count):
        words = " ".join(f"w{number}x{part:x}" for part in range(1_500))
        (root / f"f{number}.md").write_text(f"# File {number}\n\n{words}\n")
    return [f"f{number}.md" for number in range(start, start + count)]


async def progress_until(work: Indexing, is_reached: Callable[[IndexProgress], bool], seconds: float) -> IndexProgress:
    with anyio.fail_after(seconds):
        while True:
            progress = await work.bus.request(PROGRESS, ProgressRequest(instance=work.project.instance))
            if is_reached(progress):
                return progress
            await anyio.sleep(0.05)


async def test_full_disk_stops_the_work_with_its_name_and_it_goes_on_by_itself(
    tmp_path, amount: Amount, report: Report
):
    """Row F5: KX_DISK_FULL, nothing corrupt, every question answered meanwhile, equal when space is back."""
    fills = amount(20)
    root = tmp_path / "tree"
    names = write_files(root, 0, 30)
    async with indexing(root, tmp_path / "wide" / ".kx") as work:
        await work.touch(*names)
        await work.until("vectors")
    expected = facts_of(work.project.index_path, work.project.instance)
    problems: list[str] = []
    for fill in range(fills):
        with small_disk(tmp_path / f"disk{fill}") as disk:
            ballast = disk / "ballast"
            async with indexing(root, disk / ".kx") as work:
                index = work.project.index_path
                await work.touch(names[0])
                await work.until("vectors")
                free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
                ballast.write_bytes(b"x" * max(0, free - (1 + fill % 5) * MIB // 2))
                await work.touch(*names)
                full = await progress_until(work, lambda p: p.stalled is not None, BACK_S)
                if full.stalled.code is not ErrorCode.DISK_FULL:
                    problems.append(str(full.stalled))
                try:
                    facts_of(index, work.project.instance)
                except KxError as error:
                    problems.append(f"not answered: {error}")
                ballast.unlink()
                await progress_until(work, lambda p: not p.text_pending and not p.vectors_missing, BACK_S)
            if facts_of(index, work.project.instance) != expected:
                problems.append(f"fill {fill} is not equal")
            connection = open_writer(index, work.project.instance, project="demo", root=str(root))
            problems += [flaw for flaw in [flaw_of(connection)] if flaw]
            connection.close()
    report("F5", problems, fills=fills, corrupt=0, equal=fills - len(problems))


async def test_note_is_written_whole_or_not_at_all(tmp_path, amount: Amount, report: Report):
    """Row F5: without space a note stays as it was, is said not to be written, and is written when there is space."""
    fills, problems, refused, written, halves = amount(20), [], 0, 0, []
    for fill in range(fills):
        with small_disk(tmp_path / f"disk{fill}") as disk:
            bench, ballast = Bench(disk), disk / "ballast"
            async with bench.serving() as ask:
                await ask.add("First", tags=("kept",))
                free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
                ballast.write_bytes(b"x" * (free - fill % 5 * 16_384))
                for number in range(20):
                    before = {path: path.read_bytes() for path in bench.vault.rglob("*.md")}
                    said = f"step {number} " + "long words " * 400
                    try:
                        await (ask.update("1", said) if number % 2 else ask.add(f"Other {number}", description=said))
                        written += 1
                    except KxError as error:
                        refused += 1
                        problems += [] if error.code is ErrorCode.DISK_FULL else [f"fill {fill}: {error}"]
                        halves += half_written(bench.vault, before)
                ballast.unlink()
                await ask.update("1", "there is space")
                problems += [] if "there is space" in bench.note("first").read_text() else ["not written after"]
                rests = [path.name for path in bench.vault.rglob("*") if ".tmp" in path.name]
                problems += [f"left: {rests}"] if rests else []
    problems += [] if refused >= fills else ["it was never full"]
    report("F5 notes", problems + halves, fills=fills, refused=refused, written=written, half_written=len(halves))


def half_written(vault: Path, before: dict[Path, bytes]) -> list[str]:
    """Name the notes that are other than before a write that was refused; the map may follow later."""
    now = {path: path.read_bytes() for path in (vault / "megabrain").glob("*.md")}
    notes = {path: data for path, data in before.items() if path.parent.name == "megabrain"}
    return [f"{path.name} changed though it was refused" for path in {*now, *notes} if now.get(path) != notes.get(path)]


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
from kx.cli import run
sys.exit(run(sys.argv[1:]))
"""


async def test_limit_of_file_size_is_a_full_disk(tmp_path):
    """Row F5: where the system says "disk I/O error", kx says what it means; the next run ends equal."""
    root, home = tmp_path / "tree", tmp_path / ".kx"
    write_files(root, 0, 12)
    environ = {**os.environ, "KX_HOME": str(home), "HOME": str(tmp_path), "KX_LANG": "en"}
    line = [sys.executable, "-c", LIMITED, "index", str(root), "--wait", "text"]
    limited = await anyio.run_process(line, env=environ, check=False)
    assert limited.returncode != 0
    assert b"KX_DISK_FULL" in limited.stderr
    line = [sys.executable, "-m", "kx", "index", str(root), "--wait", "text"]
    wide = await anyio.run_process(line, env=environ, check=False)
    assert wide.returncode == 0, wide.stderr
    assert b"12 documents" in wide.stderr


async def test_reader_that_holds_the_log_makes_bulk_work_wait_and_live_edits_not(
    tmp_path, amount: Amount, report: Report, monkeypatch
):
    """Row L5, case 31: the log stays bounded, it is said who is in the way, and it is short soon after the reader ends."""
    limit = 48 * MIB // (1 if IS_SOAK else 20)
    monkeypatch.setattr("services.indexer.adapters.upkeep.WAL_LIMIT_BYTES", limit)
    root = tmp_path / "tree"
    names = write_files(root, 0, 600 if IS_SOAK else 30)
    async with indexing(root, tmp_path / ".kx") as work:
        work.embedder.is_away = True
        index, instance = work.project.index_path, work.project.instance
        await work.touch(names[0])
        await work.until("text")
        reader = open_reader(index, instance)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM chunk_e1").fetchall()
        for name in names:
            await work.touch(name)
        stalled = await progress_until(
            work, lambda p: p.stalled is not None and p.stalled.code is ErrorCode.INDEX_BUSY, HELD_S
        )
        held = wal_bytes(index)
        (root / "live.md").write_text("# Live\n\nan edit that does not wait\n")
        await work.touch("live.md", urgency="live")
        before = stalled.documents
        await progress_until(work, lambda p: p.documents > before, BACK_S)
        most = wal_bytes(index)
        reader.close()
        await work.until("text")
        await progress_until(work, lambda _: wal_bytes(index) <= WAL_KEPT_BYTES, 10)
    problems = [] if most < limit * 64 // 48 else [f"the log grew to {most}"]
    problems += [] if held >= limit else ["nothing was held"]
    report("L5", problems, limit_mib=f"{limit / MIB:.1f}", log_mib=f"{most / MIB:.1f}", after_mib=0)
