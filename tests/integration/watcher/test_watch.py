"""The library's ways to fail, each provoked at the one place where it is called."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from services.watcher.adapters import watch as adapter
from services.watcher.adapters.threads import StopFlag
from services.watcher.adapters.watch import FLOOD_PATHS, WatchFailedError, watch_tree
from tests.support.trees import write_tree

pytestmark = pytest.mark.anyio

LIMIT_S = 20
real_open = adapter.open_watch


class Noticed:
    """What a watch reported."""

    def __init__(self) -> None:
        self.ready = 0
        self.ended = 0
        self.paths: set[str] = set()
        self._changed = anyio.Event()

    def on_ready(self) -> None:
        """Take note that a watch has begun."""
        self.ready += 1
        self._tell()

    def on_paths(self, paths: list[str]) -> None:
        """Take note of changes."""
        self.paths.update(paths)
        self._tell()

    async def until(self, path: str) -> None:
        """Wait until a change of `path` was reported."""
        while path not in self.paths:
            await self._changed.wait()

    async def until_ready(self, times: int = 1) -> None:
        """Wait until the watch has begun so many times."""
        while self.ready < times:
            await self._changed.wait()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


@asynccontextmanager
async def watching(root: Path) -> AsyncIterator[Noticed]:
    """Watch, beginning anew whenever it is asked for."""
    noticed = Noticed()

    async def keep_watching() -> None:
        while True:
            await watch_tree(root, lambda path: "hidden" not in path, noticed.on_ready, noticed.on_paths)

    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_watching)
            await noticed.until_ready()
            yield noticed
            tasks.cancel_scope.cancel()


def refuse_whole_trees(monkeypatch: pytest.MonkeyPatch, error: Exception) -> list[Sequence[Path]]:
    """Have the library refuse to watch recursively; give what it is asked to watch instead."""
    asked: list[Sequence[Path]] = []

    def refusing(stop: StopFlag, paths: Sequence[Path], *, recursive: bool) -> Iterator[object]:
        if recursive:
            raise error
        asked.append(paths)
        return real_open(stop, paths, recursive=False)

    monkeypatch.setattr(adapter, "open_watch", refusing)
    return asked


async def test_cancelling_ends_the_thread_at_once(tmp_path: Path) -> None:
    """STYLE 30: the wait for a thread is shielded, so it is told to stop (the test would hang)."""
    async with watching(tmp_path) as noticed:
        write_tree(tmp_path, {"a.md": "x", "hidden/b.md": "x"})
        await noticed.until("a.md")
    assert noticed.paths == {"a.md"}


async def test_folder_that_may_not_be_read_does_not_blind_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library refuses a whole tree because of one folder; the rest is watched folder by folder, new ones too."""
    write_tree(tmp_path, {"d/e/a.md": "x", "hidden/deep/b.md": "x"})
    asked = refuse_whole_trees(monkeypatch, PermissionError(13, "Permission denied"))
    async with watching(tmp_path) as noticed:
        write_tree(tmp_path, {"d/e/a.md": "xy"})
        await noticed.until("d/e/a.md")
        write_tree(tmp_path, {"d/new/": ""})
        await noticed.until_ready(2)
        write_tree(tmp_path, {"d/new/c.md": "x"})
        await noticed.until("d/new/c.md")
    assert sorted(asked[0]) == [tmp_path, tmp_path / "d", tmp_path / "d/e"]


@pytest.mark.parametrize(
    ("error", "is_lasting"),
    [
        (OSError('OS file watch limit reached. about ["d"] (Error { kind: MaxFilesWatch })'), True),
        (RuntimeError("Error creating recommended watcher: Too many open files (os error 24)"), True),
        (RuntimeError('Unable to decode path "bad" to string'), False),
        (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates not allowed"), False),
    ],
    ids=["watches", "instances", "undecodable name", "undecodable root"],
)
async def test_what_the_library_raises_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, *, is_lasting: bool
) -> None:
    """Row F9: the texts are those of the real library at the real limits."""
    refuse_whole_trees(monkeypatch, error)
    with pytest.raises(WatchFailedError) as caught:
        await watch_tree(tmp_path, lambda _: True, lambda: None, lambda _: None)
    assert caught.value.is_lasting is is_lasting


async def test_new_folder_beyond_the_limit_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row F9: the library says nothing when it cannot watch a folder that came later."""
    failed = anyio.Event()
    failures: list[WatchFailedError] = []
    noticed = Noticed()

    async def watch() -> None:
        try:
            await watch_tree(tmp_path, lambda _: True, noticed.on_ready, noticed.on_paths)
        except WatchFailedError as failure:
            failures.append(failure)
            failed.set()

    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            await noticed.until_ready()
            monkeypatch.setattr(adapter, "is_limit_reached", lambda: True)
            write_tree(tmp_path, {"d/": ""})
            await failed.wait()
    assert [failure.is_lasting for failure in failures] == [True]


async def test_root_itself_is_the_empty_path(tmp_path: Path) -> None:
    """Row F14: a change of the root's rights is a reason to look at it."""
    async with watching(tmp_path) as noticed:
        os.chmod(tmp_path, 0o711)  # noqa: PTH101 - nothing that could block
        await noticed.until("")


async def test_flood_of_what_does_not_matter_is_a_doubt_about_what_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row F8, case 22: the queue overflows of an ignored folder, too, and drops the save beside it without a word."""
    names = [f"{tmp_path}/noise/{number}" for number in range(FLOOD_PATHS + 1)]

    def opened(stop: StopFlag, *_: object, **__: object) -> Iterator[set[tuple[int, str]]]:
        for batch in (names[:-1], names):
            stop.is_set()
            yield {(1, name) for name in batch}

    monkeypatch.setattr(adapter, "open_watch", opened)
    reported: list[list[str]] = []
    with anyio.fail_after(LIMIT_S):
        await watch_tree(tmp_path, lambda path: not path.startswith("noise"), lambda: None, reported.append)
    assert reported == [[""]]
