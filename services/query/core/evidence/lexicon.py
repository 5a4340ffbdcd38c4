"""The words met so far, analysed once, as arrays (pure but for this memory).

Texts are scanned for the hashes of their words; words met for the first time are analysed together, which costs half
of one by one. What does not depend on the question is kept: for each folded word the key of its term, its own key and
those of its 4-grams; for the last few thousand texts which words they have.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from services.query.core.evidence.hashed import Hashes, HashTable, Indices, Numbers, hash_of, hashes_of
from services.query.core.evidence.scan import scan
from shared.analyzer import stems
from shared.stopwords import STOP_WORDS

Keys = npt.NDArray[np.uint32]

# All is forgotten when one is reached: 262,144 words with their grams and 16,384 passages are 60 MB.
MAX_WORDS: Final = 262_144
MAX_GRAMS: Final = 12 * MAX_WORDS
MAX_TEXTS: Final = 16_384
GRAM_CHARS: Final = 4

STOP: Final = 1  # lowest bit of a word's key
_NO_NUMBERS: Final = np.empty(0, dtype=np.int32)
_FIRST_CAPACITY: Final = 4_096
_GROWTH: Final = 1.5


class Words(Struct, frozen=True):
    """What is known of each word by its number; later words lie behind what this has."""

    terms: Hashes  # of its term
    term_bytes: Numbers  # how long that is
    chars: Numbers  # how many letters and digits it has itself
    keys: Keys  # word_key
    grams: Keys  # of all words, one after the other; a stop word has none
    gram_at: Numbers  # where the grams of each word begin, and one more


class Lexicon:
    """Gives words numbers; for one thread at a time."""

    def __init__(self, max_words: int = MAX_WORDS) -> None:
        self._max_words = max_words
        self.forget()

    @property
    def size(self) -> int:
        """How many words it has."""
        return len(self._keys.held)

    def read(self, texts: Sequence[str], *, is_kept: bool = True) -> tuple[Words, Numbers, Indices]:
        """Give what is known of words, the number of each token of the texts, and how many tokens each text has.

        The tokens are the analyzer's, in its order. Texts that will hardly come again need not be kept.
        """
        try:
            number, sizes = self._kept(texts) if is_kept else self._numbered(texts)
            words = self._words()
        except BaseException:
            self.forget()  # numbers were given that nothing is known of
            raise
        if self.size >= self._max_words or len(words.grams) >= MAX_GRAMS:
            self.forget()
        return words, number, sizes

    def forget(self) -> None:
        """Give all memory back; what was given out stays as it is."""
        self._texts: dict[int, Numbers] = {}
        self._numbers = HashTable()
        self._terms = _Growing(np.zeros(_FIRST_CAPACITY, dtype=np.uint64))
        self._term_bytes, self._chars, self._gram_at = _numbers(), _numbers(), _numbers()
        self._gram_at.add(np.zeros(1, dtype=np.int32))
        self._keys, self._grams = _keys(), _keys()

    def _words(self) -> Words:
        return Words(
            terms=self._terms.held,
            term_bytes=self._term_bytes.held,
            chars=self._chars.held,
            keys=self._keys.held,
            grams=self._grams.held,
            gram_at=self._gram_at.held,
        )

    def _kept(self, texts: Sequence[str]) -> tuple[Numbers, Indices]:
        keys = list(map(hash, texts))  # 64 bits and other ones in each process: no text stands for another
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._texts}
        if len(self._texts) + len(fresh) > MAX_TEXTS:
            self._texts = {key: self._texts[key] for key in keys if key in self._texts}
        number, sizes = self._numbered(list(fresh.values()))
        ends = np.cumsum(sizes).tolist()
        for key, start, end in zip(fresh, [0, *ends], ends, strict=False):
            self._texts[key] = number[start:end]
        found = [self._texts[key] for key in keys]
        return np.concatenate([_NO_NUMBERS, *found]), np.array(list(map(len, found)), dtype=np.intp)

    def _numbered(self, texts: Sequence[str]) -> tuple[Numbers, Indices]:
        scanned = scan(texts)
        number = self._numbers.get(scanned.hashes)
        unknown = np.flatnonzero(number < 0)
        if len(unknown):
            hashes, first, of = np.unique(scanned.hashes[unknown], return_index=True, return_inverse=True)
            number[unknown] = self.size + of
            self._numbers.add(hashes, np.arange(self.size, self.size + len(hashes), dtype=np.int32))
            self._add(hashes, scanned.read(unknown[first]))
        return number, scanned.sizes

    def _add(self, hashes: Hashes, words: list[str]) -> None:
        terms = [term.encode() for term in stems(words)]
        sizes = np.array(list(map(len, terms)), dtype=np.intp)
        ends = np.cumsum(sizes)
        self._terms.add(hashes_of(np.frombuffer(b"".join(terms), dtype=np.uint8), ends - sizes, ends))
        self._term_bytes.add(sizes)
        self._chars.add(np.array(list(map(len, words)), dtype=np.intp))
        self._keys.add(word_keys(hashes, np.array([word in STOP_WORDS for word in words], dtype=np.bool_)))
        grams, sizes = grams_of(words)
        self._grams.add(grams)
        self._gram_at.add(self._gram_at.last + np.cumsum(sizes))


N = TypeVar("N", bound=np.integer[Any])


class _Growing(Generic[N]):
    """An array that is added to; what was given out of it stays as it is."""

    def __init__(self, array: npt.NDArray[N]) -> None:
        self._array = array
        self._count = 0

    @property
    def held(self) -> npt.NDArray[N]:
        return self._array[: self._count]

    @property
    def last(self) -> int:
        return int(self._array[self._count - 1])

    def add(self, values: npt.NDArray[np.integer[Any]]) -> None:
        count = self._count + len(values)
        if count > len(self._array):
            wider = np.zeros(max(count, int(len(self._array) * _GROWTH)), dtype=self._array.dtype)
            wider[: self._count] = self.held
            self._array = wider
        self._array[self._count : count] = values
        self._count = count


def _numbers() -> _Growing[np.int32]:
    return _Growing(np.zeros(_FIRST_CAPACITY, dtype=np.int32))


def _keys() -> _Growing[np.uint32]:
    return _Growing(np.zeros(_FIRST_CAPACITY, dtype=np.uint32))


def spread(starts: Indices | Numbers, sizes: Indices | Numbers) -> Indices:
    """Give the places of runs of `sizes` that begin at `starts`, one run behind the other."""
    ends = np.cumsum(sizes, dtype=np.intp)
    total = int(ends[-1]) if len(ends) else 0
    shifts: Indices = starts - (ends - sizes)
    return np.repeat(shifts, sizes) + np.arange(total)


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
