"""From missing texts to vectors: most urgent first, two requests on their way, what fails is remembered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import anyio
import structlog
from anyio.abc import TaskGroup
from structlog.typing import FilteringBoundLogger

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
from services.indexer.writer import IndexWriter
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.identity import TextHash, text_hash
from shared.messages import EmbedTexts, TextItem, TextsEmbedded, VectorItem
from shared.model import DIM
from shared.subjects import EMBED
from shared.vectors import check_vector_bytes

EMBED_TIMEOUT_S = 60.0  # a request is half a second of work, but a cold session folds its weights first
HARMLESS_TEXT = "kx"
# What an embedder says, or does not say, that dies of a text or hangs on it. One that is away answers alike: see below.
_MAY_BE_THE_TEXT = frozenset({ErrorCode.TIMEOUT, ErrorCode.EMBEDDER_FAILED, ErrorCode.SERVICE_UNAVAILABLE})
EMBED_WINDOW = 256  # texts looked at together, so that texts of like length can share a run

_log: FilteringBoundLogger = structlog.get_logger()


class EmbedFlow:
    """The loop that asks for what lacks a vector; the queue is the `missing` table."""

    def __init__(
        self,
        writer: IndexWriter,
        bus: Bus,
        *,
        model_id: str,
        wall_clock_ns: Callable[[], int],
        is_text_first: Callable[[], bool],
        waits_to_be_asked: bool = False,
    ) -> None:
        self.embedded = 0  # texts
        self._writer = writer
        self._bus = bus
        self._model_id = model_id
        self._wall_clock_ns = wall_clock_ns
        self._is_text_first = is_text_first
        self._in_flight: set[TextHash] = set()
        self._suspects: set[TextHash] = set()  # the embedder failed on a request that held them
        self._slots = anyio.Semaphore(REQUESTS_IN_FLIGHT)
        self._wanted = anyio.Event()
        self._asked = anyio.Event()
        if not waits_to_be_asked:
            self._asked.set()
        self._failures_in_a_row = 0

    def ask(self) -> None:
        """Somebody waits for vectors: begin, where the flow was told to wait for that."""
        self._asked.set()

    def wake(self) -> None:
        """Look at the queue now."""
        self._wanted.set()

    async def run(self, stored: Callable[[], Awaitable[None]]) -> None:
        """Embed for ever; `stored` is awaited after each commit of vectors."""
        await self._asked.wait()
        async with anyio.create_task_group() as requests:
            while True:
                self._wanted = anyio.Event()
                try:
                    texts = await self._next_missing()
                    if texts:
                        await self._embed_all(requests, texts, stored)
                        continue
                except KxError as error:
                    await self._pause_after(error)
                with anyio.move_on_after(retry_after_s(ATTEMPTS_ALONE)):
                    await self._wanted.wait()

    async def _next_missing(self) -> list[MissingText]:
        if not await self._writer.has_room():
            return []
        limit = EMBED_WINDOW + len(self._in_flight)
        now_ns = self._wall_clock_ns()
        texts = await self._writer.call(lambda: self._writer.store.next_missing(limit, now_ns=now_ns))
        # The text lane first: words are searchable in seconds, and every core is needed for them.
        least = LIVE if self._is_text_first() else BULK
        return [text for text in texts if text.text_hash not in self._in_flight and text.urgency <= least]

    async def _embed_all(
        self, requests: TaskGroup, texts: Sequence[MissingText], stored: Callable[[], Awaitable[None]]
    ) -> None:
        budget = BULK_REQUEST_TOKENS if texts[0].urgency == BULK else LIVE_REQUEST_TOKENS
        for group in pack(texts, budget, alone=self._suspects):
            await self._slots.acquire()
            if group[0].urgency > LIVE and await self._must_look_again(group[0].urgency):
                self._slots.release()
                return
            self._in_flight.update(text.text_hash for text in group)
            requests.start_soon(self._embed_group, group, stored)

    async def _must_look_again(self, urgency: int) -> bool:
        if self._is_text_first():
            return True
        store = self._writer.store
        waiting = await self._writer.call(lambda: store.more_urgent(urgency))
        return not self._in_flight.issuperset(waiting)

    async def _embed_group(self, group: Sequence[MissingText], stored: Callable[[], Awaitable[None]]) -> None:
        message = EmbedTexts(
            model_id=self._model_id,
            items=tuple(TextItem(text_hash=text.text_hash, text=text.text) for text in group),
        )
        try:
            reply = await self._bus.request(EMBED, message, timeout_s=EMBED_TIMEOUT_S)
            self._writer.stalled, self._failures_in_a_row = None, 0
            self._suspects.difference_update(text.text_hash for text in group)
            await self._keep(group, reply)
            await stored()
        except KxError as error:
            await self._pause_after(error)
            if error.code in _MAY_BE_THE_TEXT and await self._is_embedder_well():
                await self._suspect(group, error, stored)
        finally:
            self._in_flight.difference_update(text.text_hash for text in group)
            self._slots.release()
            self._wanted.set()

    async def _suspect(
        self, group: Sequence[MissingText], error: KxError, stored: Callable[[], Awaitable[None]]
    ) -> None:
        """One of these texts is what a sound embedder failed on: send each alone; one that was alone has failed."""
        self._suspects.update(text.text_hash for text in group)
        if len(group) > 1:
            return
        try:
            now_ns = self._wall_clock_ns()
            bad = [group[0].text_hash]
            await self._writer.write(lambda: self._writer.store.keep_vectors([], bad, code=error.code, now_ns=now_ns))
            self._writer.stalled, self._failures_in_a_row = None, 0
            await stored()
        except KxError as told:
            await self._pause_after(told)

    async def _is_embedder_well(self) -> bool:
        """Tell an embedder that fails on a text from one that is away: a harmless text shows it."""
        message = EmbedTexts(
            model_id=self._model_id, items=(TextItem(text_hash=text_hash(HARMLESS_TEXT), text=HARMLESS_TEXT),)
        )
        try:
            await self._bus.request(EMBED, message, timeout_s=EMBED_TIMEOUT_S)
        except KxError:
            return False
        return True

    async def _pause_after(self, error: KxError) -> None:
        self._writer.stalled = error.details()
        self._failures_in_a_row += 1
        _log.warning("embedding.stalled", instance=self._writer.instance, error_code=error.code, message=str(error))
        self._writer.tell()
        await anyio.sleep(retry_after_s(self._failures_in_a_row, error.code))

    async def _keep(self, group: Sequence[MissingText], reply: TextsEmbedded) -> None:
        asked = {text.text_hash for text in group}
        good = [item for item in reply.items if item.text_hash in asked and self._is_sound(item)]
        bad = asked.difference(item.text_hash for item in good)
        now_ns = self._wall_clock_ns()
        await self._writer.write(lambda: self._writer.store.keep_vectors(good, bad, now_ns=now_ns))
        self.embedded += len(good)

    def _is_sound(self, item: VectorItem) -> bool:
        flaw = check_vector_bytes(item.vector, DIM)
        if flaw is not None:
            _log.warning("vector.refused", instance=self._writer.instance, flaw=flaw)
        return flaw is None
