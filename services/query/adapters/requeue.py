"""Tell the indexer of files that an answer found changed under it: an event that was lost is found by whoever asks.

It tells what it saw and waits for nobody. Whatever is not taken is dropped: the next answer sees it again.
"""

from __future__ import annotations

from collections.abc import Iterable

import anyio
import structlog
from structlog.typing import FilteringBoundLogger

from shared.bus import Bus
from shared.errors import KxError
from shared.identity import InstanceId
from shared.messages import PathsTouched
from shared.subjects import TOUCHED

PATHS_AT_ONCE = 32  # of one announcement, and as many wait: a tree that is behind has its own queue at the watcher
PAUSE_S = 0.5  # between two announcements
TOLD_S = 10.0  # a path is not told again for as long; the indexer has it, or is not there

_log: FilteringBoundLogger = structlog.get_logger()


class Requeue:
    """The few changed paths of the last answers; `run` it in a task group, feed it with `put`."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._waiting: dict[tuple[InstanceId, str], None] = {}
        self._told: dict[tuple[InstanceId, str], float] = {}  # when, oldest first
        self._added = anyio.Event()

    def put(self, instance: InstanceId, paths: Iterable[str]) -> None:
        """Have paths looked at soon; those told a moment ago, and more than a few, are left out."""
        self._forget_old(anyio.current_time())
        for path in paths:
            if len(self._waiting) < PATHS_AT_ONCE and (instance, path) not in self._told:
                self._waiting[instance, path] = None
                self._added.set()

    async def run(self) -> None:
        """Announce until cancelled."""
        while True:
            await self._added.wait()
            self._added = anyio.Event()
            now = anyio.current_time()
            waiting, self._waiting = self._waiting, {}
            self._told |= dict.fromkeys(waiting, now)
            for instance in dict.fromkeys(instance for instance, _ in waiting):
                await self._tell(instance, tuple(path for of, path in waiting if of == instance))
            await anyio.sleep(PAUSE_S)

    async def _tell(self, instance: InstanceId, paths: tuple[str, ...]) -> None:
        message = PathsTouched(instance=instance, paths=paths, urgency="live", reason="answer")
        try:
            await self._bus.request(TOUCHED, message)
        except KxError as error:  # nobody indexes, or it is full: who shows the tree is behind says so
            _log.debug("requeue.refused", instance=instance, error_code=error.code.value)

    def _forget_old(self, now: float) -> None:
        while self._told:
            oldest = next(iter(self._told))
            if self._told[oldest] > now - TOLD_S:
                return
            del self._told[oldest]
