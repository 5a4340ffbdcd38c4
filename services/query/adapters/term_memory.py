"""What is known of the terms of one commit of an index: in how many chunks they stand, and what each chunk is worth.

bm25 adds up term by term, and the terms that cost most, those of thousands of chunks, are the words every question about
a project has. So each term is scored once, by the index itself, until the next commit.
"""

from __future__ import annotations

import threading
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

MAX_TERM_COUNTS = 20_000

MAX_SCORED_CHUNKS = 1_000_000
"""Of all terms of an index together, 16 MB; those not asked for longest go first. Given back when its connections are."""

ChunkIds: TypeAlias = NDArray[np.int64]
Bm25s: TypeAlias = NDArray[np.float64]


class TermScores(Struct, frozen=True, kw_only=True):
    """What one term alone gives to the chunks that have it."""

    chunks: ChunkIds
    bm25s: Bm25s  # better is higher, at the same place


class TermMemory:
    """Of one state of an index; safe across threads."""

    def __init__(self, state: tuple[int, int]) -> None:
        self.state = state  # epoch and seq
        self.counts: dict[str, int] = {}
        self._scores: dict[str, TermScores] = {}  # asked for last is last
        self._held = 0
        self._lock = threading.Lock()

    def scores(self, term: str) -> TermScores | None:
        """Give what is known of a term."""
        with self._lock:
            known = self._scores.pop(term, None)
            if known is not None:
                self._scores[term] = known
            return known

    def keep(self, term: str, scores: TermScores) -> None:
        """Remember a term, and as many of the others as there is room for."""
        with self._lock:
            if term in self._scores:
                return
            self._scores[term] = scores
            self._held += len(scores.chunks)
            while self._held > MAX_SCORED_CHUNKS and len(self._scores) > 1:
                oldest = next(iter(self._scores))
                self._held -= len(self._scores.pop(oldest).chunks)
