"""Texts to vectors through ONNX Runtime: tokenize, pack, run, pool, normalise.

The only module that imports onnxruntime; `embedder` (bulk) and `query` (questions) each hold one encoder of their own.
Whether the model's files are right is `shared.model`'s question, what a vector must be `shared.vectors`'.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Self, TypeAlias

import numpy as np

# Some of its builds call the maker's server a few seconds after a model is opened; read when it is imported.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # noqa: TID251 - told to a library, not asked

import onnxruntime as ort
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as ort_state
from tokenizers import Encoding, Tokenizer

from shared.errors import ErrorCode, KxError
from shared.model import ModelFiles, folded_model, verify
from shared.onnx_graph import with_fusible_gelus, without_nan_guards
from shared.tokens import load_tokenizer, tokenizable
from shared.vectors import EmbeddingMatrix

EMBED_MAX_TOKENS: Final = 512
"""What the model's positions hold. Chunks stay below it by far; only a very long question is cut, and counted."""

# One run: more texts gain nothing on a processor, more tokens fall out of its cache (25 chunks/s at 8 texts, 20 at 32;
# resident memory 390 and 640 MB; two cores, November 2026).
MAX_RUN_TEXTS: Final = 8
MAX_RUN_TOKENS: Final = 2_048

QUERY_THREADS: Final = 1
"""For questions: beside a busy neighbour two threads are slower than one (24 and 13 ms at p99)."""

BULK_THREADS: Final = min(2, os.cpu_count() or 1)
"""For bulk work; more cores are better used by a second embedder."""

TokenMatrix: TypeAlias = NDArray[np.int64]
"""Shape (texts, tokens): token ids, or 1 where there is a token and 0 where there is padding."""

TokenStates: TypeAlias = NDArray[np.float32]
"""Shape (texts, tokens, width): the model's last hidden state."""

# ONNX Runtime's errors have no base of their own.
_RUNTIME_ERRORS: Final = (
    ort_state.Fail,
    ort_state.InvalidArgument,
    ort_state.InvalidGraph,
    ort_state.InvalidProtobuf,
    ort_state.NoModel,
    ort_state.NoSuchFile,
    ort_state.NotFound,
    ort_state.NotImplemented,
    ort_state.RuntimeException,
    RuntimeError,
)
_LOG_ERRORS_ONLY: Final = 3

_FOLDING: Final = "g2"
"""Version of what `_fold` does; a change makes every cached copy anew."""


class OnnxEncoder:
    """A sentence encoder in memory: `encode` may be called from several threads at once."""

    def __init__(self, files: ModelFiles, tokenizer: Tokenizer, session: ort.InferenceSession) -> None:
        """Use `open`, which checks the files first."""
        self.model_id: Final = files.model_id
        self.dim: Final = files.dim
        self._tokenizer = tokenizer
        self._session: ort.InferenceSession | None = session
        self._inputs: Final = {node.name for node in session.get_inputs()}
        self._truncated = 0

    @classmethod
    def open(cls, files: ModelFiles, *, cache_dir: Path, threads: int, spinning: bool) -> Self:
        """Verify `files`, fold the model into `cache_dir` if that was not done, and load it.

        0.4 s, at the first use of a model 1.2 s; blocks. `spinning` lets idle threads burn the processor for a shorter
        reaction: off for whoever shares it.

        Raises:
            KxError: `KX_MODEL_MISSING`, `KX_MODEL_ALTERED`, `KX_MODEL_WIDTH`.
        """
        verify(files)
        path = folded_model(files, cache_dir, runtime=f"{ort.__version__}-{_FOLDING}", fold=_fold)
        options = _options(threads, spinning=spinning)
        try:
            tokenizer = load_tokenizer(files.tokenizer, max_tokens=EMBED_MAX_TOKENS)
            session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # tokenizers raises a bare Exception for a bad file
            raise _unusable(files, error) from error
        encoder = cls(files, tokenizer, session)
        encoder._prove(files, session)
        return encoder

    @property
    def truncated(self) -> int:
        """How many texts were longer than `EMBED_MAX_TOKENS`, so that their end has no part in their vector."""
        return self._truncated

    def encode(self, texts: Sequence[str]) -> EmbeddingMatrix:
        """Embed `texts`, in their order.

        Texts of like length run together, at most `MAX_RUN_TEXTS` and `MAX_RUN_TOKENS` (padding included) at a time,
        so a text's vector does not depend on its neighbours beyond rounding. About 5,000 tokens/s on two cores.

        Raises:
            KxError: `KX_EMBEDDER_FAILED`, also after `close`.
        """
        session = self._session
        if session is None:
            raise KxError(ErrorCode.EMBEDDER_FAILED, "the encoder is closed", retryable=True)
        encodings = self._tokenizer.encode_batch([tokenizable(text) for text in texts])
        self._truncated += sum(bool(encoding.overflowing) for encoding in encodings)
        lengths = [len(encoding.ids) for encoding in encodings]
        matrix = np.empty((len(texts), self.dim), dtype=np.float32)
        for run in pack(lengths):
            try:
                matrix[run] = self._run(session, [encodings[i] for i in run])
            except _RUNTIME_ERRORS as error:
                raise KxError(
                    ErrorCode.EMBEDDER_FAILED, "the model failed: {reason}", reason=error, retryable=True
                ) from error
        return matrix

    def close(self) -> None:
        """Give the model's memory back once the running `encode` calls have ended; idempotent."""
        self._session = None

    def _run(self, session: ort.InferenceSession, encodings: Sequence[Encoding]) -> EmbeddingMatrix:
        ids, mask = _padded(encodings)
        return normalised(mean_pooled(self._states(session, ids, mask), mask))

    def _states(self, session: ort.InferenceSession, ids: TokenMatrix, mask: TokenMatrix) -> TokenStates:
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states: TokenStates = session.run(None, {name: feed[name] for name in self._inputs})[0]
        return states

    def _prove(self, files: ModelFiles, session: ort.InferenceSession) -> None:
        """Run one text: neither a model of another width nor one that cannot run may reach an index."""
        ids, mask = _padded([self._tokenizer.encode("a")])
        try:
            states = self._states(session, ids, mask)
        except (*_RUNTIME_ERRORS, KeyError) as error:
            raise _unusable(files, error) from error
        if states.ndim != 3 or states.shape[:2] != ids.shape:
            raise _unusable(files, f"its first output is {states.shape}, not (texts, tokens, width)")
        if states.shape[2] != self.dim:
            raise KxError(
                ErrorCode.MODEL_WIDTH,
                "{file} gives vectors of {found} numbers, an index holds {expected}",
                hint="choose a sentence encoder of {expected} dimensions",
                file=files.onnx,
                expected=self.dim,
                found=states.shape[2],
            )


def pack(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Divide texts of these token `lengths` into runs, shortest first; gives positions, each exactly once.

    A run holds at most `MAX_RUN_TEXTS` and, padded to its longest, `MAX_RUN_TOKENS`.

    >>> list(pack([900, 3, 900, 900, 2]))
    [[4, 1], [0, 2], [3]]
    """
    run: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        is_full = len(run) >= MAX_RUN_TEXTS or (len(run) + 1) * lengths[position] > MAX_RUN_TOKENS
        if run and is_full:
            yield run
            run = []
        run.append(position)
    if run:
        yield run


def mean_pooled(states: TokenStates, mask: TokenMatrix) -> EmbeddingMatrix:
    """Average each text's token states, padding left out: (texts, tokens, width) to (texts, width)."""
    weights = (mask / mask.sum(axis=1, keepdims=True)).astype(np.float32)
    pooled: EmbeddingMatrix = np.matmul(weights[:, None, :], states)[:, 0, :]
    return pooled


def normalised(matrix: EmbeddingMatrix) -> EmbeddingMatrix:
    """Scale each row to length one; a row of zeros stays, for `check_vectors` to refuse."""
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    scaled = matrix.copy()
    np.divide(matrix, norms, out=scaled, where=norms > 0)
    return scaled


def _padded(encodings: Sequence[Encoding]) -> tuple[TokenMatrix, TokenMatrix]:
    longest = max(len(encoding.ids) for encoding in encodings)
    ids = np.zeros((len(encodings), longest), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, encoding in enumerate(encodings):
        ids[row, : len(encoding.ids)] = encoding.ids
        mask[row, : len(encoding.ids)] = 1
    return ids, mask


def _options(threads: int, *, spinning: bool) -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _LOG_ERRORS_ONLY
    options.add_session_config_entry("session.intra_op.allow_spinning", "1" if spinning else "0")
    return options


def _fold(model: Path, made: Path) -> None:
    """Let ONNX Runtime turn the int8 weights into float constants once, not at every load, and change what slows it.

    Basic level: what the higher ones write is bound to this processor. Loading the result proves it.
    """
    options = _options(1, spinning=False)
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(made)
    try:
        ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        made.write_bytes(with_fusible_gelus(without_nan_guards(made.read_bytes())))
        ort.InferenceSession(str(made), _options(1, spinning=False), providers=["CPUExecutionProvider"])
    except (*_RUNTIME_ERRORS, ValueError) as error:
        raise OSError(str(error)) from error


def _unusable(files: ModelFiles, reason: object) -> KxError:
    return KxError(
        ErrorCode.MODEL_ALTERED,
        "{file} cannot be used as a sentence encoder: {found}",
        hint="repair it: {repair}",
        file=files.onnx,
        expected="a BERT-like encoder with its own tokenizer",
        found=reason,
        repair=files.graph.repair,
    )
