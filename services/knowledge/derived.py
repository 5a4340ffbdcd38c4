"""What follows from the databases: the derived trees, and the endpoints that search them."""

from __future__ import annotations

import structlog
from structlog.typing import FilteringBoundLogger

from services.knowledge.adapters.shelf import Shelf
from services.knowledge.desk import Desk
from services.knowledge.indexing import Indexing
from services.knowledge.mirror import SpaceMirror, SpaceTexts, compare_spaces
from services.knowledge.search import KnowledgeSearch
from services.knowledge.trees import Source, Trees
from shared.bus import Bus, Endpoint
from shared.errors import KxError
from shared.settings import Settings
from shared.subjects import KNOWLEDGE_SEARCH

SEARCHES_AT_ONCE = 8

_log: FilteringBoundLogger = structlog.get_logger()


class Derived:
    """The trees of a home and who asks them; belongs to one event loop."""

    def __init__(self, bus: Bus, settings: Settings, desk: Desk) -> None:
        self._settings = settings
        self._desk = desk
        self._spaces = SpaceTexts(desk)
        self._trees = Trees(Shelf(settings), Indexing(bus), self._source_of)
        self._search = KnowledgeSearch(bus, desk, self._trees)
        desk.mirror = SpaceMirror(self._trees)

    def endpoints(self) -> tuple[Endpoint, ...]:
        """Give the endpoints that search."""
        return (Endpoint(route=KNOWLEDGE_SEARCH, handle=self._search.search, at_once=SEARCHES_AT_ONCE),)

    async def compare(self, *, thorough: bool) -> None:
        """Make every tree equal to its database; what keeps one from it keeps nobody from being answered."""
        try:
            if self._settings.knowledge:
                await compare_spaces(self._trees, self._desk, thorough=thorough)
        except KxError as error:
            _log.warning("trees.not_compared", error_code=error.code.value)

    async def keep(self) -> None:
        """Compare all trees once, byte by byte, then see to what is left to erase, for ever."""
        await self.compare(thorough=True)
        await self._trees.retry()

    async def settle(self) -> None:
        """Wait until what was written is in the index."""
        await self._trees.settle()

    def _source_of(self, tree: str) -> Source:  # noqa: ARG002
        return self._spaces
