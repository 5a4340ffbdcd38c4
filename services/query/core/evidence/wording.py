"""How well the words of a text match those asked: BM25 over stems, words, 4-grams and pairs, and the densest window.

Pure. Every measure takes all texts at once: counts of what was asked, and from them shares of the best possible, 0..1.
A pair is as rare as its more common term, because the index does not count pairs.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from services.query.core.evidence.asked import Asked, Keyed
from services.query.core.evidence.tokens import Indices, Keys, Tokens, Weights

Shares = npt.NDArray[np.float64]  # of the best possible, one a text
Counts = npt.NDArray[np.float64]  # [text, item]

# BM25 as everywhere; 0.9 and 0.9 change nothing measurable.
K1: Final = 1.2
B: Final = 0.75

WINDOW_TOKENS: Final = 15
MAX_WINDOW_ITEMS: Final = 64  # bits of the mask


def pair_counts(tokens: Tokens, asked: Asked) -> Counts:
    """Count the pairs of terms asked side by side in each text, stop words left out on both sides: [text, pair]."""
    counts = np.zeros((len(tokens.lengths), len(asked.pairs)))
    if not asked.pairs:
        return counts
    tells = tokens.tells
    item, text = items(tokens.stems[tells], asked.stems), tokens.text[tells]
    number = np.full((len(asked.stems.worth) + 1,) * 2, -1, dtype=np.intp)
    for i, (first, second) in enumerate(asked.pairs):
        number[first, second] = i
    pair = number[item[:-1], item[1:]]
    found = (pair >= 0) & (text[:-1] == text[1:])
    np.add.at(counts, (text[:-1][found], pair[found]), 1.0)
    return counts


def window_share(tokens: Tokens, asked: Asked) -> Shares:
    """Give the largest share of the question's worth within 15 telling tokens of each text."""
    tells = tokens.tells
    item, text = items(tokens.stems[tells], asked.stems), tokens.text[tells]
    is_hit = (item >= 0) & (item < MAX_WINDOW_ITEMS)
    place, item, text = np.flatnonzero(is_hit), item[is_hit], text[is_hit]
    best = np.zeros(len(tokens.lengths))
    if not len(place):
        return best
    bits = np.left_shift(np.uint64(1), item.astype(np.uint64))
    masks = bits.copy()
    for ahead in range(1, min(WINDOW_TOKENS, len(place))):
        is_near = (place[ahead:] - place[:-ahead] < WINDOW_TOKENS) & (text[ahead:] == text[:-ahead])
        masks[:-ahead] |= np.where(is_near, bits[ahead:], np.uint64(0))
    worth = np.zeros(len(masks))
    for i, weight in enumerate(asked.stems.worth[:MAX_WINDOW_ITEMS]):
        worth += weight * ((masks >> np.uint64(i)) & np.uint64(1)).astype(np.float64)
    np.maximum.at(best, text, worth / asked.stems.total)
    return best


def items(keys: Keys, asked: Keyed) -> Indices:
    """Give which item asked each key stands for, -1 for none."""
    found = np.full(len(keys), -1, dtype=np.intp)
    hit, place = _hits(keys, asked)
    found[hit] = asked.item[place]
    return found


def tally(keys: Keys, text: Indices, texts: int, asked: Keyed, times: Weights | None = None) -> Counts:
    """Count the items asked in each text: [text, item]; a synonym counts its share."""
    wide = len(asked.worth)
    hit, place = _hits(keys, asked)
    counted = asked.share[place] if times is None else asked.share[place] * times[hit]
    cell = text[hit] * wide + asked.item[place]
    counts = np.bincount(cell, weights=counted, minlength=texts * wide)
    return counts.reshape(texts, wide).astype(np.float64, copy=False)


def bm25(counts: Counts, lengths: Weights, mean: float, worth: Weights) -> Shares:
    """Give BM25 of each text over the best possible: everything asked, without end."""
    return saturated(counts / length_norm(lengths, mean)[:, None], worth)


def saturated(frequency: Counts, worth: Weights) -> Shares:
    """Give the share of the worth that length-normalised frequencies [text, item] earn."""
    total = float(worth.sum())
    return (frequency / (frequency + K1)) @ worth / total if total else np.zeros(len(frequency))


def length_norm(lengths: Weights, mean: float) -> Weights:
    """Give by what frequencies are divided: 1 for a text of mean length."""
    return 1.0 - B + B * lengths / max(mean, 1e-9)


def _hits(keys: Keys, asked: Keyed) -> tuple[Indices, Indices]:
    """Give where in `keys` something asked stands, and its place in `asked.keys`.

    Most keys are ruled out by one look into a table of 16 bits; a binary search for each of 50,000 grams took 3 ms.
    """
    if not len(asked.keys):
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    is_likely = np.zeros(1 << 16, dtype=np.bool_)
    is_likely[_halved(asked.keys)] = True
    likely = np.flatnonzero(is_likely[_halved(keys)])
    place = np.searchsorted(asked.keys, keys[likely])
    place[place == len(asked.keys)] = 0
    is_hit = asked.keys[place] == keys[likely]
    return likely[is_hit], place[is_hit]


def _halved(keys: Keys) -> npt.NDArray[np.uint16]:
    """Fold each key to 16 bits; the letters of a gram lie in both halves."""
    return (keys ^ (keys >> np.uint32(13))).astype(np.uint16)
