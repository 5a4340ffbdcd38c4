"""The last rankings: the same question of the same commit is ranked once, however many ask it.

Only the order is shared. What an answer proves on disk, and how far it says the index is behind, is its own.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, Generic, Protocol, TypeVar

import anyio
from msgspec import Struct
from msgspec.structs import replace

from services.query.adapters.facts import IndexFacts
from shared.excerpts import Snippets
from shared.identity import InstanceId
from shared.messages import SearchRequest

REMEMBERED_RANKINGS: Final = 16
"""400 kB each, most of it the texts of two hundred candidates: pages of one answer, and agents that ask the same."""

IDLE_S: Final = 60.0


class Asked(Struct, frozen=True, kw_only=True):
    """All that an order depends on."""

    request: SearchRequest  # but for what only says how much of it is shown
    facts: IndexFacts  # the commit
    project: int  # the identity of its entry and configuration, which the ranking keeps alive
    day: int  # of recency


class Rankable(Protocol):
    """What is remembered."""

    @property
    def is_whole(self) -> bool:
        """Whether the next one would be the same."""
        ...


R = TypeVar("R", bound=Rankable)


class _Underway(Generic[R]):
    """A ranking that others wait for."""

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.ranking: R | None = None  # None when it ended by an error, or its caller was cancelled


class RankingMemory(Generic[R]):
    """Belongs to one event loop."""

    def __init__(self) -> None:
        self._known: OrderedDict[Asked, R] = OrderedDict()
        self._underway: dict[Asked, _Underway[R]] = {}
        self._used_at = 0.0

    async def ranking(self, asked: Asked, make: Callable[[], Awaitable[R]]) -> tuple[R, bool]:
        """Give the ranking of a question, and whether it was made for this one; raises what `make` raises."""
        self._used_at = time.monotonic()
        while True:
            known = self._known.get(asked)
            if known is not None:
                self._known.move_to_end(asked)
                return known, False
            underway = self._underway.get(asked)
            if underway is None:
                return await self._made(asked, make), True
            await underway.ended.wait()
            if underway.ranking is not None:
                return underway.ranking, False

    def forget(self, instance: InstanceId) -> None:
        """Drop what is of an earlier commit of an index."""
        for asked in [asked for asked in self._known if asked.request.instance == instance]:
            del self._known[asked]

    def drop_idle(self, *, older_than_s: float = IDLE_S) -> None:
        """Give the memory back when nobody asked for a while."""
        if time.monotonic() - self._used_at >= older_than_s:
            self._known.clear()

    async def _made(self, asked: Asked, make: Callable[[], Awaitable[R]]) -> R:
        underway = self._underway[asked] = _Underway()
        try:
            underway.ranking = ranking = await make()
        finally:
            del self._underway[asked]
            underway.ended.set()
        if ranking.is_whole:
            self._known[asked] = ranking
            if len(self._known) > REMEMBERED_RANKINGS:
                self._known.popitem(last=False)
        return ranking


def asked_of(request: SearchRequest, facts: IndexFacts, project: object, day: int) -> Asked:
    """Leave out of a request what says how much of the order is shown, and how."""
    order = replace(request, top=1, offset=0, explain=False, snippets=Snippets(), budget=None)
    return Asked(request=order, facts=facts, project=id(project), day=day)
