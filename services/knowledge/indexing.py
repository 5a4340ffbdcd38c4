"""Ask watcher and indexer about a derived tree: nothing here is needed for a write to be on the disk.

Where nobody answers, the next walk finds what changed; only an erasure is asked for again until it was done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import anyio
import structlog
from structlog.typing import FilteringBoundLogger

from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.messages import (
    MAX_TOUCHED_PATHS,
    IndexProgress,
    InstanceMessage,
    Message,
    PathsTouched,
    ProgressRequest,
    ReconcileTree,
    Upto,
)
from shared.subjects import PROGRESS, PURGE, RECONCILE, TOUCHED, RequestRoute
from shared.upkeep_messages import PurgePaths

TOUCH_S = 2.0
WALK_S = 60.0
PURGE_S = 10.0
LOOK_S = 0.05
REFRESH_MS = 200
REFRESH_S = 30.0  # one large file holds the writer for seconds

Q = TypeVar("Q", bound=InstanceMessage)
R = TypeVar("R", bound=Message)

_log: FilteringBoundLogger = structlog.get_logger()


class Indexing:
    """What may be asked; every question may stay without an answer."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def touch(self, instance: InstanceId, paths: Sequence[str]) -> bool:
        """Have paths looked at now; false when the indexer was not told of all of them."""
        for batch in _batches(paths):
            message = PathsTouched(instance=instance, paths=tuple(batch), urgency="live", reason="knowledge")
            if await self._asked(TOUCHED, message, TOUCH_S) is None:
                return False
        return True

    async def reconcile(self, instance: InstanceId) -> bool:
        """Have the whole tree compared with its index, which begins one that is new; nothing is walked for nobody."""
        if await self._asked(PROGRESS, ProgressRequest(instance=instance), REFRESH_S) is None:
            return False
        return await self._asked(RECONCILE, ReconcileTree(instance=instance, urgency="live"), WALK_S) is not None

    async def wait(self, instance: InstanceId, until: Upto, *, within_s: float) -> bool:
        """Wait until the words, or the vectors too, of what was touched are in the index; tells whether they are."""
        give_up = anyio.current_time() + within_s
        while True:
            left_ms = int((give_up - anyio.current_time()) * 1000)
            message = ProgressRequest(instance=instance, until=until, wait_ms=max(0, min(left_ms, REFRESH_MS)))
            found = await self._asked(PROGRESS, message, REFRESH_S)
            if found is None or found.stalled is not None:
                return False
            if _is_done(found, until):
                return True
            if left_ms <= 0:
                return False

    async def erase(self, instance: InstanceId, folders: Sequence[str], *, within_s: float) -> bool:
        """Have every trace of some folders, and of what was removed before, taken out of the index; tells if it is."""
        with anyio.move_on_after(within_s):
            for batch in _batches(folders):
                if await self._asked(PURGE, PurgePaths(instance=instance, paths=tuple(batch)), PURGE_S) is None:
                    return False
            while (found := await self._asked(PROGRESS, ProgressRequest(instance=instance), REFRESH_S)) is not None:
                if not found.upkeep:
                    return True
                await anyio.sleep(LOOK_S)
        return False

    async def _asked(self, route: RequestRoute[Q, R], message: Q, timeout_s: float) -> R | None:
        try:
            return await self._bus.request(route, message, timeout_s=timeout_s)
        except KxError as error:
            if error.code is not ErrorCode.SERVICE_UNAVAILABLE:
                _log.warning("indexing.unanswered", instance=message.instance, error_code=error.code.value)
            return None


def _is_done(progress: IndexProgress, until: Upto) -> bool:
    return not progress.text_pending and (until == "text" or not progress.vectors_missing)


def _batches(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(paths), MAX_TOUCHED_PATHS):
        yield paths[start : start + MAX_TOUCHED_PATHS]
