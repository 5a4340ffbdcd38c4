"""Tell what an index holds: status, listings, and the manifest a walk is compared with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio.to_thread
from anyio import CapacityLimiter
from msgspec import Struct

from services.query.adapters.facts import FactsCache, IndexFacts
from services.query.adapters.index_view import Counts, counts_of, listing_page, manifest_page
from services.query.adapters.lag import lag_of
from services.query.adapters.projects import Projects, SearchProject
from services.query.adapters.reader import IndexReaders, Snapshot, index_bytes
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.messages import (
    ListingPage,
    ListingRequest,
    ManifestPage,
    ManifestRequest,
    ProjectState,
    StatusReply,
    StatusRequest,
)

STATUS_LIMIT_S = 5.0  # counting distinct texts of half a million chunks takes a second
MAX_LISTED = 2_000
MAX_NAMED = 5
MAX_MANIFEST = 4_000

T = TypeVar("T")


class Stock(Struct, frozen=True, kw_only=True):
    """One look at an index; without facts nothing was ever indexed."""

    project: SearchProject
    index_bytes: int
    facts: IndexFacts | None = None
    counts: Counts = Counts(by_kind={}, skipped={}, failed=(), failures_not_named=0, texts=0, waiting={})


class Inventory:
    """Answers what an index holds; idempotent, reads only."""

    def __init__(self, bus: Bus, projects: Projects, readers: IndexReaders, facts: FactsCache) -> None:
        self._bus = bus
        self._projects = projects
        self._readers = readers
        self._facts = facts
        self._threads = CapacityLimiter(4)

    async def status(self, request: StatusRequest) -> StatusReply:
        """Count what the answering epoch holds.

        Raises:
            KxError: PROJECT_UNKNOWN, CONFIG_*, INDEX_FOREIGN, INDEX_NEWER, INDEX_DAMAGED.
        """
        stock = await self._blocking(partial(self._stock, request.instance))
        lag = await lag_of(self._bus, request.instance)
        counts, facts = stock.counts, stock.facts
        missing = facts.pending if facts is not None else 0
        return StatusReply(
            project=stock.project.name,
            root=stock.project.shown_root,
            state=_state(stock, behind=lag.text),
            documents=sum(counts.by_kind.values()),
            chunks=facts.chunks if facts is not None else 0,
            by_kind=counts.by_kind,
            vectors_ready=counts.texts - (facts.missing if facts is not None else 0),
            vectors_missing=missing,
            skipped=counts.skipped,
            failed=counts.failed,
            model_id=facts.model_id if facts is not None else "",
            index_bytes=stock.index_bytes,
            epoch=facts.epoch if facts is not None else 0,
            seq=facts.seq if facts is not None else 0,
            notes=_notes(counts, behind=lag.text, lag_note=lag.note),
        )

    async def listing(self, request: ListingRequest) -> ListingPage:
        """Give a page of a listing."""
        limit = max(1, min(request.limit, MAX_LISTED))
        read = partial(listing_page, listing=request.listing, after=request.after, limit=limit)
        page = await self._blocking(partial(self._read, request.instance, read))
        return page or ListingPage(rows=(), complete=True)

    async def manifest(self, request: ManifestRequest) -> ManifestPage:
        """Give a page of the known entries; an index that is not there, or is damaged, knows none.

        Whoever compares finds everything new then, and the indexer looks at the file before it writes.
        """
        limit = max(1, min(request.limit, MAX_MANIFEST))
        read = partial(manifest_page, after=request.after, limit=limit)
        try:
            page = await self._blocking(partial(self._read, request.instance, read))
        except KxError as error:
            if error.code != ErrorCode.INDEX_DAMAGED:
                raise
            page = None
        return page or ManifestPage(entries=(), complete=True)

    def _stock(self, instance: InstanceId) -> Stock:
        project = self._projects.get(instance)

        def look(snapshot: Snapshot) -> Stock:
            return Stock(
                project=project,
                index_bytes=index_bytes(project.index),
                facts=self._facts.of(instance, snapshot),
                counts=counts_of(snapshot),
            )

        nothing = Stock(project=project, index_bytes=index_bytes(project.index))
        return self._read(instance, look) or nothing

    def _read(self, instance: InstanceId, look: Callable[[Snapshot], T]) -> T | None:
        project = self._projects.get(instance)
        try:
            with self._readers.snapshot(project.index, instance, limit_s=STATUS_LIMIT_S) as snapshot:
                return look(snapshot)
        except KxError as error:
            if error.code == ErrorCode.INDEX_MISSING:
                return None
            raise

    async def _blocking(self, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, limiter=self._threads)


def _state(stock: Stock, *, behind: int) -> ProjectState:
    if not stock.project.is_root_there:
        return "root_missing"
    facts = stock.facts
    if facts is None or facts.epoch == 0:
        return "not_indexed"
    if facts.building:
        return "rebuilding"
    return "indexing" if facts.pending or behind else "ready"


def _notes(counts: Counts, *, behind: int, lag_note: str) -> tuple[str, ...]:
    notes = [f"{count} texts wait to be embedded again after {code}" for code, count in counts.waiting.items()]
    if counts.failures_not_named:
        notes.append(f"{counts.failures_not_named} more failed; a listing of the failed names them all")
    if counts.without_structure:
        named = ", ".join(counts.without_structure[:MAX_NAMED])
        notes.append(f"{len(counts.without_structure)} documents are cut by form alone, their parser died: {named}")
    if counts.cut:
        named = ", ".join(counts.cut[:MAX_NAMED])
        notes.append(f"{len(counts.cut)} documents are indexed in part, the rest is too long or unreadable: {named}")
    if behind:
        notes.append(f"{behind} paths changed on disk and are not yet in the index")
    return (*notes, *((lag_note,) if lag_note else ()))
