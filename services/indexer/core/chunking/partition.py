"""Divide a row of atoms (lines, or pieces of one long line) into runs of a good size, at the strongest borders.

Pure. The same row gives the same runs, and borders are *local*: which of several equally strong borders is
taken depends on the text at the border and on its neighbours within `REACH`, never on where the row began. A
greedy filling would be simpler, but one inserted line would then move every later border and cost an
embedding for each.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from zlib import crc32

from services.indexer.core.chunking.model import CONTENT_TOKENS
from shared.token_budget import TARGET_TOKENS

# A run of at most this size is not divided any more.
WHOLE_TOKENS = 352
# Of equally strong borders closer than this only one is taken: the size below which neighbours are merged.
REACH_TOKENS = 160
# A structural border (heading, definition) may leave as little as this on a side, an ordinary one more.
LEAST_STRUCTURE_TOKENS = 40
LEAST_TOKENS = 100
# A run below this says nothing alone (a heading before a table too large for one chunk).
CRUMB_TOKENS = 24

# Strengths of the border before an atom. At ALWAYS any run is cut, however small; from STRUCTURE on the border
# separates things that have names; below SOFT it is not cut in a run that fits the budget (inside of a fence).
NEVER = -1
ALWAYS = 100_000
INNER = 4
SOFT = 10
STRUCTURE = 500

_DECIDING_CHARS = 24

# Each division lowers the strength or halves the run, so honest input stays far below; the rest is cut evenly.
_MAX_DEPTH = 64


class _Row:
    """The atoms as columns, with running totals so that the size of any run is one subtraction."""

    def __init__(self, sizes: Sequence[int], levels: Sequence[int], texts: Sequence[str]) -> None:
        self.offsets = list(accumulate(sizes, initial=0))
        self.levels = levels
        self.texts = texts
        self._priorities: dict[int, int] = {}

    def size(self, start: int, end: int) -> int:
        return self.offsets[end] - self.offsets[start]

    def priority(self, border: int) -> int:
        """Return a number that orders borders as good as randomly, the same in every process."""
        known = self._priorities.get(border)
        if known is None:
            # The beginning decides, so that an edit further right moves no border; the rest only settles ties.
            text = self.texts[border]
            known = _scatter(text[:_DECIDING_CHARS]) << 32 | _scatter(text[_DECIDING_CHARS:])
            self._priorities[border] = known
        return known

    def inside(self, start: int, end: int, least: int) -> tuple[int, int]:
        """Return the range of borders that leave `least` on both sides."""
        offsets = self.offsets
        low = bisect_left(offsets, offsets[start] + least, start + 1, end)
        return low, bisect_right(offsets, offsets[end] - least, low, end)


def partition(sizes: Sequence[int], levels: Sequence[int], texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return consecutive half-open runs that together cover all atoms.

    `levels[i]` is the strength of the border before atom i (NEVER for a blank line), `texts[i]` what
    distinguishes it from equally strong ones. A run exceeds CONTENT_TOKENS only if it is a single atom (blank
    ones aside). O(n log n) in practice, at worst `_MAX_DEPTH` passes over the row.
    """
    row = _Row(sizes, levels, texts)
    runs: list[tuple[int, int]] = []
    forced = [i for i in range(1, len(levels)) if levels[i] >= ALWAYS] if ALWAYS in levels else []
    pending = [(start, end, 0) for start, end in reversed(list(pairwise([0, *forced, len(sizes)])))]
    while pending:
        start, end, depth = pending.pop()
        cuts = _cuts(row, start, end) if depth < _MAX_DEPTH else _even_cuts(row, start, end)
        if cuts:
            pieces = list(pairwise([start, *cuts, end]))
            pending.extend((low, high, depth + 1) for low, high in reversed(pieces))
        elif start < end:
            _append(row, runs, start, end)
    return runs


def _append(row: _Row, runs: list[tuple[int, int]], start: int, end: int) -> None:
    """Add a run, or lengthen the last one where either is a crumb that a cut between better parts has left."""
    if runs and row.levels[start] < STRUCTURE:
        before = runs[-1][0]
        is_crumb = min(row.size(before, start), row.size(start, end)) < CRUMB_TOKENS
        if is_crumb and row.size(before, end) <= CONTENT_TOKENS:
            runs[-1] = (before, end)
            return
    runs.append((start, end))


def _cuts(row: _Row, start: int, end: int) -> list[int]:
    if row.size(start, end) <= WHOLE_TOKENS:
        return []
    for low, high, weakest in _offers(row, start, end):
        level = max(row.levels[low:high], default=NEVER)
        if level >= weakest:
            borders = [i for i in range(low, high) if row.levels[i] == level]
            return _peaks(row, borders) or _spaced(row, borders, start, end)
    return []


def _offers(row: _Row, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield (first border, end, weakest strength allowed), the most desirable offer first."""
    yield *row.inside(start, end, LEAST_STRUCTURE_TOKENS), STRUCTURE
    comfortable = row.inside(start, end, LEAST_TOKENS)
    yield *comfortable, SOFT
    if row.size(start, end) > CONTENT_TOKENS:
        anywhere = row.inside(start, end, 1)
        yield *anywhere, SOFT
        yield *comfortable, 0
        yield *anywhere, 0
        # Atoms of no size at all may surround the border that is needed.
        yield start + 1, end, 0


def _peaks(row: _Row, borders: list[int]) -> list[int]:
    """Return the borders whose priority is the greatest within reach; none where equals stand side by side."""
    if len(borders) == 1:
        return borders
    priorities = [row.priority(i) for i in borders]
    places = [row.offsets[i] for i in borders]
    return [
        border
        for n, border in enumerate(borders)
        if _tops(priorities, places, n, range(n - 1, -1, -1))
        and _tops(priorities, places, n, range(n + 1, len(borders)))
    ]


def _spaced(row: _Row, borders: list[int], start: int, end: int) -> list[int]:
    """Return borders of parts of equal size, at least one: a million equal lines are cut in one pass, not by halving."""
    places = [row.offsets[i] for i in borders]
    parts = max(2, round(row.size(start, end) / TARGET_TOKENS))
    wanted = (row.offsets[start] + row.size(start, end) * part / parts for part in range(1, parts))
    return sorted({borders[min(bisect_left(places, place), len(borders) - 1)] for place in wanted})


def _tops(priorities: list[int], places: list[int], n: int, others: range) -> bool:
    for other in others:
        if abs(places[other] - places[n]) > REACH_TOKENS:
            return True
        if priorities[other] >= priorities[n]:
            return False
    return True


def _scatter(text: str) -> int:
    # crc32 is linear: the factor keeps numbered lines from coming out in order.
    return crc32(text.encode("utf-8", "surrogatepass")) * 0x9E3779B1 & 0xFFFFFFFF


def _even_cuts(row: _Row, start: int, end: int) -> list[int]:
    """Cut a run by size alone, for rows on which the search for peaks would go on for ever."""
    cuts = []
    last = start
    for i in range(start + 1, end):
        if row.levels[i] != NEVER and row.size(last, i + 1) > WHOLE_TOKENS:
            cuts.append(i)
            last = i
    return cuts
