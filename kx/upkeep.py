"""Wait until the indexer has done what was asked for an index file itself."""

from __future__ import annotations

import anyio

from shared.bus import Bus
from shared.errors import KxError
from shared.identity import InstanceId
from shared.messages import ProgressRequest
from shared.subjects import PROGRESS

LOOK_S = 0.1
LOOK_TIMEOUT_S = 60.0  # writing a large file anew holds the writer for seconds
STANDSTILL = 100  # looks, ten seconds, in which an error stopped the work


async def until_tidy(bus: Bus, instance: InstanceId) -> None:
    """Return once nothing is left to erase or to compact.

    Raises:
        KxError: what stops the work, if it does not pass.
    """
    standstill = 0
    while True:
        progress = await bus.request(PROGRESS, ProgressRequest(instance=instance), timeout_s=LOOK_TIMEOUT_S)
        if not progress.upkeep:
            return
        standstill = standstill + 1 if progress.stalled else 0
        if progress.stalled is not None and standstill >= STANDSTILL:
            raise KxError.from_details(progress.stalled)
        await anyio.sleep(LOOK_S)
