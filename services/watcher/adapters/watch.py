"""The operating system's events about one tree, through watchfiles: hints, of which some are lost.

A name that is not valid UTF-8 ends the library's iterator, and so does the limit of watched folders; both arrive here
as `WatchFailedError`, and whoever follows begins again. The library is given a thread: opening it walks the tree, half
a second for a thousand folders, in which the event loop would stand still.
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from anyio import CapacityLimiter, from_thread

from services.watcher.adapters.threads import StopFlag, run_stoppable
from shared.relpath import encode_path

# Within STEP_MS of silence a batch is handed over, so a save is known after 30 to 60 ms. The library wakes up as often
# even when nothing happens: 20 ms costs 0.6 % of a core for each tree.
STEP_MS = 30
DEBOUNCE_MS = 100  # the longest a batch is gathered; what belongs together is found in core/changes.py
_NEVER_MS = 3_600_000
_LIMIT_ERRNOS = {errno.ENOSPC, errno.EMFILE, errno.ENFILE}
_LIMIT_WORDS = ("os file watch limit reached", "too many open files", "no space left")

Keep = Callable[[str], bool]  # asked in the watch's own thread
OnPaths = Callable[[list[str]], None]
Watch = Callable[[Path, Keep, Callable[[], None], OnPaths], Awaitable[None]]


class WatchFailedError(Exception):
    """The library cannot go on; `is_limit` says that the system's limit of watches is reached."""

    def __init__(self, reason: str, *, is_limit: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_limit = is_limit


async def watch_tree(root: Path, keep: Keep, on_ready: Callable[[], None], on_paths: OnPaths) -> None:
    """Call `on_paths` with what changed, as paths relative to `root` ("" is the root), until cancelled.

    `on_ready` is called once changes are noticed. Both are called in the event loop.

    Raises:
        WatchFailedError: the library gave up; changes since its last report may be lost.
    """
    # The library asks at every step whether to stop: being asked for the first time means that it has opened the tree.
    stop = StopFlag(lambda: from_thread.run_sync(on_ready))
    prefix = os.fsencode(root).rstrip(b"/") + b"/"

    def follow() -> None:
        from watchfiles import watch

        batches = watch(
            root,
            watch_filter=None,
            debounce=DEBOUNCE_MS,
            step=STEP_MS,
            rust_timeout=_NEVER_MS,
            stop_event=stop,
            force_polling=False,
            recursive=True,
            ignore_permission_denied=True,
        )
        for batch in batches:
            paths = sorted({_relative(path, prefix) for _, path in batch})
            kept = [path for path in paths if keep(path)]
            if kept:
                from_thread.run_sync(on_paths, kept)

    try:
        await run_stoppable(follow, stop, limiter=CapacityLimiter(math.inf))
    except (OSError, RuntimeError, ValueError) as error:  # the library's own error is a RuntimeError
        raise _failure(error) from error


def _relative(path: str, prefix: bytes) -> str:
    return encode_path(os.fsencode(path).removeprefix(prefix)) if os.fsencode(path) != prefix[:-1] else ""


def _failure(error: Exception) -> WatchFailedError:
    words = str(error).lower()
    is_limit = getattr(error, "errno", None) in _LIMIT_ERRNOS or any(word in words for word in _LIMIT_WORDS)
    reason = "the system's limit of watched folders is reached" if is_limit else f"the file watch failed: {error}"
    return WatchFailedError(reason, is_limit=is_limit)
