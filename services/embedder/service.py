"""Own the model for bulk work: texts become vectors; the session is dropped when nobody asks.

EMBED   EmbedTexts            → one run of the model (lengths sorted, padded to the longest)   → TextsEmbedded
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import anyio
import structlog
from anyio import CapacityLimiter, to_thread
from structlog.typing import FilteringBoundLogger

from shared.bus import Bus, Endpoint, ServiceContract
from shared.errors import ErrorCode, KxError
from shared.messages import EmbedTexts, TextItem, TextsEmbedded, VectorItem
from shared.model import locate_model
from shared.runtime import health_endpoint
from shared.settings import Settings
from shared.subjects import EMBED, EMBEDDER
from shared.vectors import EmbeddingMatrix, check_vectors, vector_to_bytes

IDLE_S = 120.0  # a session holds 200 to 400 MB; loading it again takes half a second

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
    bus: Bus, settings: Settings, *, open_encoder: Callable[[], BulkEncoder] | None = None
) -> AsyncIterator[None]:
    """Serve while entered; nothing is loaded before the first request."""
    embedder = Embedder(open_encoder or (lambda: _open_onnx(settings)))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(embedder.drop_when_idle)
        async with bus.serve(embedder.contract()):
            yield
        tasks.cancel_scope.cancel()
    embedder.drop()


class Embedder:
    """Holds at most one session and runs one request at a time on it."""

    def __init__(self, open_encoder: Callable[[], BulkEncoder]) -> None:
        self._open_encoder = open_encoder
        self._encoder: BulkEncoder | None = None
        self._model_thread = CapacityLimiter(1)
        self._last_used = 0.0
        self._running = 0

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
            return await to_thread.run_sync(self._embed, message, limiter=self._model_thread)
        finally:
            self._running -= 1
            self._last_used = anyio.current_time()

    async def drop_when_idle(self) -> None:
        """Free the session after `IDLE_S` without a request, for ever."""
        while True:
            await anyio.sleep(IDLE_S / 4)
            if not self._running and anyio.current_time() - self._last_used > IDLE_S:
                await to_thread.run_sync(self.drop, limiter=self._model_thread)

    def drop(self) -> None:
        """Free the session; the next request loads it again."""
        if self._encoder is not None:
            self._encoder.close()
            self._encoder = None
            _log.info("session.dropped")

    def _embed(self, message: EmbedTexts) -> TextsEmbedded:
        encoder = self._session(message.model_id)
        try:
            vectors = encoder.encode([item.text for item in message.items])
            pairs = list(zip(message.items, _vectors_of(vectors, encoder.dim), strict=True))
        except (RuntimeError, ValueError) as error:
            _log.warning("run.failed", texts=len(message.items), reason=str(error))
            pairs = [(item, self._embed_alone(encoder, item)) for item in message.items]
        return TextsEmbedded(
            model_id=encoder.model_id,
            items=tuple(VectorItem(text_hash=item.text_hash, vector=data) for item, data in pairs if data),
            failed=tuple(item.text_hash for item, data in pairs if not data),
        )

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
