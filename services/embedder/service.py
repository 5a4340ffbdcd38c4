"""Own the model for bulk work: texts become vectors; the session is dropped when nobody asks.

EMBED   EmbedTexts            → runs of the model, part by part, live requests first   → TextsEmbedded

A model that hangs ends this process: no thread can be taken back from native code, and whoever supervises starts another.
"""

from __future__ import annotations

import math
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Protocol, TypeVar

import anyio
import structlog
from anyio import CapacityLimiter, to_thread
from structlog.typing import FilteringBoundLogger

from services.embedder.core.parts import HALF_CHARS, WHOLE_CHARS, parts_of
from shared.bus import Bus, Endpoint, ServiceContract
from shared.errors import ErrorCode, KxError
from shared.messages import EmbedTexts, TextItem, TextsEmbedded, VectorItem
from shared.model import locate_model
from shared.runtime import EXIT_CRASHED, health_endpoint
from shared.settings import Settings
from shared.subjects import EMBED, EMBEDDER
from shared.vectors import EmbeddingMatrix, check_vectors, vector_to_bytes

IDLE_S = 120.0  # a session holds 200 to 400 MB; loading it again takes half a second
# A part is a fifth of a second of work, a cold session two: fifty seconds are a hang, and are over before who waits gives
# up. Counted in looks, so that a process that was stopped for an hour has not been at it for as long.
HANG_LOOK_S, HANG_LOOKS = 5.0, 10
LIVELY_S = 60.0  # after a live request another is likely: bulk work goes in shorter parts

T = TypeVar("T")

_log: FilteringBoundLogger = structlog.get_logger()


class BulkEncoder(Protocol):
    """What turns texts into vectors."""

    @property
    def model_id(self) -> str:
        """Name and hash of the model."""
        ...

    @property
    def dim(self) -> int:
        """Width of its vectors."""
        ...

    def encode(self, texts: Sequence[str]) -> EmbeddingMatrix:
        """Embed in the order given."""
        ...

    def close(self) -> None:
        """Free the session."""
        ...


@asynccontextmanager
async def service(
    bus: Bus,
    settings: Settings,
    *,
    open_encoder: Callable[[], BulkEncoder] | None = None,
    end: Callable[[], None] = lambda: os._exit(EXIT_CRASHED),
) -> AsyncIterator[None]:
    """Serve while entered; nothing is loaded before the first request. `end` is called when the model hangs."""
    embedder = Embedder(open_encoder or (lambda: _open_onnx(settings)))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(embedder.drop_when_idle)
        tasks.start_soon(embedder.watch_for_hang, end)
        async with bus.serve(embedder.contract()):
            yield
        tasks.cancel_scope.cancel()
    embedder.drop()


class Embedder:
    """Holds at most one session and runs one part of a request at a time on it."""

    def __init__(self, open_encoder: Callable[[], BulkEncoder]) -> None:
        self._open_encoder = open_encoder
        self._encoder: BulkEncoder | None = None
        self._model_thread = CapacityLimiter(1)
        self._last_used = 0.0
        self._running = 0
        self._bulk_turn = anyio.Lock()  # at most one bulk request stands before the model
        self._live_waiting = 0
        self._last_live = -math.inf
        self._no_live = anyio.Event()
        self._at_model = 0
        self._parts_done = 0

    def contract(self) -> ServiceContract:
        """Name what this service answers."""
        return ServiceContract(
            name=EMBEDDER,
            description="texts to MiniLM vectors",
            endpoints=(
                Endpoint(route=EMBED, handle=self.embed),
                health_endpoint(EMBEDDER),
            ),
        )

    async def embed(self, message: EmbedTexts) -> TextsEmbedded:
        """Embed all texts; one that fails alone is reported, not fatal. Idempotent by (model, text).

        Raises:
            KxError: the model cannot be used (MODEL_*), or is not the one the caller asked for (retryable: the
                process that holds the newer one is about to be restarted).
        """
        self._running += 1
        try:
            if message.urgency == "live":
                return await self._embed_live(message)
            async with self._bulk_turn:
                return await self._embed_parts(message)
        finally:
            self._running -= 1
            self._last_used = anyio.current_time()

    async def drop_when_idle(self) -> None:
        """Free the session after `IDLE_S` without a request, for ever."""
        while True:
            await anyio.sleep(IDLE_S / 4)
            if not self._running and anyio.current_time() - self._last_used > IDLE_S:
                await self._on_model(self.drop)

    async def watch_for_hang(self, end: Callable[[], None]) -> None:
        """Call `end` once the model is at the same part for `HANG_LOOKS` looks."""
        seen, looks = self._parts_done, 0
        while True:
            await anyio.sleep(HANG_LOOK_S)
            is_same = bool(self._at_model) and self._parts_done == seen
            seen, looks = self._parts_done, looks + 1 if is_same else 0
            if looks >= HANG_LOOKS:
                _log.error("run.hung", hint="it ends, and is started again")
                end()

    def drop(self) -> None:
        """Free the session; the next request loads it again."""
        if self._encoder is not None:
            self._encoder.close()
            self._encoder = None
            _log.info("session.dropped")

    async def _embed_live(self, message: EmbedTexts) -> TextsEmbedded:
        self._live_waiting += 1
        self._last_live = anyio.current_time()
        try:
            return await self._embed_parts(message)
        finally:
            self._live_waiting -= 1
            if not self._live_waiting:
                self._no_live.set()
                self._no_live = anyio.Event()

    async def _embed_parts(self, message: EmbedTexts) -> TextsEmbedded:
        pairs: list[tuple[TextItem, bytes]] = []
        is_lively = anyio.current_time() - self._last_live < LIVELY_S
        for part in parts_of(message.items, HALF_CHARS if is_lively else WHOLE_CHARS):
            while message.urgency == "bulk" and self._live_waiting:
                await self._no_live.wait()
            pairs += await self._on_model(partial(self._embed, message.model_id, part))
        return TextsEmbedded(
            model_id=message.model_id,
            items=tuple(VectorItem(text_hash=item.text_hash, vector=data) for item, data in pairs if data),
            failed=tuple(item.text_hash for item, data in pairs if not data),
        )

    async def _on_model(self, work: Callable[[], T]) -> T:
        self._at_model += 1
        try:
            return await to_thread.run_sync(work, limiter=self._model_thread)
        finally:
            self._at_model -= 1
            self._parts_done += 1

    def _embed(self, model_id: str, part: Sequence[TextItem]) -> list[tuple[TextItem, bytes]]:
        encoder = self._session(model_id)
        try:
            vectors = encoder.encode([item.text for item in part])
            return list(zip(part, _vectors_of(vectors, encoder.dim), strict=True))
        except (RuntimeError, ValueError) as error:
            _log.warning("run.failed", texts=len(part), reason=str(error))
            return [(item, self._embed_alone(encoder, item)) for item in part]

    def _embed_alone(self, encoder: BulkEncoder, item: TextItem) -> bytes:
        try:
            return _vectors_of(encoder.encode([item.text]), encoder.dim)[0]
        except (RuntimeError, ValueError) as error:
            _log.warning("text.failed", text_hash=item.text_hash.hex(), reason=str(error))
            return b""

    def _session(self, model_id: str) -> BulkEncoder:
        if self._encoder is None:
            self._encoder = self._open_encoder()
            _log.info("session.loaded", model_id=self._encoder.model_id)
        if self._encoder.model_id != model_id:
            raise KxError(
                ErrorCode.EMBEDDER_FAILED,
                "the embedder holds {held}, the index asks for {asked}",
                hint="restart the services so that all use the same model",
                retryable=True,
                held=self._encoder.model_id,
                asked=model_id,
            )
        return self._encoder


def _vectors_of(matrix: EmbeddingMatrix, dim: int) -> list[bytes]:
    flaws = check_vectors(matrix, dim)
    return [b"" if flaw is not None else vector_to_bytes(row) for row, flaw in zip(matrix, flaws, strict=True)]


def _open_onnx(settings: Settings) -> BulkEncoder:
    from shared.encoder import OnnxEncoder

    files = locate_model(settings.model_dir)
    return OnnxEncoder.open(files, cache_dir=settings.cache_dir, threads=settings.worker_threads, spinning=True)
