"""The words met so far, analysed once, as arrays (pure but for this memory).

Texts are scanned for the hashes of their words; words met for the first time are analysed together, which costs half
of one by one. What does not depend on the question is kept: for each folded word the key of its term, its own key and
those of its 4-grams.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from services.query.core.evidence.growing import Growing, Runs, spread
from services.query.core.evidence.hashed import Hashes, HashTable, Indices, Numbers, hash_of, hashes_of
from services.query.core.evidence.scan import scan
from shared.analyzer import stems
from shared.stopwords import STOP_WORDS

Keys = npt.NDArray[np.uint32]

GRAM_CHARS: Final = 4

STOP: Final = 1  # lowest bit of a word's key


class Lexicon:
    """Gives words numbers, and tells by them what is known of each; for one thread at a time."""

    def __init__(self) -> None:
        self._numbers = HashTable()
        self._terms = Growing(np.uint64)
        self._term_bytes, self._chars = Growing(np.int32), Growing(np.int32)
        self._keys, self._grams = Growing(np.uint32), Runs(np.uint32)

    @property
    def size(self) -> int:
        """How many words it has."""
        return self._keys.size

    @property
    def bytes(self) -> int:
        """What it takes."""
        kept = (self._numbers, self._terms, self._term_bytes, self._chars, self._keys, self._grams)
        return sum(part.bytes for part in kept)

    def read(self, texts: Sequence[str]) -> tuple[Numbers, Indices]:
        """Give the number of each token of the texts, and how many tokens each text has.

        The tokens are the analyzer's, in its order.
        """
        scanned = scan(texts)
        number, new = self._numbers.assign(scanned.hashes)
        if len(new):
            self._add(scanned.hashes[new], scanned.read(new))
        return number, scanned.sizes

    def terms(self, number: Indices) -> tuple[Hashes, Numbers]:
        """Give the hash of each word's term, and how long the term is."""
        return self._terms.held[number], self._term_bytes.held[number]

    def chars(self, number: Indices) -> Numbers:
        """Give how many letters and digits each word has itself."""
        return self._chars.held[number]

    def keys(self, number: Indices | Numbers) -> Keys:
        """Give the `word_key` of each word."""
        return self._keys.held[number]

    def grams(self, number: Indices) -> tuple[Keys, Indices]:
        """Give the keys of the words' 4-grams, one word after the other, and how many each has; a stop word has none."""
        return self._grams.of(number)

    def gram_counts(self, number: Numbers) -> Indices:
        """Count the 4-grams of each word."""
        return self._grams.sizes(number)

    def _add(self, hashes: Hashes, words: list[str]) -> None:
        terms = [term.encode() for term in stems(words)]
        sizes = np.array(list(map(len, terms)), dtype=np.intp)
        ends = np.cumsum(sizes)
        self._terms.add(hashes_of(np.frombuffer(b"".join(terms), dtype=np.uint8), ends - sizes, ends))
        self._term_bytes.add(sizes)
        self._chars.add(np.array(list(map(len, words)), dtype=np.intp))
        self._keys.add(word_keys(hashes, np.array([word in STOP_WORDS for word in words], dtype=np.bool_)))
        self._grams.add(*grams_of(words))


def term_keys(hashes: Hashes) -> Keys:
    """Give the 32 bits by which terms are known of their hashes."""
    return (hashes >> np.uint64(32)).astype(np.uint32)


def word_keys(hashes: Hashes, is_stop: npt.NDArray[np.bool_]) -> Keys:
    """Give the 31 bits by which folded words are known of their hashes, and one that says which are stop words."""
    return term_keys(hashes) & np.uint32(~STOP & 0xFFFFFFFF) | is_stop


def term_key(term: str) -> int:
    """Give `term_keys` of one term."""
    return hash_of(term) >> 32


def word_key(word: str) -> int:
    """Give `word_keys` of one folded word."""
    return term_key(word) & ~STOP | (word in STOP_WORDS)


def word_grams(word: str) -> list[str]:
    """Give the 4-grams of `_word_`; words of one or two letters are one gram.

    >>> word_grams("house")
    ['_hou', 'hous', 'ouse', 'use_']
    """
    if len(word) < GRAM_CHARS - 1:
        return [word]
    framed = f"_{word}_"
    return [framed[i : i + GRAM_CHARS] for i in range(len(framed) - GRAM_CHARS + 1)]


def grams_of(words: Sequence[str]) -> tuple[Keys, Indices]:
    """Give the keys of many words' 4-grams, one word after the other, and how many each has; stop words have none."""
    is_plain = np.array([len(word) >= GRAM_CHARS - 1 and word.isascii() for word in words], dtype=np.bool_)
    sizes = np.array(list(map(len, words)), dtype=np.intp) - (GRAM_CHARS - 3)
    sizes[~is_plain] = np.maximum(sizes[~is_plain], 1)
    sizes[[place for place, word in enumerate(words) if word in STOP_WORDS]] = 0
    starts = np.cumsum(sizes) - sizes
    grams = np.empty(int(sizes.sum()), dtype=np.uint32)
    plain = np.flatnonzero(is_plain & (sizes > 0))
    framed = np.frombuffer("".join([f"_{words[place]}_" for place in plain.tolist()]).encode(), dtype=np.uint8).astype(
        np.uint32
    )
    if len(plain):
        windows = framed[:-3] | framed[1:-2] << 8 | framed[2:-1] << 16 | framed[3:] << 24
        widths = sizes[plain] + (GRAM_CHARS - 1)
        grams[spread(starts[plain], sizes[plain])] = windows[spread(np.cumsum(widths) - widths, sizes[plain])]
    for place in np.flatnonzero(~is_plain & (sizes > 0)).tolist():
        grams[starts[place] : starts[place] + sizes[place]] = np.frombuffer(gram_bytes(words[place]), dtype="<u4")
    return grams, sizes


def gram_bytes(word: str) -> bytes:
    """Give the keys of a word's 4-grams, 4 bytes each: the letters themselves, a checksum where they are not ASCII."""
    if not word.isascii():
        return b"".join(zlib.crc32(gram.encode()).to_bytes(4, "little") for gram in word_grams(word))
    if len(word) < GRAM_CHARS - 1:
        return word.encode().ljust(GRAM_CHARS, b"\0")
    framed = f"_{word}_".encode()
    return b"".join([framed[i : i + GRAM_CHARS] for i in range(len(framed) - GRAM_CHARS + 1)])
