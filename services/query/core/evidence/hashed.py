"""Words as 64-bit hashes: computed, joined and looked up thousands at once (pure but for what a table holds).

A hash is the sum of a word's bytes, each times a power of the multiplier. So differences of running sums give the hash
of every word of a text, and the hash of words written as one follows from theirs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Hashes = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.intp]
Numbers = npt.NDArray[np.int32]

# Any odd number will do that looks like chance: an even one has no inverse.
_MULTIPLIER: Final = 0x9E3779B97F4A7C15
_MASK: Final = (1 << 64) - 1

_FIRST_BITS: Final = 14
_SPREAD: Final = np.uint64(0x9FB21C651E98DF25)  # odd: the upper bits of a product depend on all of the hash
_EMPTY: Final = np.uint64(0)


def hash_of(word: str) -> int:
    """Give the hash of one word, never 0."""
    total, power = 0, _MULTIPLIER
    for byte in word.encode():
        total, power = total + byte * power, power * _MULTIPLIER & _MASK
    return total & _MASK or 1


def hashes_of(letters: Bytes, starts: Indices, ends: Indices) -> Hashes:
    """Give the hash of each word that stands in `letters`, never 0."""
    powers, inverses = _powers(max(1, len(letters) - 1).bit_length())
    sums = np.zeros(len(letters) + 1, dtype=np.uint64)
    np.cumsum(np.multiply(letters, powers[: len(letters)], dtype=np.uint64), out=sums[1:])
    hashes: Hashes = np.maximum((sums[ends] - sums[starts]) * inverses[starts] * np.uint64(_MULTIPLIER), np.uint64(1))
    return hashes


def hashes_of_joined(hashes: Hashes, sizes: Indices, words: Indices) -> Hashes:
    """Give the hashes of runs of words written as one.

    Args:
        hashes: of the words, one run behind the other.
        sizes: bytes of each word.
        words: how many each run has.
    """
    before = np.cumsum(sizes) - sizes
    ends = np.cumsum(words)
    starts = ends - words
    inside = before - np.repeat(before[np.minimum(starts, len(before) - 1)], words) if len(before) else before
    powers, _ = _powers(max(1, int(inside.max(initial=0))).bit_length())
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(hashes * powers[inside], dtype=np.uint64)])
    joined: Hashes = sums[ends] - sums[starts]
    return joined


@lru_cache(maxsize=32)
def _powers(bits: int) -> tuple[Hashes, Hashes]:
    """Give 2 ** `bits` powers of the multiplier and of its inverse."""
    inverse = pow(_MULTIPLIER, -1, 1 << 64)
    factors = np.full((2, 1 << bits), [[_MULTIPLIER], [inverse]], dtype=np.uint64)
    factors[:, 0] = 1
    powers = np.cumprod(factors, axis=1)
    return powers[0], powers[1]


class HashTable:
    """Open addressing in two arrays, at most half full: 40 nanoseconds a look-up."""

    def __init__(self) -> None:
        self._bits = _FIRST_BITS
        self._hashes = np.zeros(1 << self._bits, dtype=np.uint64)
        self._numbers = np.full(1 << self._bits, -1, dtype=np.int32)
        self._count = 0

    @property
    def bytes(self) -> int:
        """What it takes."""
        return self._hashes.nbytes + self._numbers.nbytes

    def assign(self, hashes: Hashes) -> tuple[Numbers, Indices]:
        """Give the number of each hash, new ones those that follow; and where the new ones first stand, by number."""
        numbers = self.get(hashes)
        unknown = np.flatnonzero(numbers < 0)
        if not len(unknown):
            return numbers, unknown
        new, first, of = np.unique(hashes[unknown], return_index=True, return_inverse=True)
        numbers[unknown] = self._count + of
        self.add(new, np.arange(self._count, self._count + len(new), dtype=np.int32))
        return numbers, unknown[first]

    def get(self, hashes: Hashes) -> Numbers:
        """Give the number of each hash, -1 where there is none; 0 is no hash."""
        slots = self._slots(hashes)
        found = self._hashes[slots]
        numbers = np.where(found == hashes, self._numbers[slots], np.int32(-1))
        left = np.flatnonzero((found != hashes) & (found != _EMPTY))
        while len(left):
            slots[left] = (slots[left] + 1) & (len(self._hashes) - 1)
            found = self._hashes[slots[left]]
            is_it = found == hashes[left]
            numbers[left[is_it]] = self._numbers[slots[left[is_it]]]
            left = left[~is_it & (found != _EMPTY)]
        return numbers

    def add(self, hashes: Hashes, numbers: Numbers) -> None:
        """Add hashes that it does not have, each once."""
        self._count += len(hashes)
        if self._count * 2 > len(self._hashes):
            held = self._hashes != _EMPTY
            hashes, numbers = np.append(self._hashes[held], hashes), np.append(self._numbers[held], numbers)
            self._bits = (self._count * 3).bit_length()
            self._hashes = np.zeros(1 << self._bits, dtype=np.uint64)
            self._numbers = np.full(1 << self._bits, -1, dtype=np.int32)
        slots, left = self._slots(hashes), np.arange(len(hashes))
        while len(left):
            free = left[self._hashes[slots[left]] == _EMPTY]
            self._hashes[slots[free]] = hashes[free]  # of several that want one slot, the last gets it
            left = left[self._hashes[slots[left]] != hashes[left]]
            slots[left] = (slots[left] + 1) & (len(self._hashes) - 1)
        self._numbers[slots] = numbers

    def _slots(self, hashes: Hashes) -> Indices:
        return ((hashes * _SPREAD) >> np.uint64(64 - self._bits)).astype(np.intp)
