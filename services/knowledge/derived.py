"""What follows from the databases: the derived trees, and who searches them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import anyio
import structlog
from anyio import to_thread
from structlog.typing import FilteringBoundLogger

from services.knowledge.adapters.shelf import Shelf
from services.knowledge.desk import Desk
from services.knowledge.indexing import Indexing
from services.knowledge.memory import MEMORY_TREE, Memory, MemoryTexts, trees_of
from services.knowledge.mirror import SpaceMirror, SpaceTexts, compare_spaces
from services.knowledge.recall import Recall
from services.knowledge.search import KnowledgeSearch
from services.knowledge.trees import Source, Trees
from shared.bus import Bus
from shared.errors import KxError
from shared.settings import Settings

_log: FilteringBoundLogger = structlog.get_logger()


class Derived:
    """The trees of a home and who asks them; belongs to one event loop."""

    def __init__(self, bus: Bus, settings: Settings, desk: Desk, now: Callable[[], datetime]) -> None:
        self._settings = settings
        self._desk = desk
        self._trees = Trees(Shelf(settings), Indexing(bus), self._source_of)
        self.memory = Memory(desk, self._trees, now)
        self.search = KnowledgeSearch(bus, desk, self._trees)
        self.recall = Recall(bus, desk, self._trees, self.memory, self.search)
        self._space_texts, self._memory_texts = SpaceTexts(desk), MemoryTexts(self.memory)
        desk.mirror = SpaceMirror(self._trees)

    async def compare(self, *, thorough: bool) -> None:
        """Make every tree equal to its database; what keeps one from it keeps nobody from being answered."""
        await self.memory.sweep()
        try:
            memories = trees_of(await to_thread.run_sync(self.memory.keys))
            await self._trees.start(memories, lambda tree: tree.startswith(MEMORY_TREE), thorough=thorough)
            if self._settings.knowledge:
                await compare_spaces(self._trees, self._desk, thorough=thorough)
        except KxError as error:
            _log.warning("trees.not_compared", error_code=error.code.value)

    async def keep(self) -> None:
        """Compare all trees once, byte by byte; then see to what has ended and what is left to erase, for ever."""
        await self.compare(thorough=True)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._trees.retry)
            tasks.start_soon(self.memory.keep_swept)

    async def settle(self) -> None:
        """Wait until what was written is in the index."""
        await self._trees.settle()

    def _source_of(self, tree: str) -> Source:
        return self._memory_texts if tree.startswith(MEMORY_TREE) else self._space_texts
