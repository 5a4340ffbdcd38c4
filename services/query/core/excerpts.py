"""Which lines of a text to show: the run of lines with the most of what was asked, centred on it (pure).

A run is worth the terms in it, and the pairs of terms asked side by side, each by its rarity; what stands in several of
its lines counts more, but never twice, so that a run with two of the words asked beats one that repeats a single word.
Of runs worth the same the one is taken whose evidence lies in its middle, of these the first. Text without any of the
words is shown from its beginning.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, KeysView, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from shared.analyzer import terms
from shared.excerpts import Excerpt

SAME_WORTH_DIGITS = 9  # sums of floating point in another order differ beyond


LONG_LINE_CHARS = 240
"""Prose that is not wrapped has a paragraph on a line; a longer line is divided where a budget counts every token."""

MIN_PIECE_CHARS, MAX_PIECE_CHARS = 80, 320

_SCHEME = re.compile(r"\bhttps?://(?:www\.)?")  # stands before every address and says nothing about HTTPS
_SENTENCE_END = re.compile(r"[.!?;:。！？][\"')\]]*(?:\s+|(?<=[。！？]))")


class Source(Struct, frozen=True):
    """Text that excerpts are taken of, and the line it begins at."""

    text: str
    start_line: int = 1  # 1-based


class Piece(Struct, frozen=True):
    """A line, or a part of a long one."""

    start: int  # in characters of the text
    end: int
    line: int  # 0-based


class Ruler:
    """Takes excerpts of one source; analyses its pieces once. With `is_fine` a long line is several pieces."""

    def __init__(self, source: Source, worth: Mapping[str, float], *, is_fine: bool = False) -> None:
        self._source = source
        self._worth = worth
        self.pieces = list(pieces_of(source.text, is_fine=is_fine))
        self._terms: list[list[str]] | None = None

    def excerpt(self, most: int) -> Excerpt | None:
        """Give the best run of at most `most` pieces; None for none at all."""
        if most < 1:
            return None
        first, last = 0, len(self.pieces)
        if most < last:
            first, last = self._without_blank_edges(*self._best(most))
        return self._written(self.pieces[first], self.pieces[last - 1])

    def _written(self, first: Piece, last: Piece) -> Excerpt:
        text, start_line = self._source.text, self._source.start_line
        is_whole = text[first.start - 1 : first.start] in {"", "\n"} and text[last.end : last.end + 1] in {"", "\n"}
        shown = text[first.start : last.end]
        return Excerpt(
            start_line=start_line + first.line,
            end_line=start_line + last.line,
            text=shown if is_whole else shown.rstrip(" \t"),
            is_part=not is_whole,
        )

    def _best(self, most: int) -> tuple[int, int]:
        if self._terms is None:
            texts = (self._source.text[piece.start : piece.end] for piece in self.pieces)
            self._terms = [_asked_in(text, self._worth.keys()) for text in texts]
        start = best_run(self._terms, self._worth, most)
        return start, start + most

    def _without_blank_edges(self, first: int, last: int) -> tuple[int, int]:
        text = self._source.text
        kept = [at for at in range(first, last) if text[self.pieces[at].start : self.pieces[at].end].strip()]
        return (kept[0], kept[-1] + 1) if kept else (first, last)


def pieces_of(text: str, *, is_fine: bool = False) -> Iterator[Piece]:
    """Divide a text into its lines; with `is_fine` long ones at sentences, else at blanks, else anywhere."""
    offset = 0
    for number, line in enumerate(text.split("\n")):
        ends = _ends(line) if is_fine and len(line) > LONG_LINE_CHARS else [len(line)]
        for start, end in pairwise([0, *ends]):
            yield Piece(offset + start, offset + end, number)
        offset += len(line) + 1


def _ends(line: str) -> list[int]:
    """Give where the pieces of a long line end; none is longer than `MAX_PIECE_CHARS`."""
    ends: list[int] = []
    start = 0
    for sentence in (*(found.end() for found in _SENTENCE_END.finditer(line)), len(line)):
        while sentence - start > MAX_PIECE_CHARS:
            blank = line.rfind(" ", start + MIN_PIECE_CHARS, start + MAX_PIECE_CHARS)
            start = blank + 1 if blank >= 0 else start + MAX_PIECE_CHARS
            ends.append(start)
        if sentence - start >= MIN_PIECE_CHARS or sentence == len(line):
            start = sentence
            ends.append(start)
    return ends


def pair_key(first: str, second: str) -> str:
    """Give the key under which a pair of neighbouring terms has its worth; no term has a blank in it."""
    return f"{first} {second}"


def _asked_in(line: str, asked: KeysView[str]) -> list[str]:
    """List what a line has of the terms asked, and of their pairs: no pair is asked without its terms."""
    found = terms(_SCHEME.sub(" ", line) if "://" in line else line)
    known = asked & found
    if known:
        pairs = [pair_key(first, second) for first, second in pairwise(found) if first in known and second in known]
        known |= asked & pairs
    return sorted(known)


def best_run(lines: Sequence[Sequence[str]], worth: Mapping[str, float], height: int) -> int:
    """Give the first line (0-based) of the best run of `height` lines; `lines` holds the terms asked in each, once.

    >>> best_run([[], [], [], ["a"], [], [], []], {"a": 1.0}, 3)
    2
    """
    counts = Counter(term for line in lines[:height] for term in line)
    value = round(run_worth(counts, worth), SAME_WORTH_DIGITS)
    best, best_start = (0.0, 0), 0
    for start in range(len(lines) - height + 1):
        left, entered = (lines[start - 1], lines[start + height - 1]) if start else ((), ())
        if left or entered:
            counts.subtract(left)
            counts.update(entered)
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
