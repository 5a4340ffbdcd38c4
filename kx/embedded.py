"""Composition root of the embedded mode: the services in the command's own process, on the in-memory bus.

The only module of the command that imports services; the same code answers the same messages as in a stack.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared.bus import Bus
from shared.bus_memory import MemoryBus
from shared.settings import Settings


@asynccontextmanager
async def embedded_bus(settings: Settings, *, writes: bool, mode: str) -> AsyncIterator[Bus]:
    """Run the services while entered; without `writes` none that could change an index.

    `mode` names the command in the lock file, for whoever meets the lock.
    """
    from services.query.service import service as query
    from services.watcher.service import service as watcher

    async with MemoryBus() as bus, query(bus, settings), watcher(bus, settings, follow=False):
        if not writes:
            yield bus
            return
        from services.embedder.service import service as embedder
        from services.indexer.service import service as indexer

        async with embedder(bus, settings), indexer(bus, settings, mode=mode, embeds_when_asked=True):
            yield bus
