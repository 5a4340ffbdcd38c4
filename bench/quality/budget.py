"""What an answer costs its reader: tokens until the first relevant passage, and recall within a budget (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from bench.quality.metrics import is_same_file

BUDGETS = (500, 1_000, 2_000, 4_000)


class Shown(Struct, frozen=True):
    """A passage in the order it is read."""

    path: str
    tokens: int


def tokens_to_first(shown: Sequence[Shown], relevant: Sequence[str]) -> int | None:
    """Count the tokens read up to and including the first passage of a relevant file; None when there is none."""
    read = 0
    for passage in shown:
        read += passage.tokens
        if any(is_same_file(passage.path, path) for path in relevant):
            return read
    return None


def recall_within(shown: Sequence[Shown], relevant: Sequence[str], budget: int) -> float:
    """Give the share of the relevant files of which a passage is read whole before the budget is spent."""
    read, seen = 0, set()
    wanted = set(relevant)
    for passage in shown:
        read += passage.tokens
        if read > budget:
            break
        seen |= {path for path in wanted if is_same_file(passage.path, path)}
    return len(seen) / len(wanted) if wanted else 0.0
