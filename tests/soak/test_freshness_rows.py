"""Rows L2, L3, F6 and F7: what is saved is found, whole and soon, however it is saved and whatever its times say."""

import itertools
import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from shared.index_open import open_reader
from shared.messages import Hit
from tests.soak.conftest import IS_SOAK, Report
from tests.support.live_product import LiveProduct, live_product

pytestmark = [pytest.mark.anyio, *([pytest.mark.timeout(1_800)] if IS_SOAK else [])]

Amount = Callable[[int], int]

DEADLINE_S = 10.0
SETTLE_S = 60.0
YEAR_S = 365 * 86_400


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def not_the_files(root: Path, hits: tuple[Hit, ...]) -> list[str]:
    """Name the hits that show what their file does not hold at these lines."""
    wrong = []
    for hit in hits:
        lines = (root / hit.path).read_text().split("\n")[hit.start_line - 1 : hit.end_line]
        wrong += [] if "\n".join(lines) == hit.text else [f"{hit.path} is shown as {hit.text!r}"]
    return wrong


async def test_saved_edits_become_searchable(tmp_path, amount: Amount, report: Report):
    """Row L2: ten edits a second, each of a file of its own, each found by its word before the deadline."""
    edits, root = amount(500), tmp_path / "tree"
    for number in range(edits):
        write(root, f"d{number % 7}/f{number}.md", f"# File {number}\n\nNothing yet.\n")
    saved: dict[int, float] = {}
    took: dict[int, float] = {}

    async with live_product(root, tmp_path) as live, anyio.create_task_group() as tasks:

        async def save_all() -> None:
            begun = anyio.current_time()
            for number in range(edits):
                await anyio.sleep_until(begun + number / 10)
                write(root, f"d{number % 7}/f{number}.md", f"# File {number}\n\nNow with zz{number}marker.\n")
                saved[number] = time.monotonic()

        async def all_found() -> bool:
            for number in [one for one in saved if one not in took]:
                if await live.finds(f"zz{number}marker", f"d{number % 7}/f{number}.md"):
                    took[number] = time.monotonic() - saved[number]
            return len(took) == edits

        tasks.start_soon(save_all)
        await live.within(edits / 10 + DEADLINE_S, all_found)
    problems = [f"edit {number} was not found" for number in range(edits) if number not in took]
    problems += [f"edit {number} took {one:.1f} s" for number, one in took.items() if one > DEADLINE_S]
    report("L2", problems, edits=edits, found=len(took), max_s=f"{max(took.values(), default=0):.2f}")


class Tree:
    """Two states of one tree: files that are the same in both, differ, or are in one only."""

    def __init__(self, root: Path, differing: int) -> None:
        self.root = root
        self.both = {f"both/f{number}.md" for number in range(differing)} | {"same/kept.md"}
        self._differing = differing

    def files(self, state: str) -> dict[str, str]:
        """Name the files of a state with their text."""
        found = {f"both/f{n}.md": f"# File {n}\n\nText of state{state} here.\n" for n in range(self._differing)}
        found |= {f"only_{state}/f{n}.md": f"# Only {n}\n\nIn state{state}.\n" for n in range(self._differing // 4)}
        return {**found, "same/kept.md": "# Kept\n\nThe constantword stands here.\n"}

    def switch(self, state: str) -> None:
        """Write a state as a checkout does: what differs is deleted and created anew, what is not in it is deleted."""
        wanted = self.files(state)
        for path in [path for path in self.root.rglob("*.md") if path.relative_to(self.root).as_posix() not in wanted]:
            path.unlink()
        for name, text in wanted.items():
            path = self.root / name
            if not path.exists() or path.read_text() != text:
                path.unlink(missing_ok=True)
                write(self.root, name, text)


def git(root: Path, *arguments: str) -> None:
    settings = ("-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *settings, *arguments], cwd=root, check=True, capture_output=True)


def switching(tree: Tree, means: str) -> Callable[[str], None]:
    """Give what brings the tree to a state; it is in state "a"."""
    if means == "written":
        tree.switch("a")
        return tree.switch
    tree.root.mkdir()
    git(tree.root, "init", "-q")
    for state in "ba":
        git(tree.root, "checkout", "-q", "--orphan", state)
        tree.switch(state)
        git(tree.root, "add", "-A")
        git(tree.root, "commit", "-q", "-m", state)
    return lambda state: git(tree.root, "checkout", "-q", state)


@pytest.mark.parametrize("means", ["written", "git"])
async def test_checkout_storm_ends_equal_and_hides_no_file_meanwhile(tmp_path, means, amount: Amount, report: Report):
    """Row L3, case 23: equal to a fresh index after each switch; a file of both states is never gone in between."""
    if means == "git" and shutil.which("git") is None:
        pytest.skip("git is not installed")
    tree = Tree(tmp_path / "tree", amount(1_000))
    switch, switches, looks, problems = switching(tree, means), amount(10), 0, []
    slowest, equal = 0.0, 0
    async with live_product(tree.root, tmp_path) as live:
        for _, state in zip(range(switches), itertools.cycle("ba")):
            async with anyio.create_task_group() as tasks:

                async def look() -> None:
                    nonlocal looks
                    while True:
                        looks += 1
                        gone = tree.both - await live.paths()
                        problems.extend([f"{len(gone)} files were gone during a switch"] if gone else [])
                        if not await live.hits("constantword"):
                            problems.append("a file no switch touches was not found")
                        await anyio.sleep(0.02)

                tasks.start_soon(look)
                await to_thread.run_sync(switch, state)
                took = await live.equals_fresh(SETTLE_S)
                tasks.cancel_scope.cancel()
            equal += took is not None
            slowest = max(slowest, took or SETTLE_S)
    problems += [] if equal == switches else [f"{switches - equal} times not equal to a fresh index"]
    figures = {"means": means, "files": len(tree.both), "switches": switches, "equal": equal, "looks": looks}
    report("L3", problems, **figures, max_s=f"{slowest:.2f}")


def moments(path: Path, chosen: random.Random) -> dict[str, int]:
    """Name the times that an edit of a file may bear."""
    now = time.time_ns()
    return {
        "future": now + chosen.randrange(1, 10 * YEAR_S) * 10**9,
        "1970": chosen.randrange(2) * 10**9,
        "restored": path.stat().st_mtime_ns,
        "same second": path.stat().st_mtime_ns // 10**9 * 10**9,
        "an hour": now + chosen.choice([-1, 1]) * 3_600 * 10**9,
        "ten years": now - 10 * YEAR_S * 10**9,
    }


async def test_no_time_of_a_file_hides_an_edit(tmp_path, amount: Amount, report: Report):
    """Row F6, case 26: edits of equal size with any modification time are found; recency lifts by its bound at most."""
    jumps, per_jump, chosen, root = max(6, amount(20)), 20, random.Random(6), tmp_path / "tree"
    files = [
        write(root, f"f{number}.md", f"# File {number}\n\nThe word is {word_of(0, number)}.\n") for number in range(20)
    ]
    for number in range(60):  # what is old, and mostly about something else
        text = f"# Old {number}\n\n{'The word is old' if number < 5 else 'Something else'}.\n"
        os.utime(write(root, f"old{number}.md", text), (10**9, 10**9))
    missed, problems, seqs, kinds, highest = 0, [], [], set(), 0.0
    for jump in range(jumps):
        is_running = jump % 3 != 2  # every third while nobody looks
        async with live_product(root, tmp_path) as live:
            if is_running:
                kinds.add(edit(files, jump, chosen))
            missed += per_jump - await found_edits(live, jump, problems) if is_running else 0
            seqs.append(await seq_of(live))
            answer = await live.search("word", top=25, explain=True)
            boosts = [
                hit.parts.get("recency", 0.0) / (hit.score - hit.parts.get("recency", 0.0)) for hit in answer.results
            ]
            highest = max([highest, *boosts])
        if not is_running:
            kinds.add(edit(files, jump, chosen))
            async with live_product(root, tmp_path) as live:
                missed += per_jump - await found_edits(live, jump, problems)
    problems += [] if not missed else [f"{missed} edits were missed"]
    problems += [] if seqs == sorted(set(seqs)) else [f"revisions do not rise: {seqs}"]
    problems += [] if 0 < highest <= 0.031 else [f"recency lifts by {highest}"]
    report(
        "F6", problems, jumps=jumps, edits=jumps * per_jump, missed=missed, recency=f"{highest:.3f}", kinds=len(kinds)
    )


def edit(files: list[Path], jump: int, chosen: random.Random) -> str:
    """Change each file by as many bytes as it had; give the kind of time that it bears after."""
    names = sorted(moments(files[0], chosen))
    kind = names[jump % len(names)]
    for number, path in enumerate(files):
        then = moments(path, chosen)[kind]
        path.write_text(f"# File {number}\n\nThe word is {word_of(jump + 1, number)}.\n")
        os.utime(path, ns=(then, then))
    return kind


def word_of(jump: int, number: int) -> str:
    """Make a word of letters only, as long as every other."""
    return "w" + "".join(chr(ord("a") + int(digit)) for digit in f"{jump:05}{number:02}")


async def found_edits(live: LiveProduct, jump: int, problems: list[str]) -> int:
    """Count the edits of a jump that are found in time, and as their files are."""

    async def all_found() -> bool:
        for number in sorted(waiting):
            hits = await live.hits(word_of(jump + 1, number))
            problems.extend(not_the_files(live.root, hits))
            if any(hit.path == f"f{number}.md" for hit in hits):
                waiting.discard(number)
        return not waiting

    waiting = set(range(20))
    await live.within(DEADLINE_S, all_found)
    return 20 - len(waiting)


async def seq_of(live: LiveProduct) -> int:
    """Read the number of the last commit."""
    connection = open_reader(live.project.index_path, live.project.instance)
    try:
        return int(connection.execute("SELECT value FROM meta WHERE key = 'seq'").fetchone()[0])
    finally:
        connection.close()


def parts_of(number: int, chosen: random.Random) -> Iterator[str]:
    """Give the text of a file in two to five pieces."""
    pieces = chosen.randrange(2, 6)
    for piece in range(pieces):
        yield f"## Part {piece} of file {number}\n\n{'word ' * 40} final{number}x{piece}.\n\n"


async def save(root: Path, number: int, chosen: random.Random) -> None:
    """Save a file as some program does; what stands there in between says so."""
    path, text = root / f"d{number % 5}" / f"f{number}.md", list(parts_of(number, chosen))
    way = number % 4
    if way == 0:  # piece by piece
        with path.open("w") as file:
            for piece in text:
                file.write(piece)
                file.flush()
                await anyio.sleep(chosen.uniform(0, 0.05))
        return
    if way == 1:  # emptied, then half of another text, then the whole
        path.write_text("")
        await anyio.sleep(chosen.uniform(0, 0.05))
        path.write_text(f"halfway {number}")
        await anyio.sleep(chosen.uniform(0, 0.05))
        path.write_text("".join(text))
        return
    if way == 2:  # beside it, then in its place
        beside = path.with_suffix(".md.tmp")
        beside.write_text("halfway " + text[0])
        await anyio.sleep(chosen.uniform(0, 0.05))
        beside.write_text("".join(text))
        beside.replace(path)
        return
    with path.open("r+") as file:  # over the old text, while it is read
        file.write("halfway")
        file.flush()
        path.read_bytes()
        await anyio.sleep(chosen.uniform(0, 0.05))
        file.seek(0)
        file.write("".join(text))
        file.truncate()


async def test_half_written_files_end_whole(tmp_path, amount: Amount, report: Report):
    """Row F7: the last text of every file is indexed, and nothing that stood there in between is left."""
    files, chosen, root = amount(1_000), random.Random(7), tmp_path / "tree"
    for number in range(files):
        write(root, f"d{number % 5}/f{number}.md", f"# Old {number}\n\n{'halfway ' * 50}\n")
    problems: list[str] = []
    async with live_product(root, tmp_path) as live:

        async def save_some(first: int) -> None:
            for number in range(first, files, 10):
                await save(root, number, chosen)

        async with anyio.create_task_group() as tasks:
            for first in range(10):
                tasks.start_soon(save_some, first)
        took = await live.equals_fresh(SETTLE_S)
        problems += [] if took is not None else ["the index is not that of the last texts"]
        found = sum([await live.finds(f"final{number}x0", f"d{number % 5}/f{number}.md") for number in range(files)])
        left = (await live.search("halfway")).total
    problems += [] if found == files else [f"{files - found} final texts are not found"]
    problems += [] if not left else [f"{left} texts of an intermediate state are left"]
    report("F7", problems, files=files, final=found, left=left, settled_s=f"{took or -1:.2f}")
