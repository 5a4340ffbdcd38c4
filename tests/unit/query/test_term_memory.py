"""What is remembered of terms stays within its bound."""

import numpy as np

from services.query.adapters import term_memory
from services.query.adapters.term_memory import TermMemory, TermScores


def scores(chunks: int) -> TermScores:
    return TermScores(chunks=np.arange(chunks), bm25s=np.ones(chunks))


def test_what_was_asked_for_longest_ago_makes_room() -> None:
    """A project has more words than are worth keeping."""
    memory, third = TermMemory((1, 1)), term_memory.MAX_SCORED_CHUNKS // 3
    for term in ("first", "second", "third"):
        memory.keep(term, scores(third))
    assert memory.scores("first") is not None
    memory.keep("fourth", scores(third))
    assert memory.scores("second") is None
    assert all(memory.scores(term) is not None for term in ("first", "third", "fourth"))
