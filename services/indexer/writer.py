"""The one thread that writes an index, and the news of what it wrote."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

from services.indexer.adapters.store import IndexStore
from shared.bus import Bus
from shared.errors import ErrorCode, ErrorDetails, KxError
from shared.identity import InstanceId
from shared.index_open import translated
from shared.messages import IndexCommitted
from shared.subjects import INDEX_COMMITTED

ROOM_LOOK_S = 0.5  # between two looks at a log that a reader holds

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
        self._damaged = anyio.Event()
        self._damage: KxError | None = None

    async def call(self, function: Callable[[], T]) -> T:
        """Run `function` on the writer's thread.

        Raises:
            KxError: what SQLite said, as ours; INDEX_DAMAGED also ends `damage`.
        """

        def told() -> T:
            if self._damage is not None:
                raise self._damage
            with translated(self.store.path):
                return function()

        try:
            return await to_thread.run_sync(told, limiter=self._thread)
        except KxError as error:
            if error.code is ErrorCode.INDEX_DAMAGED:
                self._damage = self._damage or error
                self._damaged.set()
            raise

    async def finish(self, function: Callable[[], None]) -> None:
        """Run what ends work in order on the writer's thread; on a damaged index there is nothing to put in order."""
        with suppress(KxError):
            await self.call(function)

    async def look_at_damage(self) -> None:
        """Read the whole file, because somebody who read it met damage.

        Raises:
            KxError: INDEX_DAMAGED.
        """
        await self.call(self.store.require_sound)

    async def abandon(self) -> None:
        """Let go of a damaged index once nobody is at it."""
        await to_thread.run_sync(self.store.abandon, limiter=self._thread)

    async def damage(self) -> KxError:
        """Wait until the index proves to be damaged."""
        await self._damaged.wait()
        assert self._damage is not None
        return self._damage

    async def has_room(self) -> bool:
        """Tell whether bulk work may make the log longer; while a reader keeps it from ending, it may not."""
        if await self.call(self.store.upkeep.has_room):
            return True
        self.stalled = KxError(
            ErrorCode.INDEX_BUSY,
            "a process reads {path} without end, its log cannot be cut; bulk work waits",
            hint="end that process: lsof {path}",
            retryable=True,
            path=self.store.path,
        ).details()
        self.tell()
        return False

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
