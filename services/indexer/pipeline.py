"""One tree's way from touched paths to vectors: two loops over one writer.

The text loop handles touched paths, live before bulk, and commits the text lane at once. The embed loop asks for what
lacks a vector, most urgent first, and commits vectors on their own. Both meet only in the database.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeVar

import anyio
import structlog
from anyio import CapacityLimiter, to_thread
from anyio.abc import TaskGroup
from structlog.typing import FilteringBoundLogger

from services.indexer.adapters.store import IndexCounts, IndexStore
from services.indexer.adapters.text_lane import BATCH_DOCUMENTS, TextLane
from services.indexer.core.backoff import ATTEMPTS_ALONE, retry_after_s
from services.indexer.core.embedplan import (
    BULK,
    BULK_REQUEST_TOKENS,
    LIVE,
    LIVE_REQUEST_TOKENS,
    REQUESTS_IN_FLIGHT,
    MissingText,
    pack,
)
from shared.bus import Bus
from shared.errors import ErrorCode, ErrorDetails, KxError
from shared.identity import InstanceId, TextHash
from shared.messages import (
    EmbedTexts,
    IndexCommitted,
    IndexProgress,
    TextItem,
    TextsEmbedded,
    Upto,
    Urgency,
    VectorItem,
)
from shared.subjects import EMBED, INDEX_COMMITTED
from shared.model import DIM
from shared.vectors import check_vector_bytes

T = TypeVar("T")

# Paths waiting to be handled; beyond, the sender is told to come back (its dirty set is the real queue).
QUEUED_PATHS = 50_000
EMBED_TIMEOUT_S = 60.0  # a request is half a second of work, but a cold session folds its weights first
EMBED_WINDOW = 256  # texts looked at together, so that texts of like length can share a run
COUNTS_KEPT_S = 0.2  # progress is asked several times a second; counting distinct texts costs milliseconds

_log: FilteringBoundLogger = structlog.get_logger()


class ProjectPipeline:
    """The indexer of one tree; `run` it in a task group, feed it with `touch`."""

    def __init__(
        self,
        instance: InstanceId,
        store: IndexStore,
        lane: TextLane,
        *,
        bus: Bus,
        model_id: str,
        wall_clock_ns: Callable[[], int],
    ) -> None:
        self._instance = instance
        self._store = store
        self._lane = lane
        self._bus = bus
        self._model_id = model_id
        self._wall_clock_ns = wall_clock_ns
        self._writer = CapacityLimiter(1)
        self._queues: dict[Urgency, dict[str, None]] = {"live": {}, "bulk": {}}
        self._in_hand = 0
        self._in_flight: set[TextHash] = set()
        self._slots = anyio.Semaphore(REQUESTS_IN_FLIGHT)
        self._touched = anyio.Event()
        self._wanted = anyio.Event()
        self._changed = anyio.Event()
        self._counts: IndexCounts | None = None
        self._counted_at = -math.inf
        self._text_done = self._bytes_done = self._embedded = self._failures_in_a_row = 0
        self._stalled: ErrorDetails | None = None

    async def run(self) -> None:
        """Work until cancelled; the caller closes the store afterwards."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._text_loop)
            tasks.start_soon(self._embed_loop)

    def touch(self, paths: Sequence[str], urgency: Urgency) -> int:
        """Queue paths; a path already waiting is not queued twice, and a live touch overtakes a bulk one.

        Raises:
            KxError: INDEX_BUSY (retryable) when the queue is full; none of the paths was taken then.
        """
        if self.text_pending + len(paths) > QUEUED_PATHS:
            raise KxError(
                ErrorCode.INDEX_BUSY,
                "{count} paths are waiting to be indexed already",
                hint="announce these again in a moment",
                retryable=True,
                count=self.text_pending,
            )
        queue, other = self._queues[urgency], self._queues["bulk" if urgency == "live" else "live"]
        for path in paths:
            if urgency == "live":
                other.pop(path, None)
            if path not in other:
                queue[path] = None
        self._touched.set()
        return self.text_pending

    @property
    def text_pending(self) -> int:
        """Paths waiting or in hand."""
        return len(self._queues["live"]) + len(self._queues["bulk"]) + self._in_hand

    async def progress(self, until: Upto | None, wait_ms: int) -> IndexProgress:
        """Say how far the work is, once `until` is reached or `wait_ms` are over."""
        with anyio.move_on_after(wait_ms / 1000):
            while until is not None and not await self._reached(until):
                await self._changed.wait()
        return await self._progress()

    async def begin_rebuild(self) -> int:
        """Build a new epoch beside the one that answers."""
        epoch = await self._write(self._store.begin_rebuild)
        await self._committed()
        return epoch

    async def finish_rebuild(self, epoch: int) -> None:
        """Take note that the whole tree has been announced to `epoch`."""
        await self._write(lambda: self._store.mark_announced(epoch))
        await self._swap_when_complete()

    async def prioritise(self, texts: Sequence[TextHash]) -> None:
        """Embed these texts next."""
        await self._write(lambda: self._store.embeddings(self._store.epoch).prioritise(texts))
        self._counts = None
        self._wanted.set()

    async def retry_failed(self) -> None:
        """Try everything again that was set aside."""
        await self._write(lambda: self._store.embeddings(self._store.epoch).forget_failures())
        self._counts = None
        self._wanted.set()

    # --- text ---------------------------------------------------------------------------------------------------

    async def _text_loop(self) -> None:
        while True:
            urgency: Urgency = "live" if self._queues["live"] else "bulk"
            if self._queues[urgency]:
                await self._handle_some(urgency)
            else:
                await self._swap_when_complete()
                self._touched = anyio.Event()
                if not self.text_pending:
                    await self._touched.wait()

    async def _handle_some(self, urgency: Urgency) -> None:
        queue = self._queues[urgency]
        paths = list(islice(queue, 1)) if urgency == "live" else list(islice(queue, BATCH_DOCUMENTS))
        for path in paths:
            del queue[path]
        self._in_hand = len(paths)
        try:
            handled = await self._on_writer(lambda: self._lane.handle(paths, urgency))
        except KxError as error:
            self._put_back(queue, paths)
            await self._pause_after(error)
            return
        finally:
            self._in_hand = 0
        self._put_back(queue, [*paths[handled.paths :]])
        for path in handled.unstable:
            queue[path] = None
        self._stalled, self._failures_in_a_row = None, 0
        self._text_done += handled.paths - len(handled.unstable)
        self._bytes_done += handled.source_bytes
        await self._committed()
        self._wanted.set()

    def _put_back(self, queue: dict[str, None], paths: Sequence[str]) -> None:
        if paths:
            waiting = dict(queue)
            queue.clear()
            queue.update(dict.fromkeys(paths))
            queue.update(waiting)

    async def _pause_after(self, error: KxError) -> None:
        _log.warning("text.stalled", instance=self._instance, error_code=error.code, message=str(error))
        self._stalled = error.details()
        self._failures_in_a_row += 1
        self._tell()
        await anyio.sleep(retry_after_s(self._failures_in_a_row))

    # --- vectors ------------------------------------------------------------------------------------------------

    async def _embed_loop(self) -> None:
        async with anyio.create_task_group() as requests:
            while True:
                self._wanted = anyio.Event()
                texts = await self._next_missing()
                if not texts:
                    with anyio.move_on_after(retry_after_s(ATTEMPTS_ALONE)):
                        await self._wanted.wait()
                    continue
                await self._embed_all(requests, texts)

    async def _next_missing(self) -> list[MissingText]:
        limit = EMBED_WINDOW + len(self._in_flight)
        now_ns = self._wall_clock_ns()
        texts = await self._on_writer(lambda: self._store.next_missing(limit, now_ns=now_ns))
        # The text lane first: words are searchable in seconds, and both cores are needed for them.
        least = LIVE if self._queues["bulk"] else BULK
        return [text for text in texts if text.text_hash not in self._in_flight and text.urgency <= least]

    async def _embed_all(self, requests: TaskGroup, texts: Sequence[MissingText]) -> None:
        budget = BULK_REQUEST_TOKENS if texts[0].urgency == BULK else LIVE_REQUEST_TOKENS
        for group in pack(texts, budget):
            await self._slots.acquire()
            self._in_flight.update(text.text_hash for text in group)
            requests.start_soon(self._embed_group, group)
            if group[0].urgency > LIVE and await self._something_more_urgent(group[0].urgency):
                return

    async def _something_more_urgent(self, urgency: int) -> bool:
        return await self._on_writer(lambda: self._store.embeddings(self._store.epoch).more_urgent_than(urgency))

    async def _embed_group(self, group: Sequence[MissingText]) -> None:
        message = EmbedTexts(
            model_id=self._model_id,
            items=tuple(TextItem(text_hash=text.text_hash, text=text.text) for text in group),
        )
        try:
            reply = await self._bus.request(EMBED, message, timeout_s=EMBED_TIMEOUT_S)
        except KxError as error:
            await self._wait_for_embedder(error)
        else:
            self._stalled, self._failures_in_a_row = None, 0
            await self._keep(group, reply)
        finally:
            self._in_flight.difference_update(text.text_hash for text in group)
            self._slots.release()
            self._wanted.set()

    async def _wait_for_embedder(self, error: KxError) -> None:
        self._stalled = error.details()
        self._failures_in_a_row += 1
        _log.warning("embedding.stalled", instance=self._instance, error_code=error.code, message=str(error))
        self._tell()
        await anyio.sleep(retry_after_s(self._failures_in_a_row))

    async def _keep(self, group: Sequence[MissingText], reply: TextsEmbedded) -> None:
        asked = {text.text_hash for text in group}
        good = [item for item in reply.items if item.text_hash in asked and self._is_sound(item)]
        bad = asked.difference(item.text_hash for item in good)
        now_ns = self._wall_clock_ns()
        await self._write(lambda: self._store.keep_vectors(good, bad, now_ns=now_ns))
        self._embedded += len(good)
        await self._committed()
        await self._swap_when_complete()

    def _is_sound(self, item: VectorItem) -> bool:
        flaw = check_vector_bytes(item.vector, DIM)
        if flaw is not None:
            _log.warning("vector.refused", instance=self._instance, flaw=flaw)
        return flaw is None

    # --- both ---------------------------------------------------------------------------------------------------

    async def _swap_when_complete(self) -> None:
        if self.text_pending:
            return
        building = await self._on_writer(lambda: self._store.building)
        if building and await self._write(self._store.swap_if_complete):
            self._counts = None
            await self._committed()

    async def _reached(self, until: Upto) -> bool:
        if self.text_pending:
            return False
        counts = await self._count()
        building = await self._on_writer(lambda: self._store.building)
        return not building and (until == "text" or counts.missing <= counts.failed)

    async def _progress(self) -> IndexProgress:
        counts = await self._count()
        epoch, building = await self._on_writer(lambda: (self._store.epoch, self._store.building))
        asked = await self._on_writer(lambda: self._store.embeddings(epoch).asked_left())
        return IndexProgress(
            text_pending=self.text_pending,
            documents=counts.documents,
            chunks=counts.chunks,
            vectors_ready=counts.texts - counts.missing,
            vectors_missing=counts.missing,
            texts_failed=counts.failed,
            text_done=self._text_done,
            bytes_done=self._bytes_done,
            embedded=self._embedded,
            rebuilding=bool(building),
            priority_missing=asked,
            stalled=self._stalled,
        )

    async def _count(self) -> IndexCounts:
        now = anyio.current_time()
        counts = self._counts
        if counts is None or now - self._counted_at > COUNTS_KEPT_S:
            counts = await self._on_writer(lambda: self._store.counts(self._store.building or self._store.epoch))
            self._counts, self._counted_at = counts, now
        return counts

    async def _committed(self) -> None:
        self._tell()
        seq, epoch = await self._on_writer(lambda: (self._store.seq, self._store.epoch))
        await self._bus.publish(INDEX_COMMITTED, IndexCommitted(instance=self._instance, seq=seq, epoch=epoch))

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def _write(self, change: Callable[[], T]) -> T:
        def in_transaction() -> T:
            with self._store.transaction():
                return change()

        return await self._on_writer(in_transaction)

    async def _on_writer(self, call: Callable[[], T]) -> T:
        return await to_thread.run_sync(call, limiter=self._writer)
