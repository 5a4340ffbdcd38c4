"""From missing texts to vectors: most urgent first, two requests on their way, what fails is remembered.

What is live has a loop and two requests of its own, so that a save never waits for bulk requests to come back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

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
from shared.messages import EmbedTexts, TextItem, TextsEmbedded, Urgency, VectorItem
from shared.model import DIM
from shared.subjects import EMBED
from shared.vectors import check_vector_bytes

EMBED_TIMEOUT_S = 60.0  # a request is half a second of work, but a cold session folds its weights first
HARMLESS_TEXT = "kx"
# What an embedder says, or does not say, that dies of a text or hangs on it. One that is away answers alike: see below.
# A request or a reply that no message holds never will be one: its texts go alone, too.
_MAY_BE_THE_TEXT = frozenset(
    {
        ErrorCode.TIMEOUT,
        ErrorCode.EMBEDDER_FAILED,
        ErrorCode.SERVICE_UNAVAILABLE,
        ErrorCode.MESSAGE_TOO_LARGE,
    }
)
EMBED_WINDOW = 256  # texts looked at together, so that texts of like length can share a run
LIVE_WINDOW = 32  # enough for one request

_log: FilteringBoundLogger = structlog.get_logger()


class _Lane:
    """Requests of one urgency."""

    def __init__(self, urgency: Urgency) -> None:
        self.urgency: Urgency = urgency
        self.slots = anyio.Semaphore(REQUESTS_IN_FLIGHT)
        self.wanted = anyio.Event()


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
        self._window: set[TextHash] = set()  # what the bulk loop goes through, without what was sent since
        self._suspects: set[TextHash] = set()  # the embedder failed on a request that held them
        self._live, self._bulk = _Lane("live"), _Lane("bulk")
        self._asked = anyio.Event()
        if not waits_to_be_asked:
            self._asked.set()
        self._failures_in_a_row = 0
        self._recovered = anyio.Event()

    def ask(self) -> None:
        """Somebody waits for vectors: begin, where the flow was told to wait for that."""
        self._asked.set()

    def wake(self) -> None:
        """Look at the queue now."""
        self._live.wanted.set()
        self._bulk.wanted.set()

    async def run(self, stored: Callable[[], Awaitable[None]]) -> None:
        """Embed for ever; `stored` is awaited after each commit of vectors."""
        await self._asked.wait()
        async with anyio.create_task_group() as requests:
            requests.start_soon(self._repeat, self._live, partial(self._send_live, requests, stored))
            requests.start_soon(self._repeat, self._bulk, partial(self._send_bulk, requests, stored))

    async def _repeat(self, lane: _Lane, send: Callable[[], Awaitable[bool]]) -> None:
        while True:
            lane.wanted = anyio.Event()
            try:
                if await send():
                    continue
            except KxError as error:
                await self._pause_after(error)
            with anyio.move_on_after(retry_after_s(ATTEMPTS_ALONE)):
                await lane.wanted.wait()

    async def _send_live(self, requests: TaskGroup, stored: Callable[[], Awaitable[None]]) -> bool:
        """Send the most urgent group, chosen when it can go: what was saved last is first."""
        await self._live.slots.acquire()
        group: tuple[MissingText, ...] = ()
        try:
            texts = [text for text in await self._missing(LIVE_WINDOW) if text.urgency <= LIVE]
            group = next(pack(texts, LIVE_REQUEST_TOKENS, alone=self._suspects), ())
        finally:
            if not group:
                self._live.slots.release()
        if group:
            self._start(requests, group, self._live, stored)
        return bool(group)

    async def _send_bulk(self, requests: TaskGroup, stored: Callable[[], Awaitable[None]]) -> bool:
        """Go through the next texts together, so that those of like length share a run."""
        if self._is_text_first():  # words are searchable in seconds, and every core is needed for them
            return False
        texts = [text for text in await self._missing(EMBED_WINDOW) if text.urgency == BULK]
        self._window = {text.text_hash for text in texts}
        for group in pack(texts, BULK_REQUEST_TOKENS, alone=self._suspects):
            await self._bulk.slots.acquire()
            left = [text for text in group if text.text_hash in self._window]  # the others became live meanwhile
            if not left or self._is_text_first():
                self._bulk.slots.release()
                continue
            self._start(requests, left, self._bulk, stored)
        return bool(texts)

    async def _missing(self, window: int) -> list[MissingText]:
        if not await self._writer.has_room():
            return []
        limit, now_ns = window + len(self._in_flight), self._wall_clock_ns()
        texts = await self._writer.call(lambda: self._writer.store.next_missing(limit, now_ns=now_ns))
        return [text for text in texts if text.text_hash not in self._in_flight]

    def _start(
        self,
        requests: TaskGroup,
        group: Sequence[MissingText],
        lane: _Lane,
        stored: Callable[[], Awaitable[None]],
    ) -> None:
        texts = {text.text_hash for text in group}
        self._in_flight |= texts
        self._window -= texts
        requests.start_soon(self._embed_group, group, lane, stored)

    async def _embed_group(
        self, group: Sequence[MissingText], lane: _Lane, stored: Callable[[], Awaitable[None]]
    ) -> None:
        message = EmbedTexts(
            model_id=self._model_id,
            items=tuple(TextItem(text_hash=text.text_hash, text=text.text) for text in group),
            urgency=lane.urgency,
        )
        try:
            reply = await self._bus.request(EMBED, message, timeout_s=EMBED_TIMEOUT_S)
            self._succeeded()
            self._suspects.difference_update(text.text_hash for text in group)
            await self._keep(group, reply)
            await stored()
        except KxError as error:
            await self._pause_after(error)
            if error.code in _MAY_BE_THE_TEXT and await self._is_embedder_well():
                await self._suspect(group, error, stored)
        finally:
            self._in_flight.difference_update(text.text_hash for text in group)
            lane.slots.release()
            self.wake()

    async def _suspect(
        self, group: Sequence[MissingText], error: KxError, stored: Callable[[], Awaitable[None]]
    ) -> None:
        """One of these texts is what a sound embedder failed on: send each alone; one sent so has failed.

        The first time it may have been away and back: nothing is held against a text that was not suspected yet.
        """
        texts = {text.text_hash for text in group}
        is_sent_alone = len(group) == 1 and texts <= self._suspects
        self._suspects |= texts
        if not is_sent_alone:
            return
        try:
            now_ns = self._wall_clock_ns()
            bad = [group[0].text_hash]
            await self._writer.write(lambda: self._writer.store.keep_vectors([], bad, code=error.code, now_ns=now_ns))
            self._succeeded()
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
        with anyio.move_on_after(retry_after_s(self._failures_in_a_row, error.code)):
            await self._recovered.wait()

    def _succeeded(self) -> None:
        """The embedder answers: nobody waits out a pause any more."""
        self._writer.stalled, self._failures_in_a_row = None, 0
        self._recovered.set()
        self._recovered = anyio.Event()

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
