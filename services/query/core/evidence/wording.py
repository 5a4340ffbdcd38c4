"""How well the words of a text match those asked: BM25 over stems, words, 4-grams and pairs, and the densest window.

Pure. Every measure takes all texts at once: counts of what was asked, and from them shares of the best possible, 0..1.
A pair is as rare as its more common term, because the index does not count pairs.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from services.query.core.evidence.asked import Asked, Keyed
from services.query.core.evidence.growing import spread
from services.query.core.evidence.hashed import Indices
from services.query.core.evidence.lexicon import Keys
from services.query.core.evidence.tokens import Tokens, Weights

Shares = npt.NDArray[np.float64]  # of the best possible, one a text
Counts = npt.NDArray[np.float64]  # [text, item]

# BM25 as everywhere; 0.9 and 0.9 change nothing measurable.
K1: Final = 1.2
B: Final = 0.75

WINDOW_TOKENS: Final = 15
MAX_WINDOW_ITEMS: Final = 64  # bits of the mask


class Found(Struct, frozen=True):
    """Where items asked stand in texts, in their order."""

    text: Indices
    place: Indices  # among all tokens, or the telling ones
    item: Indices


def stem_counts(tokens: Tokens, asked: Keyed) -> Counts:
    """Count the terms asked in each text: [text, item]; a synonym counts its share."""
    return _counted(tokens, tokens.stems, asked)


def word_counts(tokens: Tokens, asked: Keyed) -> Counts:
    """Count the words asked, as they were written, in each text: [text, item]."""
    return _counted(tokens, tokens.words, asked)


def gram_counts(tokens: Tokens, asked: Keyed) -> Counts:
    """Count the 4-grams asked in each text: [text, item]."""
    keys, sizes = tokens.grams()
    hit, place = _hits(keys, asked)
    before = np.searchsorted(hit, np.append(0, np.cumsum(sizes)))  # hits before each word
    found = np.diff(before)
    token = tokens.of(found > 0)
    word = tokens.word[token]
    item = asked.item[place][spread(before[word], found[word])]
    cell = np.repeat(tokens.text[token] * len(asked.worth), found[word]) + item
    return _table(cell, tokens.texts, len(asked.worth))


def telling(tokens: Tokens, asked: Asked) -> Found:
    """Find the terms asked, their places counted without stop words."""
    item = items(tokens.stems, asked.stems)
    tells = tokens.tells
    token = tokens.of(item >= 0)
    token = token[tells[token]]
    place = np.cumsum(tells, dtype=np.intp)[token]
    return Found(tokens.text[token], place, item[tokens.word[token]])


def pair_counts(found: Found, texts: int, asked: Asked) -> Counts:
    """Count the pairs of terms asked side by side in each text, stop words left out on both sides: [text, pair]."""
    number = np.full((len(asked.stems.worth),) * 2, -1, dtype=np.intp)
    for i, (first, second) in enumerate(asked.pairs):
        number[first, second] = i
    text, place, item = found.text, found.place, found.item
    is_next = (place[1:] - place[:-1] == 1) & (text[1:] == text[:-1])
    pair = np.where(is_next, number[item[:-1], item[1:]], -1)
    cell = (text[:-1] * len(asked.pairs) + pair)[pair >= 0]
    return _table(cell, texts, len(asked.pairs))


def window_share(found: Found, texts: int, asked: Asked) -> Shares:
    """Give the largest share of the question's worth within 15 telling tokens of each text."""
    is_counted = found.item < MAX_WINDOW_ITEMS
    text, place, item = found.text[is_counted], found.place[is_counted], found.item[is_counted]
    best = np.zeros(texts)
    if not len(place):
        return best
    bits = np.left_shift(np.uint64(1), item.astype(np.uint64))
    masks = bits.copy()
    for ahead in range(1, min(WINDOW_TOKENS, len(place))):
        is_near = (place[ahead:] - place[:-ahead] < WINDOW_TOKENS) & (text[ahead:] == text[:-ahead])
        if not is_near.any():
            break  # none is nearer to one that is farther ahead
        masks[:-ahead] |= np.where(is_near, bits[ahead:], np.uint64(0))
    distinct, of_mask = np.unique(masks, return_inverse=True)
    worth = np.zeros(len(distinct))
    for i, weight in enumerate(asked.stems.worth[:MAX_WINDOW_ITEMS]):
        worth += weight * ((distinct >> np.uint64(i)) & np.uint64(1)).astype(np.float64)
    np.maximum.at(best, text, (worth / asked.stems.total)[of_mask])
    return best


def items(keys: Keys, asked: Keyed) -> Indices:
    """Give which item asked each key stands for, -1 for none."""
    found = np.full(len(keys), -1, dtype=np.intp)
    hit, place = _hits(keys, asked)
    found[hit] = asked.item[place]
    return found


def tally(keys: Keys, text: Indices, texts: int, asked: Keyed) -> Counts:
    """Count the items asked among keys of texts: [text, item]; a synonym counts its share."""
    hit, place = _hits(keys, asked)
    cell = text[hit] * len(asked.worth) + asked.item[place]
    return _table(cell, texts, len(asked.worth), asked.share[place])


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


def _counted(tokens: Tokens, keys: Keys, asked: Keyed) -> Counts:
    hit, place = _hits(keys, asked)
    item, share = np.full(len(keys), -1, dtype=np.intp), np.zeros(len(keys))
    item[hit], share[hit] = asked.item[place], asked.share[place]
    token = tokens.of(item >= 0)
    word = tokens.word[token]
    cell = tokens.text[token] * len(asked.worth) + item[word]
    return _table(cell, tokens.texts, len(asked.worth), share[word])


def _table(cell: Indices, texts: int, wide: int, weights: Weights | None = None) -> Counts:
    counts = np.bincount(cell, weights=weights, minlength=texts * wide)
    return counts.reshape(texts, wide).astype(np.float64, copy=False)


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
