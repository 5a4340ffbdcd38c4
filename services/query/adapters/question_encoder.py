"""The question's vector: an encoder opened at first use, one thread, and a small memory of recent questions."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Protocol

import anyio
import anyio.to_thread
from anyio import CapacityLimiter
from msgspec import Struct

from shared.errors import ErrorCode, KxError
from shared.model import DIM
from shared.vectors import EmbeddingMatrix, check_vectors, vector_to_bytes

REMEMBERED_QUESTIONS = 256  # 400 kB; paging and repeated questions cost no inference
OPEN_LIMIT_S = 20.0  # half a second as a rule; the first use of a model folds its weights, on a busy machine for long
EMBED_LIMIT_S = 2.0  # six milliseconds as a rule, behind at most a few other questions


class QueryEncoder(Protocol):
    """What embeds questions: `shared.encoder.OnnxEncoder`, or a fake."""

    @property
    def model_id(self) -> str:
        """Name and hash of the model."""
        ...

    def encode(self, texts: Sequence[str]) -> EmbeddingMatrix:
        """Embed `texts`, in their order."""
        ...


class QuestionVector(Struct, frozen=True, kw_only=True):
    """A checked vector and the model it belongs to."""

    model_id: str
    vector: bytes  # little-endian float32 x dim, L2-normalised


class QuestionEncoder:
    """Embeds one question at a time; belongs to one event loop."""

    def __init__(self, open_encoder: Callable[[], QueryEncoder]) -> None:
        self._open = open_encoder
        self._encoder: QueryEncoder | None = None
        self._remembered: OrderedDict[str, QuestionVector] = OrderedDict()
        self._model_thread = CapacityLimiter(1)
        self._opening = anyio.Lock()

    async def vector(self, text: str) -> QuestionVector:
        """Give the vector of a question.

        Raises:
            KxError: MODEL_* when the model cannot be opened (tried again next time: replacing the file is enough),
                EMBEDDER_FAILED, TIMEOUT.
        """
        known = self._remembered.get(text)
        if known is not None:
            self._remembered.move_to_end(text)
            return known
        encoder = await self._opened()
        with _limit(EMBED_LIMIT_S):
            found = await anyio.to_thread.run_sync(
                partial(_embed, encoder, text), limiter=self._model_thread, abandon_on_cancel=True
            )
        self._remembered[text] = found
        if len(self._remembered) > REMEMBERED_QUESTIONS:
            self._remembered.popitem(last=False)
        return found

    async def _opened(self) -> QueryEncoder:
        if self._encoder is None:
            with _limit(OPEN_LIMIT_S):
                async with self._opening:
                    if self._encoder is None:
                        self._encoder = await anyio.to_thread.run_sync(
                            self._open, limiter=self._model_thread, abandon_on_cancel=True
                        )
        return self._encoder


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    try:
        with anyio.fail_after(seconds):
            yield
    except TimeoutError as error:
        raise KxError(
            ErrorCode.TIMEOUT,
            "the model gave no vector within {seconds} s",
            hint="the machine is busy; try again",
            retryable=True,
            seconds=seconds,
        ) from error


def _embed(encoder: QueryEncoder, text: str) -> QuestionVector:
    matrix = encoder.encode([text])
    flaw = check_vectors(matrix, DIM)[0]
    if flaw is not None:
        raise KxError(ErrorCode.EMBEDDER_FAILED, "the model gave a vector that is {flaw}", flaw=flaw)
    return QuestionVector(model_id=encoder.model_id, vector=vector_to_bytes(matrix[0]))
