"""The dirty set of one tree: noticed paths until the indexer has accepted them.

Two lanes, each with its own sender, so that a save never waits behind a large announcement in progress. Nothing is
lost when nobody answers: what was not accepted goes back to the front and is announced again.
"""

from __future__ import annotations

from collections.abc import Iterable

import anyio
import structlog
from structlog.typing import FilteringBoundLogger

from services.watcher.core.batches import batches
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.messages import PathsTouched, Urgency
from shared.subjects import TOUCHED

FIRST_RETRY_S, MAX_RETRY_S = 0.2, 5.0  # doubling; a full queue empties thousands of paths a second
# Nobody answers (a restart, a lost bus): these are no one's fault, and the trouble to show is the other service's own.
_AWAY = {ErrorCode.SERVICE_UNAVAILABLE, ErrorCode.BUS_UNAVAILABLE, ErrorCode.TIMEOUT, ErrorCode.INDEX_BUSY}

_log: FilteringBoundLogger = structlog.get_logger()


class Announcer:
    """Announces one tree's paths; `run` it in a task group, feed it with `put`."""

    def __init__(self, bus: Bus, instance: InstanceId) -> None:
        self._bus = bus
        self._instance = instance
        self._lanes: dict[Urgency, _Lane] = {"live": _Lane(), "bulk": _Lane()}
        self._retry = anyio.Event()

    @property
    def held(self) -> int:
        """Paths not yet accepted."""
        return sum(len(lane.waiting) + lane.in_flight for lane in self._lanes.values())

    @property
    def trouble(self) -> str:
        """Why the indexer refuses them, "" while it takes them or is merely away."""
        return next((lane.trouble for lane in self._lanes.values() if lane.trouble), "")

    def put(self, paths: Iterable[str], urgency: Urgency, reason: str) -> None:
        """Add paths; one that waits is not added twice, and a live one overtakes its bulk announcement."""
        lane, other = self._lanes[urgency], self._lanes["bulk" if urgency == "live" else "live"]
        for path in paths:
            if urgency == "live":
                other.waiting.pop(path, None)
            if path not in other.waiting:
                lane.waiting.setdefault(path, reason)
        lane.tell()
        other.tell()

    def clear(self) -> None:
        """Forget what waits: the tree it was about is gone."""
        for lane in self._lanes.values():
            lane.waiting.clear()
            lane.tell()

    def retry_now(self) -> None:
        """Do not wait out a pause: the indexer is there again."""
        self._retry.set()
        self._retry = anyio.Event()

    async def accepted(self) -> None:
        """Wait until each lane was empty once: all that was put before is accepted."""
        for lane in self._lanes.values():
            while lane.waiting or lane.in_flight:
                await lane.changed.wait()

    async def run(self) -> None:
        """Announce until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._send_all, "live")
            tasks.start_soon(self._send_all, "bulk")

    async def _send_all(self, urgency: Urgency) -> None:
        lane = self._lanes[urgency]
        pause_s = FIRST_RETRY_S
        while True:
            while not lane.waiting:
                await lane.changed.wait()
            refusal = await self._send(lane, urgency)
            lane.tell()
            if refusal is None:
                pause_s = FIRST_RETRY_S
                continue
            lane.trouble = "" if refusal.code in _AWAY else str(refusal)
            _log.debug("touch.refused", instance=self._instance, error_code=refusal.code.value, held=self.held)
            with anyio.move_on_after(FIRST_RETRY_S if refusal.code is ErrorCode.INDEX_BUSY else pause_s):
                await self._retry.wait()
            pause_s = min(pause_s * 2, MAX_RETRY_S)

    async def _send(self, lane: _Lane, urgency: Urgency) -> KxError | None:
        batch = {path: lane.waiting.pop(path) for path in next(batches(lane.waiting))}
        reason = next(iter(batch.values()))
        lane.in_flight = len(batch)
        try:
            message = PathsTouched(instance=self._instance, paths=tuple(batch), urgency=urgency, reason=reason)
            await self._bus.request(TOUCHED, message)
        except KxError as refusal:
            lane.waiting = batch | lane.waiting
            return refusal
        finally:
            lane.in_flight = 0
        lane.trouble = ""
        return None


class _Lane:
    """Paths of one urgency, oldest first, each with what noticed it."""

    def __init__(self) -> None:
        self.waiting: dict[str, str] = {}
        self.in_flight = 0
        self.trouble = ""
        self.changed = anyio.Event()

    def tell(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()
