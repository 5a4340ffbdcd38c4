"""The one thread that writes an index, and the news of what it wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

from services.indexer.adapters.store import IndexStore
from shared.bus import Bus
from shared.errors import ErrorDetails
from shared.identity import InstanceId
from shared.messages import IndexCommitted
from shared.subjects import INDEX_COMMITTED

T = TypeVar("T")


class IndexWriter:
    """Runs every call on the index on one thread at a time and tells, in process and on the bus, what was committed."""

    def __init__(self, instance: InstanceId, store: IndexStore, bus: Bus) -> None:
        self.instance = instance
        self.store = store
        self.commits = 0
        self.stalled: ErrorDetails | None = None  # what stops the work now
        self._bus = bus
        self._thread = CapacityLimiter(1)
        self._changed = anyio.Event()

    async def call(self, function: Callable[[], T]) -> T:
        """Run `function` on the writer's thread."""
        return await to_thread.run_sync(function, limiter=self._thread)

    async def write(self, change: Callable[[], T]) -> T:
        """Run `change` in a transaction of its own."""

        def in_transaction() -> T:
            with self.store.transaction():
                return change()

        return await self.call(in_transaction)

    async def committed(self) -> None:
        """Tell whoever waits or mirrors that the index moved on."""
        self.commits += 1
        self.tell()
        seq, epoch = await self.call(lambda: (self.store.seq, self.store.epoch))
        await self._bus.publish(INDEX_COMMITTED, IndexCommitted(instance=self.instance, seq=seq, epoch=epoch))

    def tell(self) -> None:
        """Wake whoever waits for a change."""
        self._changed.set()
        self._changed = anyio.Event()

    async def changed(self) -> None:
        """Wait for the next change."""
        await self._changed.wait()
