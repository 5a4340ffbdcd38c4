"""A crash at any moment and a second run end equal to an undisturbed run (row F1)."""

import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from services.indexer.adapters.soundness import flaw_of
from shared.registry import Registry
from shared.settings import load_settings
from tests.soak.conftest import IS_SOAK, Report
from tests.support.command import Kx
from tests.support.index_facts import facts_of

KILLS = int(os.environ.get("KX_TEST_KILLS", "4"))
FILES = 120

Amount = Callable[[int], int]


@pytest.fixture
def many_files(tmp_path: Path) -> Path:
    root = tmp_path / "many"
    for number in range(FILES):
        path = root / f"pkg{number % 7}" / f"module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        body = "\n\n".join(
            f"def work_{number}_{part}(value):\n    return value * {number} + {part}\n" for part in range(30)
        )
        path.write_text(body)
    return root


def index_facts(kx: Kx, root: Path):
    settings = load_settings({"home": str(kx.home)}, {"HOME": str(kx.home.parent)})
    project = Registry(settings).find(root)
    assert project is not None
    return facts_of(project.index_path, project.instance)


def after_a_kill(kx: Kx, root: Path, copy: Path) -> tuple[frozenset[tuple[object, ...]], str | None]:
    """Give what the index holds, and what is wrong with it; looks at a copy, so that nothing is repaired by looking."""
    if not kx.home.exists():
        return frozenset(), None
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(kx.home, copy)
    settings = load_settings({"home": str(copy)}, {"HOME": str(copy.parent)})
    project = Registry(settings).find(root)
    index = None if project is None else copy / "data" / project.index_path.name
    if project is None or index is None or not index.exists():
        return frozenset(), None
    connection = apsw.Connection(str(index))
    try:
        has_tables = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'epoch'").fetchall()
        flaw = flaw_of(connection) if has_tables else None
    finally:
        connection.close()
    rows = facts_of(index, project.instance).rows if has_tables else frozenset()
    shutil.rmtree(copy)
    return rows, flaw


@pytest.mark.timeout(1_800 if IS_SOAK else 120)
def test_killed_at_random_moments_the_next_run_ends_equal(tmp_path, many_files, amount: Amount, report: Report):
    """Row F1: nothing acknowledged is lost, nothing is there twice, counts of chunks, postings and vectors agree."""
    undisturbed = Kx(tmp_path / "a" / ".kx")
    started = time.monotonic()
    assert undisturbed("index", many_files, "--wait", "text").code == 0
    whole_s = time.monotonic() - started
    expected = index_facts(undisturbed, many_files)
    assert expected.chunks == expected.postings > FILES

    killed = Kx(tmp_path / "b" / ".kx")
    moments, kills, problems, seen, lost, unsound = random.Random(7), amount(100), [], 0, 0, 0
    acknowledged: frozenset[tuple[object, ...]] = frozenset()
    for number in range(kills):
        if number % 10 == 0:  # begin anew: a complete index is not written any more
            shutil.rmtree(killed.home, ignore_errors=True)
            acknowledged = frozenset()
        with killed.running("index", many_files) as process:
            time.sleep(moments.uniform(0.2, 1.0) * whole_s)  # the moment of the crash, not a wait for anything
            process.kill()
        rows, flaw = after_a_kill(killed, many_files, tmp_path / "copy")
        lost += len(acknowledged - rows)
        unsound += flaw is not None
        problems += [] if flaw is None else [flaw]
        acknowledged, seen = rows, seen + len(rows)
    assert killed("index", many_files, "--wait", "text").code == 0
    found = index_facts(killed, many_files)
    problems += [] if not lost else [f"{lost} acknowledged rows were lost"]
    problems += [] if found.rows == expected.rows else ["the index is not that of an undisturbed run"]
    counts = [(facts.chunks, facts.postings, facts.texts) for facts in (found, expected)]
    problems += [] if counts[0] == counts[1] else [f"counts differ: {counts}"]
    problems += [] if found.vectors + found.missing == found.texts else ["texts without a vector are not known"]
    report(
        "F1", problems, kills=kills, acknowledged=seen, lost=lost, unsound=unsound, files=FILES, passages=found.chunks
    )


def test_killed_during_a_rebuild_the_next_run_ends_equal(tmp_path, many_files):
    """Row F16: the old index answers, the half-built epoch goes on or is dropped, no mixture is left."""
    kx = Kx(tmp_path / "a" / ".kx")
    started = time.monotonic()
    assert kx("index", many_files, "--wait", "text").code == 0
    whole_s = time.monotonic() - started
    expected = index_facts(kx, many_files)
    moments = random.Random(11)
    for _ in range(max(2, KILLS // 2)):
        with kx.running("index", many_files, "--full", "--wait", "text") as process:
            time.sleep(moments.uniform(0.3, 0.9) * whole_s)  # the moment of the crash
            process.kill()
        assert kx("search", "work_3_4", "--in", many_files, "--mode", "lexical").code == 0
    assert kx("index", many_files, "--wait", "text").code == 0
    found = index_facts(kx, many_files)
    assert found.rows == expected.rows
    assert (found.chunks, found.postings, found.texts) == (expected.chunks, expected.postings, expected.texts)


def test_ctrl_c_keeps_everything_and_says_how_to_go_on(tmp_path, many_files):
    """Interrupted work ends with exit 0, the words are searchable, the sentence names the vectors and the command."""
    kx = Kx(tmp_path / "a" / ".kx")
    assert kx("index", many_files, "--wait", "text").code == 0
    with kx.running("index", many_files) as process:
        deadline = time.monotonic() + 60
        while not index_facts(kx, many_files).vectors:  # the moment of the Ctrl+C: into the embedding
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.terminate()
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert b"vectors ready. Go on with: kx index" in err
    assert kx("search", "work_3_4", "--in", many_files, "--mode", "lexical").code == 0


def test_ctrl_c_of_a_terminal_while_words_are_read_is_an_orderly_end(tmp_path):
    """The terminal signals the whole group, the reading processes with it; that must not look like a crash."""
    root = tmp_path / "many"
    root.mkdir()
    for number in range(3_000):
        (root / f"f{number}.py").write_text(f"def function_{number}():\n    return {number}\n" * 20)
    kx = Kx(tmp_path / "a" / ".kx")
    with kx.running("index", root, "--wait", "text") as process:
        deadline = time.monotonic() + 60
        while not any((kx.home / "data").glob("*.sqlite-wal")):  # the moment of the Ctrl+C: into the reading
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(0.5)  # the readers are there
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert b"Go on with: kx index" in err
    assert b"Traceback" not in err
    assert b"error" not in err
    assert kx("index", root, "--wait", "text").code == 0
