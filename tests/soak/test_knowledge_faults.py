"""Row F5 and the kills of knowledge: whatever ends a writer, pointers and revisions agree and nothing said is lost."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw

from services.knowledge.adapters.store import Store
from services.knowledge.core.revision import content_hash
from tests.soak.conftest import Report

Amount = Callable[[int], int]

DEADLINE_S = 120
_POINTERS = """
SELECT i.id, i.status, i.current, r.item, r.number, r.published_at, (SELECT max(number) FROM revisions WHERE item = i.id),
       (SELECT count(*) FROM revisions WHERE item = i.id)
FROM items i LEFT JOIN revisions r ON r.id = i.current
"""


def flaws_of(path: Path, said: list[list[str]]) -> list[str]:
    """Look at all of a database: is it sound, does every pointer hold, is what was acknowledged there."""
    Store(path).write(lambda tables: tables.spaces.ids())  # as the next run opens it
    connection = apsw.Connection(str(path))
    rows = connection.execute
    found = [str(row[0]) for row in rows("PRAGMA integrity_check") if row[0] != "ok"]
    found += [f"foreign key {row}" for row in rows("PRAGMA foreign_key_check")]
    items = {str(row[0]): row for row in rows(_POINTERS)}
    for item, status, current, owner, number, published_at, highest, count in items.values():
        if current is None or owner != item or number != highest or count != highest:
            found.append(f"{item}: pointer {current} of {owner}, number {number} of {highest}, {count} revisions")
        if status == "published" and published_at is None:
            found.append(f"{item}: published, its current revision is not")
    hashes = rows("SELECT id, content, content_hash FROM revisions")
    found += [f"{name}: other bytes" for name, content, digest in hashes if content_hash(bytes(content)) != digest]
    found += [f"orphan {row}" for row in rows("SELECT id FROM revisions WHERE item NOT IN (SELECT id FROM items)")]
    found += [f"left {row}" for row in rows("SELECT * FROM erasing")]
    found += _lost(said, items)
    connection.close()
    return found


def _lost(said: list[list[str]], items: dict[str, tuple[object, ...]]) -> list[str]:
    """Compare with what was acknowledged; the last thing that was begun may be there or not."""
    numbers = {words[1]: int(words[3]) for words in said if words[0] == "written"}
    begun = {words[1] for words in said if words[0] == "destroying"}
    gone = {words[1] for words in said if words[0] == "destroyed"}
    found = [f"{item} came back" for item in gone if item in items]
    for item, number in numbers.items():
        if item not in begun and (item not in items or int(str(items[item][4])) < number):
            found.append(f"{item}: {number} was acknowledged")
    return found


def written_until(path: Path, seed: int, *, lines: int = 0, most_bytes: int = 0) -> list[list[str]]:
    """Let a process write; kill it after so many lines, or wait for its end."""
    command = [sys.executable, "-m", "tests.support.knowledge_writer", str(path), str(seed), str(most_bytes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said: list[list[str]] = []
        for line in process.stdout:
            said.append(line.split())
            if lines and len(said) == lines:
                process.kill()
                break
        said += [line.split() for line in process.stdout if line.endswith("\n")]
        process.wait(DEADLINE_S)
    return said


def test_kill_leaves_pointer_and_revisions_consistent(tmp_path: Path, amount: Amount, report: Report):
    """A kill -9 during publish, edit and destruction, again and again on one database: nothing said is lost."""
    kills, chance, path = amount(100), random.Random(9), tmp_path / "knowledge.sqlite"
    problems: list[str] = []
    said: list[list[str]] = []
    for number in range(kills):
        said += written_until(path, number, lines=chance.randrange(1, 60))
        problems += [f"kill {number}: {flaw}" for flaw in flaws_of(path, said)]
    acknowledged = sum(words[0] == "written" for words in said)
    report("A12 kills", problems, kills=kills, acknowledged=acknowledged, inconsistent=len(problems))


def test_full_disk_writes_all_or_nothing(tmp_path: Path, amount: Amount, report: Report):
    """Row F5: a publish without space says KX_DISK_FULL, leaves nothing half, and goes on when there is space."""
    fills, chance, problems, refused = amount(20), random.Random(5), [], 0
    for number in range(fills):
        path = tmp_path / f"k{number}.sqlite"
        said = written_until(path, number, lines=chance.randrange(4, 30))
        size = max(file.stat().st_size for file in tmp_path.glob(f"{path.name}*"))
        full = written_until(path, 1_000 + number, most_bytes=size + chance.randrange(4_096, 400_000))
        last = full[-1] if full else []
        refused += last == ["refused", "KX_DISK_FULL"]
        if last != ["refused", "KX_DISK_FULL"]:
            problems.append(f"fill {number}: {last}")
        problems += [f"fill {number}: {flaw}" for flaw in flaws_of(path, said + full)]
        after = written_until(path, 2_000 + number, lines=5)
        problems += [f"fill {number}, after: {flaw}" for flaw in flaws_of(path, said + full + after)]
    report("F5 knowledge", problems, fills=fills, refused=refused, half_written=len(problems))
