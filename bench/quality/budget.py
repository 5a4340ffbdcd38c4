"""What an answer costs its reader: tokens until the first relevant passage, and recall within a budget (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from bench.quality.metrics import is_same_file
from services.query.core.excerpts import Source
from services.query.core.packing import Wanted, excerpts
from shared.analyzer import query_terms
from shared.excerpts import Budget

BUDGETS = (500, 1_000, 2_000, 4_000)
PER_RESULT = 20  # as `kx search --max-tokens` counts it


class Shown(Struct, frozen=True):
    """A passage in the order it is read."""

    path: str
    tokens: int
    text: str = ""


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


def recall_packed(shown: Sequence[Shown], query: str, relevant: Sequence[str], budget: int) -> float:
    """Give the share of the relevant files of which a budgeted answer shows lines: `kx search --max-tokens`."""
    worth = dict.fromkeys(query_terms(query).terms, 1.0)
    wanted = [Wanted(source=Source(one.text), most=10**9, beside=(one.path, one.path)) for one in shown]
    packed = excerpts(wanted, worth, Budget(tokens=budget, per_result=PER_RESULT)).excerpts
    seen = [one.path for one, excerpt in zip(shown, packed, strict=False) if excerpt is not None]
    files = set(relevant)
    return sum(any(is_same_file(path, file) for path in seen) for file in files) / max(1, len(files))
