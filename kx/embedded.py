"""Composition root of the embedded mode: the services in the command's own process, on the in-memory bus.

The only module of the command that imports services; the same code answers the same messages as in a stack.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from shared.bus import Bus
from shared.bus_memory import MemoryBus
from shared.settings import Settings


@asynccontextmanager
async def embedded_bus(
    settings: Settings, *, writes: bool, mode: str, notes: bool = False, knowledge: bool = False
) -> AsyncIterator[Bus]:
    """Run the services while entered; without `writes` none that could change an index.

    `mode` names the command in the lock file, for whoever meets the lock. With `notes` it is the service of activities
    and artifacts in the place of those that search and walk; with `knowledge` that of knowledge bases and memory is
    beside them, and what it wrote is in the index once this is left.
    """
    async with AsyncExitStack() as entered:
        bus = await entered.enter_async_context(MemoryBus())
        if notes:
            from services.megabrain.service import service as megabrain

            await entered.enter_async_context(megabrain(bus, settings))
        else:
            from services.query.service import service as query
            from services.watcher.service import service as watcher

            await entered.enter_async_context(query(bus, settings))
            await entered.enter_async_context(watcher(bus, settings, follow=False))
        if writes:
            from services.embedder.service import service as embedder
            from services.indexer.service import service as indexer

            await entered.enter_async_context(embedder(bus, settings))
            await entered.enter_async_context(indexer(bus, settings, mode=mode, embeds_when_asked=True))
        if knowledge:
            from services.knowledge.service import service as knowledge_service

            await entered.enter_async_context(knowledge_service(bus, settings, is_once=True))
        yield bus
