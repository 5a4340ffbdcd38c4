"""Which lines of a text to show: the run of lines with the most of what was asked, centred on it (pure).

A run is worth the terms in it, and the pairs of terms asked side by side, each by its rarity; what stands in several of
its lines counts more, but never twice, so that a run with two of the words asked beats one that repeats a single word.
Of runs worth the same the one is taken whose evidence lies in its middle, of these the first. Text without any of the
words is shown from its beginning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from shared.analyzer import terms
from shared.excerpts import Excerpt

SAME_WORTH_DIGITS = 9  # sums of floating point in another order differ beyond


class Source(Struct, frozen=True):
    """Text that excerpts are taken of, and the line it begins at."""

    text: str
    start_line: int = 1  # 1-based

    @property
    def lines(self) -> list[str]:
        """Its lines, without their ends."""
        return self.text.split("\n")


class Ruler:
    """Takes excerpts of one source; analyses its lines once."""

    def __init__(self, source: Source, worth: Mapping[str, float]) -> None:
        self._source = source
        self._worth = worth
        self.lines = source.lines
        self._terms: list[list[str]] | None = None

    def excerpt(self, most: int) -> Excerpt | None:
        """Give the best run of at most `most` lines; None for no lines at all."""
        if most < 1:
            return None
        first, last = 0, len(self.lines)
        if most < last:
            first, last = self._without_blank_edges(*self._best(most))
        start = self._source.start_line + first
        return Excerpt(start_line=start, end_line=start + last - first - 1, text="\n".join(self.lines[first:last]))

    def _best(self, most: int) -> tuple[int, int]:
        if self._terms is None:
            self._terms = [sorted(self._worth.keys() & _keys(line)) for line in self.lines]
        start = best_run(self._terms, self._worth, most)
        return start, start + most

    def _without_blank_edges(self, first: int, last: int) -> tuple[int, int]:
        kept = [place for place in range(first, last) if self.lines[place].strip()]
        return (kept[0], kept[-1] + 1) if kept else (first, last)


def pair_key(first: str, second: str) -> str:
    """Give the key under which a pair of neighbouring terms has its worth; no term has a blank in it."""
    return f"{first} {second}"


def _keys(line: str) -> set[str]:
    found = terms(line)
    return {*found, *(pair_key(first, second) for first, second in pairwise(found))}


def best_run(lines: Sequence[Sequence[str]], worth: Mapping[str, float], height: int) -> int:
    """Give the first line (0-based) of the best run of `height` lines; `lines` holds the terms asked in each, once.

    >>> best_run([[], [], [], ["a"], [], [], []], {"a": 1.0}, 3)
    2
    """
    counts = Counter(term for line in lines[:height] for term in line)
    best, best_start = (0.0, 0), 0
    for start in range(len(lines) - height + 1):
        if start:
            counts.subtract(lines[start - 1])
            counts.update(lines[start + height - 1])
        value = round(run_worth(counts, worth), SAME_WORTH_DIGITS)
        if value and value >= best[0]:
            rated = (value, -_lopsidedness(lines[start : start + height]))
            if rated > best or not best[0]:
                best, best_start = rated, start
    return best_start


def run_worth(counts: Mapping[str, int], worth: Mapping[str, float]) -> float:
    """Say what lines are worth that have each term in so many of them: half of its worth for one, all of it for ever.

    >>> run_worth({"a": 1}, {"a": 1.0}), run_worth({"a": 3, "b": 1}, {"a": 1.0, "b": 1.0})
    (0.5, 1.25)
    """
    return sum(worth[term] * count / (count + 1) for term, count in counts.items() if count > 0)


def _lopsidedness(run: Sequence[Sequence[str]]) -> int:
    """Count by how many lines more of the run lie on one side of its evidence than on the other."""
    having = [place for place, line in enumerate(run) if line]
    return abs(having[0] - (len(run) - 1 - having[-1]))
