"""Rows F8, F9 and F14: events that are lost, a watch that fails, a root that goes and comes."""

import errno
import os
import shutil
import signal
import time
from collections.abc import Callable, Collection
from pathlib import Path

import anyio
import pytest

from services.watcher.adapters.watch import Keep, OnPaths, WatchFailedError, watch_tree
from services.watcher.follower import Pace
from shared.registry import Registry
from shared.settings import load_settings
from tests.soak.conftest import IS_SOAK, Report
from tests.support.command import Kx
from tests.support.index_facts import facts_of
from tests.support.live_product import LiveProduct, live_product
from tests.support.stack import running_stack, wait_until_ready
from tests.support.trees import write_tree

pytestmark = pytest.mark.timeout(1_800 if IS_SOAK else 120)

Amount = Callable[[int], int]

OVERFLOW_S = 60.0
RECOVERY_S = 10.0
ROUNDS = 4 if IS_SOAK else 1


@pytest.mark.connected
def test_files_created_while_the_watcher_was_stopped_are_all_indexed(tmp_path, amount: Amount, report: Report):
    """Row F8, case 22: the kernel's queue overflows without a word; the raw library sees 5,463 of 20,001."""
    kx, root, files = Kx(tmp_path / "home" / ".kx"), tmp_path / "tree", amount(20_001)
    write_tree(root, {"a.md": "# One\n\nAlready here.\n"})
    assert kx("index", root, "--wait", "text").code == 0
    with running_stack(kx) as processes:
        wait_until_ready(kx, root)
        project = Registry(load_settings({"home": str(kx.home)}, {"HOME": str(kx.home.parent)})).find(root)
        assert project is not None
        watcher = processes["watcher"]
        watcher.send_signal(signal.SIGSTOP)
        for number in range(files):
            folder = root / f"d{number % 50}"
            folder.mkdir(exist_ok=True)
            (folder / f"f{number}.md").write_text(f"# File {number}\n\nThe word is zz{number}.\n")
        watcher.send_signal(signal.SIGCONT)
        started, found = time.monotonic(), 0
        while found < files + 1 and time.monotonic() - started < OVERFLOW_S * (3 if IS_SOAK else 1):
            time.sleep(0.2)
            rows = facts_of(project.index_path, project.instance).rows
            found = len({row[0] for row in rows if row[4] is not None})
        took = time.monotonic() - started
        answer = kx("search", f"zz{files - 1}", "--in", root, "--mode", "lexical", "--json").json()["results"]
        watcher.send_signal(signal.SIGSTOP)
        for number in range(files):
            write_tree(root, {f"node_modules/d{number % 50}/f{number}.js": "ignored"})
        write_tree(root, {"saved.md": "# Saved\n\nAfter a flood of what is ignored.\n"})
        watcher.send_signal(signal.SIGCONT)
        started, is_saved = time.monotonic(), False
        while not is_saved and time.monotonic() - started < OVERFLOW_S:
            time.sleep(0.2)
            is_saved = "saved.md" in {row[0] for row in facts_of(project.index_path, project.instance).rows}
    problems = [] if found == files + 1 else [f"{files + 1 - found} files are not indexed"]
    problems += [] if answer and answer[0]["path"].endswith(f"/f{files - 1}.md") else ["the last file is not found"]
    problems += [] if took <= OVERFLOW_S else [f"it took {took:.0f} s"]
    problems += [] if is_saved else ["a save after a flood of ignored files is not found"]
    report("F8", problems, means="stopped", files=files, indexed=found - 1, took_s=f"{took:.1f}")


@pytest.mark.anyio
async def test_folders_made_faster_than_they_can_be_watched_are_all_indexed(tmp_path, report: Report):
    """Row F8, fact M8: nested folders and the files in them, at once; the raw library sees 156 of 300."""
    folders, root = 5_000 if IS_SOAK else 300, tmp_path / "tree"
    write_tree(root, {"a.md": "# One\n\nAlready here.\n"})
    async with live_product(root, tmp_path) as live:
        write_tree(root, {f"n{n}/deep{n % 3}/er/f.md": f"# File {n}\n\nThe word is zz{n}.\n" for n in range(folders)})
        took = await live.equals_fresh(OVERFLOW_S)
        found = len(await live.paths()) - 1
    problems = [] if took is not None and found == folders else [f"{folders - found} files are not indexed"]
    report("F8", problems, means="folders", files=folders, indexed=found, took_s=f"{took or -1:.2f}")


class FailingWatch:
    """The library as it is when something is wrong, until `is_well`."""

    def __init__(self, error: WatchFailedError) -> None:
        self.is_well = False
        self._error = error

    async def watch(self, root: Path, keep: Keep, on_ready: Callable[[], None], on_paths: OnPaths) -> None:
        """Watch, or fail."""
        if not self.is_well:
            raise self._error
        await watch_tree(root, keep, on_ready, on_paths)


TROUBLES = {
    "limit": WatchFailedError("the system's limit of watched folders is reached", is_lasting=True),
    "raises": WatchFailedError("the file watch failed: inotify"),
}


@pytest.mark.anyio
@pytest.mark.parametrize("trouble", sorted(TROUBLES))
async def test_without_events_edits_are_found_by_polling_and_it_shows(
    tmp_path, trouble, amount: Amount, report: Report, monkeypatch
):
    """Row F9: degraded, no edit missed, and it recovers by itself."""
    monkeypatch.setattr("services.watcher.follower.LASTING_PAUSE_S", 2.0)
    edits, root, library = amount(100), tmp_path / "tree", FailingWatch(TROUBLES[trouble])
    write_tree(root, {"a.md": "# One\n\nAlready here.\n"})
    async with live_product(root, tmp_path, watch=library.watch, pace=Pace(poll_s=0.1)) as live:
        found = await found_edits(live, edits)
        health = await live.health()
        library.is_well = True
        recovered = await live.within(RECOVERY_S, live.is_followed)
        state = (await live.health()).state
    problems = [] if found == edits else [f"{edits - found} edits were missed"]
    problems += [] if health.state == "degraded" and "tree: " in health.detail else [f"its state was {health}"]
    problems += [] if recovered is not None and state == "ready" else [f"it is {state} after"]
    report(
        "F9", problems, trouble=trouble, edits=edits, found=found, shown=health.state, back_s=f"{recovered or -1:.2f}"
    )


@pytest.mark.anyio
async def test_names_that_are_no_text_cost_no_edit(tmp_path, amount: Amount, report: Report):
    """Row F9: the library raises at such a name and watches no more; edits go on being found."""
    edits, root = amount(100), tmp_path / "tree"
    write_tree(root, {"a.md": "# One\n\nAlready here.\n"})
    async with live_product(root, tmp_path) as live:

        def spoil(number: int) -> None:
            Path(os.fsdecode(os.fsencode(root) + b"/bad\xff%d.md" % number)).write_text(f"# Bad\n\nqq{number}.\n")

        found = await found_edits(live, edits, before=spoil)
        bad = sum([bool(await live.hits(f"qq{number}")) for number in range(edits)])
        recovered = await live.within(RECOVERY_S, live.is_followed)
    problems = [] if (found, bad) == (edits, edits) else [f"{edits - found} edits and {edits - bad} names were missed"]
    problems += [] if recovered is not None else ["it is not followed after"]
    report("F9", problems, trouble="name", edits=edits, found=found, named=bad, back_s=f"{recovered or -1:.2f}")


async def found_edits(live: LiveProduct, edits: int, before: Callable[[int], None] = lambda _: None) -> int:
    """Save files one after the other; count those found in time."""
    found = 0
    for number in range(edits):
        before(number)
        write_tree(live.root, {f"e{number}.md": f"# Edit {number}\n\nThe word is zz{number}.\n"})
        took = await live.within(RECOVERY_S, lambda n=number: live.finds(f"zz{n}", f"e{n}.md"))
        found += took is not None
    return found


def away(root: Path, how: str) -> None:
    """Make a root something else than the tree that was indexed."""
    if how == "deleted":
        shutil.rmtree(root)
    else:
        root.rename(root.with_name("elsewhere"))
    if how == "replaced by a file":
        root.write_text("no folder")
    elif how == "emptied":
        root.mkdir()


def back(root: Path, how: str) -> None:
    """Put a tree there again, with an edit."""
    if root.is_file():
        root.unlink()
    elif root.exists():
        root.rmdir()
    if how != "deleted":
        root.with_name("elsewhere").rename(root)


@pytest.mark.anyio
@pytest.mark.parametrize("how", ["deleted", "renamed", "replaced by a file", "emptied"])
async def test_root_that_is_gone_gives_no_result_and_is_found_again(tmp_path, how, report: Report):
    """Row F14, case 25: nothing of a gone root is shown, no row is deleted for it, and its return is noticed."""
    root, problems, slowest, shown = tmp_path / "tree", [], 0.0, 0
    files = {f"d{n}/f{n}.md": f"# File {n}\n\nThe constantword.\n" for n in range(20)}
    write_tree(root, files)
    async with live_product(root, tmp_path) as live:
        for number in range(ROUNDS):
            await live.within(RECOVERY_S, lambda: live.finds("constantword", "d0/f0.md"))
            await live.within(RECOVERY_S, lambda: holds(live, files))  # what was never indexed cannot be kept
            away(root, how)
            shown += len(await live.hits("constantword"))
            await live.within(3.0, lambda: is_missing(live))  # the watcher had time to do something wrong
            shown += len(await live.hits("constantword"))
            kept = len(await live.paths())
            problems += [] if kept >= 20 else [f"{20 - kept} rows were deleted"]
            back(root, how)
            write_tree(root, files | {"new.md": f"# New\n\nThe word is zz{number}.\n"})
            took = await live.within(RECOVERY_S, lambda n=number: live.finds(f"zz{n}", "new.md"))
            slowest = max(slowest, took or RECOVERY_S)
            problems += [] if took is not None else ["its return was not noticed"]
            write_tree(root, {"new.md": f"# New\n\nThe word is yy{number}.\n"})
            took = await live.within(RECOVERY_S, lambda n=number: live.finds(f"yy{n}", "new.md"))
            problems += [] if took is not None else ["it is not followed after its return"]
    problems += [] if not shown else [f"{shown} results of a root that is gone"]
    report("F14", problems, how=how.replace(" ", "_"), cases=ROUNDS, shown=shown, recovery_s=f"{slowest:.2f}")


async def holds(live: LiveProduct, files: Collection[str]) -> bool:
    """Tell whether the index has all of these."""
    return set(files) <= set(await live.paths())


async def is_missing(live: LiveProduct) -> bool:
    """Tell whether the watcher knows that the root is gone."""
    return (await live.survey()).root_missing


@pytest.mark.anyio
async def test_unreadable_root_deletes_no_row(tmp_path, report: Report, monkeypatch):
    """Row F14: what cannot be read is unknown, not gone; simulated, because a superuser may read everything."""
    root, problems, slowest, deleted = tmp_path / "tree", [], 0.0, 0
    write_tree(root, {f"d{n}/f{n}.md": f"# File {n}\n\nThe constantword.\n" for n in range(20)})
    scandir, forbidden = os.scandir, [False]

    def guarded(path: bytes) -> object:
        if forbidden[0] and os.fsencode(path).rstrip(b"/") == os.fsencode(root):
            raise PermissionError(errno.EACCES, "forbidden")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    async with live_product(root, tmp_path) as live:
        for number in range(ROUNDS):
            before = len(await live.paths())
            forbidden[0] = True
            seen = await live.within(RECOVERY_S, lambda: is_missing(live))
            problems += [] if seen is not None else ["nobody noticed"]
            write_tree(root, {f"new{number}.md": f"# New\n\nThe word is zz{number}.\n"})
            await anyio.sleep(1)  # time to do something wrong
            deleted += before - len(await live.paths())
            forbidden[0] = False
            took = await live.within(RECOVERY_S, lambda n=number: live.finds(f"zz{n}", f"new{n}.md"))
            slowest = max(slowest, took or RECOVERY_S)
            problems += [] if took is not None else ["its return was not noticed"]
    problems += [] if not deleted else [f"{deleted} rows were deleted"]
    report("F14", problems, how="unreadable", cases=ROUNDS, deleted=deleted, recovery_s=f"{slowest:.2f}")
