"""Find the vectors worth comparing exactly by sketches of two bits a number (pure; numpy only).

A sketch has each number's sign, and whether it is large: 96 bytes instead of 1,536. Three looks narrow the vectors
down, each over fewer and each closer: how many signs differ from the question's; the question's own numbers summed by
the signs; the same with what is large counted more. What is left has to be compared by whoever holds the vectors.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shared.vectors import EmbeddingMatrix, Vector

Sketches: TypeAlias = NDArray[np.uint64]
"""Shape (words, vectors): the signs, then what is large, 64 numbers a word. One word of all vectors lies together, so a
scan adds whole rows."""

Positions: TypeAlias = NDArray[np.intp]
"""Which vectors, by their column."""

BROAD_SHARE: Final = 8
BROAD_LEAST: Final = 4_096
"""The first look keeps one in so many and never fewer than the least: signs alone are coarse (the best 1,600 of 14,000
real vectors by them hold 0.992 of the nearest hundred, and fewer the more vectors there are)."""

NARROW: Final = 5
"""The second look keeps so many times what is wanted. Wanting 240 then finds 0.999 of the nearest sixty among 31,000
real vectors, 420 questions asked of them, and the nearest ten but for equal texts."""

_LARGE: Final = 0.98  # times the mean size of a number: the best border for one bit of size (Lloyd and Max)
_SIZE_WEIGHTS: Final = (6, 7)  # 2 x 0.453 and 1.51 - 0.453: what small and large numbers are on the average
_QUESTION_BITS: Final = 5  # finer changes nothing: the sketch is what is coarse
_HALF: Final = 1 << (_QUESTION_BITS - 1)


def sketch(matrix: EmbeddingMatrix) -> Sketches:
    """Sketch unit vectors: (vectors, dim) to (dim / 32, vectors); `dim` is a multiple of 64."""
    border = _LARGE / float(np.sqrt(matrix.shape[1]))
    return np.ascontiguousarray(np.hstack([_words(matrix > 0), _words(np.abs(matrix) > border)]).T)


def nearest(sketches: Sketches, question: Vector, count: int, among: Positions | None = None) -> Positions:
    """Give the `count` vectors most like `question` as far as sketches tell, in no order.

    `among` are the only ones that may be chosen; where they are no more than `count` they all are. 2 ms for 75,000.
    """
    if among is not None:
        if len(among) <= count:
            return among
        return among[nearest(_taken(sketches, among), question, count)]
    words, vectors = sketches.shape
    if vectors <= count:
        return np.arange(vectors)
    signs, large = sketches[: words // 2], sketches[words // 2 :]
    weights = _Weights(question)
    found = _fewest(_differing(signs, question), max(BROAD_LEAST, vectors // BROAD_SHARE, count * NARROW))
    found = _best(found, weights.over(_taken(signs, found)), count * NARROW)
    return _best(found, _product(_taken(signs, found), _taken(large, found), weights), count)


class _Weights:
    """The numbers of a question, rounded, to be summed over the ones of sketches."""

    def __init__(self, question: Vector) -> None:
        scale = (_HALF - 1) / max(float(np.abs(question).max()), 1e-9)
        rounded = np.rint(question * scale).astype(np.int64) + _HALF  # 1 and more, so that bits can stand for it
        self._planes = [_words((rounded[None, :] >> plane) & 1 == 1)[0] for plane in range(_QUESTION_BITS)]
        self._all = np.full(len(self._planes[0]), ~np.uint64(0))

    def over(self, bits: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Sum for each column of `bits`."""
        total = -_HALF * _common(bits, self._all)
        for plane, mask in enumerate(self._planes):
            total += _common(bits, mask) << plane
        return total


def _product(signs: NDArray[np.uint64], large: NDArray[np.uint64], weights: _Weights) -> NDArray[np.int32]:
    """Approach the inner product but for a factor and a constant."""
    low, more = _SIZE_WEIGHTS
    return low * weights.over(signs) + more * (weights.over(signs & large) - weights.over(~signs & large))


def _differing(signs: NDArray[np.uint64], question: Vector) -> NDArray[np.uint16]:
    differing = np.zeros(signs.shape[1], dtype=np.uint16)
    for word, asked in zip(signs, _words(question[None, :] > 0)[0], strict=True):
        differing += np.bitwise_count(word ^ asked)
    return differing


def _fewest(differing: NDArray[np.uint16], count: int) -> Positions:
    """Give the positions of the `count` smallest, and of all that equal the largest of them.

    Counting them by value is three times faster than partitioning.
    """
    at_most = int(np.searchsorted(np.cumsum(np.bincount(differing)), count))
    return np.flatnonzero(differing <= at_most)


def _best(found: Positions, values: NDArray[np.int32], count: int) -> Positions:
    return found[np.argpartition(-values, count)[:count]] if len(found) > count else found


def _taken(bits: NDArray[np.uint64], found: Positions) -> NDArray[np.uint64]:
    """Take some columns; unlike `bits[:, found]` this keeps words together."""
    return np.take(bits, found, axis=1)


def _common(bits: NDArray[np.uint64], mask: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Count the ones of each sketch that `mask` has too; word by word, because summing an axis is slower."""
    common = np.zeros(bits.shape[1], dtype=np.uint16)
    for word, wanted in zip(bits, mask, strict=True):
        common += np.bitwise_count(word & wanted)
    return common.astype(np.int32)


def _words(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    return np.packbits(bits, axis=1).view(np.uint64)
