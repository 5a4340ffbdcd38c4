"""Where events are not enough: the root's life, a failing watch, places nobody can read."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from services.watcher.adapters.watch import Keep, OnPaths, WatchFailedError, watch_tree
from services.watcher.core.changes import DOUBT_PATHS
from services.watcher.follower import Pace
from shared.errors import ErrorCode, KxError
from tests.support.trees import write_tree
from tests.support.watcher_bench import FREQUENT, Followed, WatcherBench

pytestmark = pytest.mark.anyio

LIMIT_S = 20


@pytest.fixture
def bench(tmp_path: Path) -> WatcherBench:
    bench = WatcherBench(tmp_path)
    write_tree(bench.root, {"a.md": "one", "d/b.md": "two"})
    return bench


async def root_is(followed: Followed, *, missing: bool) -> None:
    """Wait until the watcher has seen the root go, or come back."""
    while (await followed.survey()).root_missing is not missing:
        await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize("replacement", ["nothing", "a file", "an empty folder", "a link to nowhere"])
async def test_root_that_is_gone_empties_no_index_and_is_followed_again(bench: WatcherBench, replacement: str) -> None:
    """Case 25, row F14: deleted, replaced by a file, an emptied mount, renamed: nothing is announced, then all is."""
    with anyio.fail_after(LIMIT_S):
        async with bench.following() as followed:
            await followed.agrees(["a.md", "d/b.md"])
            followed.index.messages.clear()
            bench.root.rename(bench.folder / "elsewhere")
            if replacement == "a file":
                bench.root.write_text("no folder")
            elif replacement == "a link to nowhere":
                bench.root.symlink_to(bench.folder / "nowhere")
            elif replacement == "an empty folder":
                bench.root.mkdir()
            if replacement == "an empty folder":
                assert await refusal(followed) is ErrorCode.ROOT_MISSING
            else:
                await root_is(followed, missing=True)
            assert followed.index.touched() == []
            assert followed.index.files(followed.instance) == {"a.md", "d/b.md"}
            remove(bench.root)
            write_tree(bench.folder / "new", {"c.md": "three"})
            (bench.folder / "new").rename(bench.root)
            await followed.agrees(["c.md"])
            await followed.marker()
            await followed.agrees(["c.md", "marker.md"])


async def refusal(followed: Followed) -> ErrorCode | None:
    """Ask for a walk; give the code of its refusal."""
    try:
        await followed.reconcile()
    except KxError as error:
        return error.code
    return None


def remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def forbid(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Callable[[], None]:
    """Make a folder unreadable also for a superuser, who runs tests in containers; give what lifts it."""
    scandir, is_on = os.scandir, [True]

    def guarded(path: bytes) -> object:
        if is_on and path == os.fsencode(folder):
            raise PermissionError(errno.EACCES, "forbidden")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    return is_on.clear


async def test_unreadable_root_deletes_nothing(bench: WatcherBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row F14: an unreadable root deletes 0 rows, and is followed again once it can be read."""
    with anyio.fail_after(LIMIT_S):
        async with bench.following() as followed:
            await followed.agrees(["a.md", "d/b.md"])
            followed.index.messages.clear()
            lift = forbid(monkeypatch, bench.root)
            await root_is(followed, missing=True)
            write_tree(bench.root, {"c.md": "three"})
            assert followed.index.touched() == []
            lift()
            await followed.agrees(["a.md", "d/b.md", "c.md"])


async def test_unreadable_folder_deletes_nothing(bench: WatcherBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 5.2: what cannot be read is unknown, not gone."""
    with anyio.fail_after(LIMIT_S):
        async with bench.following() as followed:
            await followed.agrees(["a.md", "d/b.md"])
            lift = forbid(monkeypatch, bench.root / "d")
            followed.index.messages.clear()
            assert (await followed.reconcile()).announced == 0
            write_tree(bench.root, {"d/c.md": "three"})
            lift()
            await followed.reconcile()
            await followed.agrees(["a.md", "d/b.md", "d/c.md"])


class LimitedWatch:
    """The library on a machine whose limit of watched folders is reached, until `lift`."""

    def __init__(self) -> None:
        self.is_limited = True

    async def watch(self, root: Path, keep: Keep, on_ready: Callable[[], None], on_paths: OnPaths) -> None:
        """Watch, or fail as the library does."""
        if self.is_limited:
            raise WatchFailedError("the system's limit of watched folders is reached")
        await watch_tree(root, keep, on_ready, on_paths)


async def test_without_events_the_tree_is_polled_and_it_shows(bench: WatcherBench) -> None:
    """Row F9: the watch limit is reached: degraded, nothing missed, and it recovers by itself."""
    library = LimitedWatch()
    with anyio.fail_after(2 * LIMIT_S):
        async with bench.following(watch=library.watch) as followed:
            for number in range(5):
                write_tree(bench.root, {f"e{number}.md": "edit"})
                await followed.agrees(["a.md", "d/b.md", *(f"e{n}.md" for n in range(number + 1))])
            health = await followed.health()
            assert health.state == "degraded"
            assert "tree: the system's limit of watched folders is reached" in health.detail
            assert not (await followed.survey()).is_followed
            library.is_limited = False
            while (await followed.health()).state != "ready":
                await anyio.lowlevel.checkpoint()
            await followed.marker()


async def test_lost_events_are_found_by_the_timer(bench: WatcherBench) -> None:
    """Case 22, facts M7 and M13: the library drops events without a word; the tree is compared now and then."""

    async def deaf(root: Path, keep: Keep, on_ready: Callable[[], None], on_paths: OnPaths) -> None:
        on_ready()
        await anyio.sleep_forever()

    with anyio.fail_after(LIMIT_S):
        async with bench.following(watch=deaf, pace=FREQUENT) as followed:
            await followed.agrees(["a.md", "d/b.md"])
            write_tree(bench.root, {"c.md": "three"})
            await followed.agrees(["a.md", "d/b.md", "c.md"])


class ReportingWatch:
    """A library that says what the test tells it to say, and nothing else."""

    def __init__(self) -> None:
        self._on_paths: OnPaths | None = None

    async def watch(self, root: Path, keep: Keep, on_ready: Callable[[], None], on_paths: OnPaths) -> None:
        """Begin, and wait."""
        del root, keep
        self._on_paths = on_paths
        on_ready()
        await anyio.sleep_forever()

    def report(self, *paths: str) -> None:
        """Report changes at these paths."""
        assert self._on_paths is not None
        self._on_paths([*paths])


async def test_file_written_before_its_folder_was_watched_is_found(bench: WatcherBench) -> None:
    """Row F8, facts M8 and M9: one event for a folder, none for what is in it, nor for what comes a moment later."""
    library = ReportingWatch()
    with anyio.fail_after(LIMIT_S):
        async with bench.following(watch=library.watch) as followed:
            await followed.agrees(["a.md", "d/b.md"])
            write_tree(bench.root, {"new/x.md": "three"})
            library.report("new")
            await followed.agrees(["a.md", "d/b.md", "new/x.md"])
            write_tree(bench.root, {"new/y.md": "four"})
            await followed.agrees(["a.md", "d/b.md", "new/x.md", "new/y.md"])


async def test_so_many_events_that_some_may_be_lost_end_in_a_walk(bench: WatcherBench) -> None:
    """Case 22, row F8: the kernel's queue overflows in silence; a flood is reason enough to look at everything."""
    library = ReportingWatch()
    with anyio.fail_after(LIMIT_S):
        async with bench.following(watch=library.watch) as followed:
            await followed.agrees(["a.md", "d/b.md"])
            write_tree(bench.root, {"lost.md": "no event was reported for it"})
            library.report(*(f"flood{number}" for number in range(DOUBT_PATHS + 1)))
            await followed.agrees(["a.md", "d/b.md", "lost.md"])


async def test_deletions_reported_for_a_root_that_is_gone_are_not_believed(bench: WatcherBench) -> None:
    """Case 25, row F14: also before the poll has noticed that the root is gone."""
    library = ReportingWatch()
    with anyio.fail_after(LIMIT_S):
        async with bench.following(watch=library.watch, pace=Pace(root_s=60.0)) as followed:
            await followed.agrees(["a.md", "d/b.md"])
            followed.index.messages.clear()
            bench.root.rename(bench.folder / "elsewhere")
            library.report("a.md", "d/b.md", "d")
            assert (await followed.survey()).held == 3
            await followed.settled()
            assert followed.index.touched() == []


async def test_one_broken_tree_does_not_end_the_others(bench: WatcherBench) -> None:
    """STYLE 24: a tree whose follower fails is tried again, shown, and alone."""
    other = bench.register(bench.folder / "other")
    write_tree(other.root_path, {"x.md": "text"})

    async def watch(root: Path, keep: Keep, on_ready: Callable[[], None], on_paths: OnPaths) -> None:
        if root == bench.root:
            raise LookupError("a bug")
        await watch_tree(root, keep, on_ready, on_paths)

    with anyio.fail_after(LIMIT_S):
        async with bench.following(watch=watch) as followed:
            await followed.index.until(lambda: followed.index.files(other.instance) == {"x.md"})
            while "tree:" not in (await followed.health()).detail:
                await anyio.lowlevel.checkpoint()


async def test_one_shot_commands_follow_nothing(bench: WatcherBench) -> None:
    """DESIGN 4: the embedded mode walks when it is asked."""
    with anyio.fail_after(LIMIT_S):
        async with bench.following(follow=False) as followed:
            assert followed.index.touched() == []
            await followed.reconcile()
            await followed.agrees(["a.md", "d/b.md"])
            assert not (await followed.survey()).is_followed
