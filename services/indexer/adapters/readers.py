"""Processes that read for the writer: with two cores a large tree is readable in half the time.

A process that dies (a parser that overflows its stack) is replaced, and costs the one document it died of its structure.
"""

from __future__ import annotations

import math
import os
import signal
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from msgspec import Struct

from services.indexer.adapters.files import Gone
from services.indexer.adapters.parsers import ParserError
from services.indexer.adapters.parsing import limit_memory, timed_outline
from services.indexer.adapters.reading import Content, Failed, Outcome, Reader
from services.indexer.core.chunking.outline import Outline
from services.indexer.core.prepare import PreparedDocument
from shared import logs
from shared.child import end_with_parent
from shared.errors import ErrorCode
from shared.model import ModelFiles, verify_file
from shared.relpath import decode_path
from shared.tokens import TokenCounter
from shared.treerules import RulesConfig

MEMORY_BYTES = 2 * 1024 * 1024 * 1024  # of a process; the largest files take an eighth of it
BATCH_PATHS = 48  # long enough to hide the passing of messages, short enough to commit often


class ReadBatch(Struct, frozen=True, kw_only=True):
    """Work for one process."""

    root: str
    config: RulesConfig
    paths: tuple[str, ...]
    known: tuple[Content | None, ...]  # for each path
    touched_s: float = -math.inf  # monotonic time: rules that are older may not be those of these paths
    is_plain: bool = False  # by form alone: a parser ended the process that was given them


class Readers:
    """A pool of reading processes; started at the first batch, by the thread that outlives them."""

    def __init__(self, processes: int, vocabulary: ModelFiles) -> None:
        self._processes = processes
        self._vocabulary = vocabulary
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, batch: ReadBatch) -> Future[list[Outcome]]:
        """Start reading a batch; call it on the main thread: the kernel ends the processes with the one that made them."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._processes,
                mp_context=get_context("spawn"),
                initializer=_begin,
                initargs=(os.getpid(), self._vocabulary),
            )
        # Ctrl+C reaches the whole group of a terminal; whether work stops is for this process to say. A process that
        # starts inherits what is blocked, so that it is deaf from its first instruction.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return self._pool.submit(_read, batch)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def close(self) -> None:
        """End the processes; the next batch starts new ones."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in list((self._pool._processes or {}).values()):  # noqa: SLF001  # no public way to end them at once
                process.kill()
            self._pool = None


def poisoned(root: str, path: str) -> Outcome:
    """Give the outcome of a path whose reading killed its process: not tried again before it changes."""
    if path.endswith("/"):
        return Gone()
    try:
        status = os.lstat(os.fsencode(root) + b"/" + decode_path(path))
    except OSError:
        return Gone()
    bare = PreparedDocument(
        path=path,
        kind="",
        language="",
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
        content_hash=b"",
        path_terms="",
        chunks=(),
    )
    return Failed(bare, ErrorCode.INTERNAL, "its reader died")


# --- in the process ---------------------------------------------------------------------------------------------------

_readers: dict[tuple[str, bool], Reader] = {}
_counters: list[TokenCounter] = []


def _begin(parent: int, model: ModelFiles) -> None:
    logs.configure("warning")
    end_with_parent(parent)
    verify_file(model.vocabulary)
    limit_memory(MEMORY_BYTES)
    _counters.append(TokenCounter.load(model.tokenizer))


def _read(batch: ReadBatch) -> list[Outcome]:
    key = batch.root, batch.is_plain
    if key not in _readers:
        syntax = _refuse if batch.is_plain else timed_outline
        _readers[key] = Reader(Path(batch.root), _counters[0].count, syntax)
    reader = _readers[key]
    gate, rules = reader.begin(batch.paths, batch.config, touched_s=batch.touched_s)
    return [reader.read(gate, rules, path, known) for path, known in zip(batch.paths, batch.known, strict=True)]


def _refuse(_text: str, _lines: list[str], _language: str) -> Outline | None:
    raise ParserError("its parser died")


def processes_for(cores: int) -> int:
    """Choose how many processes read: one for each core, at most four, none on a single core."""
    return 0 if cores < 2 else min(4, cores)
