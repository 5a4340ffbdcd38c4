"""A text's tokens and 4-grams as arrays of keys, ready to be compared with a question's (pure).

The tokens are exactly the analyzer's, in its order. Each raw word is analysed once and remembered as the bytes of its
keys, so that a text costs one pass of a regular expression and one look-up a word (60 kB: 3 ms).
"""

from __future__ import annotations

import re
import struct
import unicodedata
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from shared.analyzer import stem, words
from shared.stopwords import STOP_WORDS

Keys = npt.NDArray[np.uint32]
Indices = npt.NDArray[np.intp]
Weights = npt.NDArray[np.float64]

# Emptied when full, as the analyzer's memo is. 65,536 words and their grams are about 30 MB.
MAX_MEMO_WORDS: Final = 65_536
MAX_MEMO_WORD_CHARS: Final = 64
GRAM_CHARS: Final = 4

_WORD: Final = re.compile(r"\w+")
_STOP: Final = 1  # lowest bit of a word's key
_TOKEN_BYTES, _KEY_BYTES = 8, 4


class Tokens(Struct, frozen=True):
    """The tokens of several texts, one after the other."""

    stems: Keys  # term_key of each token's term
    words: Keys  # word_key of each token
    text: Indices  # which text each token is of, ascending
    lengths: npt.NDArray[np.float64]  # tokens of each text

    @property
    def tells(self) -> npt.NDArray[np.bool_]:
        """Which tokens are no stop words."""
        is_stop: npt.NDArray[np.bool_] = (self.words & _STOP).astype(np.bool_)
        return ~is_stop


class Grams(Struct, frozen=True):
    """The 4-grams of several texts, one after the other, with repeats."""

    keys: Keys
    text: Indices
    lengths: npt.NDArray[np.float64]


def analyse(texts: Sequence[str]) -> tuple[Tokens, Grams]:
    """Give the tokens and the 4-grams of texts; stop words give no grams."""
    found = [_analysed(text) for text in texts]
    flat, sizes = _joined([tokens for tokens, _ in found], _TOKEN_BYTES)
    pairs = flat.reshape(-1, 2)
    keys, grams = _joined([grams for _, grams in found], _KEY_BYTES)
    return (
        Tokens(pairs[:, 0].copy(), pairs[:, 1].copy(), _numbered(sizes), sizes.astype(np.float64)),
        Grams(keys, _numbered(grams), grams.astype(np.float64)),
    )


def term_key(term: str) -> int:
    """Give the 32 bits by which a term is known."""
    return zlib.crc32(term.encode())


def word_key(word: str) -> int:
    """Give the 31 bits by which a folded word is known, and one that says whether it is a stop word."""
    return zlib.crc32(word.encode()) & ~_STOP | (word in STOP_WORDS)


def word_grams(word: str) -> list[str]:
    """Give the 4-grams of `_word_`; words of one or two letters are one gram.

    >>> word_grams("house")
    ['_hou', 'hous', 'ouse', 'use_']
    """
    if len(word) < GRAM_CHARS - 1:
        return [word]
    framed = f"_{word}_"
    return [framed[i : i + GRAM_CHARS] for i in range(len(framed) - GRAM_CHARS + 1)]


def gram_bytes(word: str) -> bytes:
    """Give the keys of a word's 4-grams, 4 bytes each: the letters themselves, a checksum where they are not ASCII."""
    if not word.isascii():
        return b"".join(zlib.crc32(gram.encode()).to_bytes(4, "little") for gram in word_grams(word))
    if len(word) < GRAM_CHARS - 1:
        return word.encode().ljust(GRAM_CHARS, b"\0")
    framed = f"_{word}_".encode()
    return b"".join([framed[i : i + GRAM_CHARS] for i in range(len(framed) - GRAM_CHARS + 1)])


class _Memo(dict[str, bytes]):
    """Raw word → bytes, computed once, bounded."""

    def __missing__(self, raw: str) -> bytes:
        tokens, grams = _keys_of(raw)
        if len(raw) <= MAX_MEMO_WORD_CHARS:
            if len(_tokens) >= MAX_MEMO_WORDS:
                _tokens.clear()
                _grams.clear()
            _tokens[raw], _grams[raw] = tokens, grams
        return tokens if self is _tokens else grams


def _keys_of(raw: str) -> tuple[bytes, bytes]:
    """Give the bytes of a raw word's tokens and of their grams."""
    tokens, grams = [], []
    for word in words(raw):
        key = word_key(word)
        tokens.append(struct.pack("<II", term_key(stem(word)), key))
        if not key & _STOP:
            grams.append(gram_bytes(word))
    return b"".join(tokens), b"".join(grams)


@lru_cache(maxsize=2_048)
def _analysed(text: str) -> tuple[bytes, bytes]:
    """Give the bytes of a text's tokens and grams: 3 kB for a passage of 500 characters, 7 MB when full."""
    raw = _WORD.findall(text if text.isascii() else unicodedata.normalize("NFC", text))
    return b"".join(map(_tokens.__getitem__, raw)), b"".join(map(_grams.__getitem__, raw))


def _joined(found: Sequence[bytes], width: int) -> tuple[Keys, Indices]:
    sizes = np.array([len(piece) // width for piece in found], dtype=np.intp)
    return np.frombuffer(b"".join(found), dtype="<u4"), sizes


def _numbered(sizes: Indices) -> Indices:
    return np.repeat(np.arange(len(sizes)), sizes)


_tokens: Final = _Memo()
_grams: Final = _Memo()
