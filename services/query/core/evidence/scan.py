"""Find the words of texts by arithmetic over their bytes (pure).

Gives the analyzer's words in its order, as hashes of 64 bits: a fifth of the time that cutting 200 passages into words
and looking each up takes. Latin letters lose their accents first; a text with letters of another kind is cut by the
analyzer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from services.query.core.evidence.hashed import Bytes, Hashes, Indices, hashes_of
from shared.analyzer import MAX_PARTS, MAX_TERM_CHARS, without_marks, words

Flags = npt.NDArray[np.bool_]

_BLANK, _JOINER, _SMALL, _CAPITAL, _DIGIT = range(5)


def _kind(byte: int) -> int:
    char = chr(byte)
    if not (char.isalnum() or char == "_") and byte < 128:
        return _BLANK
    return _JOINER if char == "_" else _DIGIT if char in "0123456789" else _CAPITAL if "A" <= char <= "Z" else _SMALL


_IS_WORD: Final = re.compile(r"\w")
_KINDS: Final = bytes(map(_kind, range(256)))


# Latin letters as the analyzer folds them, and what parts words beyond ASCII; a text with anything else is its own.
_LATIN: Final = {
    code: bare if _IS_WORD.match(chr(code)) else " "
    for code in (*range(0x80, 0x250), *range(0x2010, 0x2060), 0x20AC)
    if (bare := without_marks(chr(code))).isascii() and (bare or not _IS_WORD.match(chr(code)))
}


class Scanned(Struct, frozen=True):
    """The words of texts, one text after the other."""

    letters: bytes  # where the words can be read
    starts: Indices  # of each word
    ends: Indices
    hashes: Hashes  # never 0
    sizes: Indices  # words of each text

    def read(self, places: Indices) -> list[str]:
        """Read some of the words."""
        spans = zip(self.starts[places].tolist(), self.ends[places].tolist(), strict=True)
        return [self.letters[start:end].decode() for start, end in spans]


def scan(texts: Sequence[str]) -> Scanned:
    """Find the words of texts."""
    cut = _cut(texts)
    starts, ends = _words(cut)
    words_before = np.concatenate([[0], np.cumsum(cut.sizes + (cut.sizes > 1))])[cut.text_runs]
    if (cut.sizes > MAX_PARTS).any():
        place = np.arange(len(cut.parts)) - (np.cumsum(cut.sizes) - cut.sizes)[cut.run_of_part]
        is_kept = np.ones(len(starts), dtype=np.bool_)
        is_kept[_part_places(cut)[place >= MAX_PARTS]] = False
        words_before = np.concatenate([[0], np.cumsum(is_kept)])[words_before]
        starts, ends = starts[is_kept], ends[is_kept]
    hashes = hashes_of(cut.letters, starts, ends)
    return Scanned(cut.letters.tobytes(), starts, ends, hashes, np.diff(words_before))


class _Cut(Struct, frozen=True):
    """Letters and digits in a row, and where words are cut."""

    letters: Bytes
    parts: Indices  # where each part starts
    run_of_part: Indices  # which run of letters, digits and underscores it is of
    runs: Indices  # where each run starts
    sizes: Indices  # parts of each run
    text_runs: Indices  # before which run each text starts, and one more


def _words(cut: _Cut) -> tuple[Indices, Indices]:
    """Give where each word starts and ends: the parts of a run, then all of it if there are several."""
    is_compound = cut.sizes > 1
    place = _part_places(cut)
    whole = (np.cumsum(cut.sizes) + np.cumsum(is_compound) - 1)[is_compound]
    starts = np.empty(len(place) + len(whole), dtype=np.intp)
    ends = np.empty(len(starts), dtype=np.intp)
    starts[place], starts[whole] = cut.parts, cut.runs[is_compound]
    ends[place] = np.append(cut.parts[1:], len(cut.letters))
    ends[whole] = np.append(cut.runs[1:], len(cut.letters))[is_compound]
    for word in np.flatnonzero(ends - starts > MAX_TERM_CHARS).tolist():
        if cut.letters[starts[word] : ends[word]].max() < 128:  # others were cut by the analyzer
            ends[word] = starts[word] + MAX_TERM_CHARS
    return starts, ends


def _part_places(cut: _Cut) -> Indices:
    """Give which word each part is, the wholes counted."""
    is_compound = cut.sizes > 1
    wholes_before: Indices = np.cumsum(is_compound) - is_compound
    places: Indices = np.arange(len(cut.parts)) + wholes_before[cut.run_of_part]
    return places


def _cut(texts: Sequence[str]) -> _Cut:
    plain = [text if text.isascii() else text.translate(_LATIN) for text in texts]
    analysed = [place for place, text in enumerate(plain) if not text.isascii()]
    for place in analysed:
        plain[place] = " ".join(words(texts[place]))
    encoded = [text.encode() for text in plain]
    joined = b"\n".join(encoded)
    kinds = np.frombuffer(bytearray(joined.translate(_KINDS)), dtype=np.uint8)
    ends = np.cumsum([len(text) + 1 for text in encoded], dtype=np.intp)
    for text in analysed:
        its = kinds[ends[text] - 1 - len(encoded[text]) : ends[text] - 1]
        its[its > _BLANK] = _SMALL  # not cut again
    at = np.flatnonzero(kinds > _JOINER)
    is_run = _run_starts(kinds, at)
    parts, runs = np.flatnonzero(_part_starts(kinds[at], at)), np.flatnonzero(is_run)
    run_of_part = np.cumsum(is_run[parts]) - 1
    text_runs = np.concatenate([[0], np.searchsorted(at[runs], ends)])
    letters = np.frombuffer(joined.lower(), dtype=np.uint8)[at]
    return _Cut(letters, parts, run_of_part, runs, np.bincount(run_of_part, minlength=len(runs)), text_runs)


def _run_starts(kinds: Bytes, at: Indices) -> Flags:
    """Tell before which letters and digits there is more than underscores."""
    starts = np.ones(len(at), dtype=np.bool_)
    gaps = np.flatnonzero(at[1:] - at[:-1] > 1) + 1
    is_joined = kinds[at[gaps] - 1] == _JOINER
    starts[1:] = False
    starts[gaps] = ~is_joined
    wide = gaps[is_joined & (at[gaps] - at[gaps - 1] > 2)]  # there may be more than the last underscore
    joiners = np.flatnonzero(kinds == _JOINER)
    between = np.searchsorted(joiners, at[wide]) - np.searchsorted(joiners, at[wide - 1])
    starts[wide] = between < at[wide] - at[wide - 1] - 1
    return starts


def _part_starts(kinds: Bytes, at: Indices) -> Flags:
    """Tell where a part starts: at another kind or a gap, but a small letter goes with the capital before it."""
    starts = np.ones(len(kinds), dtype=np.bool_)
    is_apart = at[1:] - at[:-1] > 1
    is_capital, is_small = kinds == _CAPITAL, kinds == _SMALL
    starts[1:] = (kinds[1:] != kinds[:-1]) & ~(is_capital[:-1] & is_small[1:]) | is_apart
    starts[1:-1] |= is_capital[:-2] & is_capital[1:-1] & is_small[2:] & ~is_apart[1:]  # HTTPServer
    return starts
