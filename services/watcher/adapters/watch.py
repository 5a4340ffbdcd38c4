"""The operating system's events about one tree, through watchfiles: hints, of which some are lost.

A name that is not valid UTF-8 ends the library's iterator, and the limit of watched folders keeps it from beginning;
both arrive here as `WatchFailedError`, and whoever follows walks instead and begins again. A folder that may not be read
makes it refuse the whole tree: then the others are watched one by one. The library is given a thread: opening it walks
the tree, half a second for a thousand folders, in which the event loop would stand still.
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import CapacityLimiter, from_thread

from services.watcher.adapters.inotify_limit import is_limit_reached
from services.watcher.adapters.threads import StopFlag, run_stoppable
from shared.relpath import encode_path, join

if TYPE_CHECKING:
    from watchfiles import Change  # at run time only where a tree is followed: a command that runs once does not

# Within STEP_MS of silence a batch is handed over, so a save is known after 30 to 60 ms. The library wakes up as often
# even when nothing happens: 20 ms costs 0.6 % of a core for each tree.
STEP_MS = 30
DEBOUNCE_MS = 100  # the longest a batch is gathered; what belongs together is found in core/changes.py
_NEVER_MS = 3_600_000
# The kernel's queue holds 16,384 events, six or so a path. This many paths at once had waited in it, whether they matter
# or not: thousands of an ignored folder may have cost the event of a save beside them.
FLOOD_PATHS = 1_000
_LIMIT_ERRNOS = {errno.ENOSPC, errno.EMFILE, errno.ENFILE}
_LIMIT_WORDS = ("os file watch limit reached", "too many open files", "no space left")

_ADDED = 1  # watchfiles.Change.added

Keep = Callable[[str], bool]  # asked in the watch's own thread
OnPaths = Callable[[list[str]], None]
Watch = Callable[[Path, Keep, Callable[[], None], OnPaths], Awaitable[None]]


class WatchFailedError(Exception):
    """The library cannot go on; `is_lasting` says that trying again at once would fail in the same way."""

    def __init__(self, reason: str, *, is_lasting: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_lasting = is_lasting


async def watch_tree(root: Path, keep: Keep, on_ready: Callable[[], None], on_paths: OnPaths) -> None:
    """Call `on_paths` with what changed, as paths relative to `root`, until cancelled.

    "" is the root: it changed itself, or so much did that some changes may be missing.

    `on_ready` is called once changes are noticed. Both are called in the event loop. Returns when it has to begin anew,
    because a folder came that is not watched yet.

    Raises:
        WatchFailedError: the library gave up; changes since its last report may be lost.
    """
    # The library asks at every step whether to stop: being asked for the first time means that it has opened the tree.
    stop = StopFlag(lambda: from_thread.run_sync(on_ready))
    prefix = os.fsencode(root).rstrip(b"/") + b"/"

    def follow() -> None:
        try:
            report(open_watch(stop, [root], recursive=True), is_whole=True)
        except PermissionError:
            report(open_watch(stop, _readable_folders(root, keep), recursive=False), is_whole=False)

    def report(batches: Iterator[set[tuple[Change, str]]], *, is_whole: bool) -> None:
        for batch in batches:
            kept = _kept(sorted({_relative(path, prefix) for _, path in batch}), keep)
            if kept:
                from_thread.run_sync(on_paths, kept)
            if is_whole and not is_limit_reached():
                continue  # the library itself watches new folders, unless it cannot: and that it keeps to itself
            if any(kind == _ADDED and Path(path).is_dir() for kind, path in batch):
                if is_whole:
                    raise OSError(errno.ENOSPC, "a new folder is not watched")
                return

    try:
        await run_stoppable(follow, stop, limiter=CapacityLimiter(math.inf))
    except (OSError, RuntimeError, ValueError) as error:  # the library's own error is a RuntimeError
        raise _failure(error) from error


def open_watch(stop: StopFlag, paths: Sequence[Path], *, recursive: bool) -> Iterator[set[tuple[Change, str]]]:
    """Begin to watch folders; gives batches of changes until `stop`."""
    from watchfiles import watch

    return watch(
        *paths,
        watch_filter=None,
        debounce=DEBOUNCE_MS,
        step=STEP_MS,
        rust_timeout=_NEVER_MS,
        stop_event=stop,
        force_polling=False,
        recursive=recursive,
        # True would end the library's own walk at the first folder that may not be read, or at the limit, and say
        # nothing (measured: 16 of 61 folders watched).
        ignore_permission_denied=False,
    )


def _readable_folders(root: Path, keep: Keep) -> list[Path]:
    """Find the folders whose events matter and may be had: a single other one makes the library refuse a whole tree."""
    found: list[Path] = []
    waiting = [(root, "")]
    while waiting:
        folder, rel = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        found.append(folder)
        below = [(folder / name, join(rel, encode_path(os.fsencode(name)))) for name in names]
        waiting.extend((path, one) for path, one in below if keep(join(one, "x")))
    return found


def _kept(paths: Sequence[str], keep: Keep) -> list[str]:
    """Give the paths that matter, with the root where so many came at once that some may be missing."""
    kept = [path for path in paths if keep(path)]
    return [*kept, ""] if len(paths) > FLOOD_PATHS and "" not in kept else kept


def _relative(path: str, prefix: bytes) -> str:
    return encode_path(os.fsencode(path).removeprefix(prefix)) if os.fsencode(path) != prefix[:-1] else ""


def _failure(error: Exception) -> WatchFailedError:
    words = str(error).lower()
    if getattr(error, "errno", None) in _LIMIT_ERRNOS or any(word in words for word in _LIMIT_WORDS):
        return WatchFailedError("the system's limit of watched folders is reached", is_lasting=True)
    return WatchFailedError(f"the file watch failed: {error}")
