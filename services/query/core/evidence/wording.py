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

MANY_KEYS: Final = 4_096  # from here on a table of 16 bits is worth making


class Found(Struct, frozen=True):
    """Where items asked stand in texts, in their order."""

    token: Indices  # place among all tokens
    text: Indices
    item: Indices
    share: Weights  # what each counts: 1, less for a synonym


class Telling(Struct, frozen=True):
    """Where items asked stand in texts, in their order."""

    place: Indices  # counted without stop words, with room for a window between texts
    text: Indices
    item: Indices


def found_among(tokens: Tokens, keys: Keys, asked: Keyed) -> Found:
    """Find items asked; `keys` are those of the distinct words, of their stems or as they were written."""
    hit, place = _hits(keys, asked)
    at = np.full(len(keys), -1, dtype=np.intp)
    at[hit] = place
    token = tokens.of(at >= 0)
    asked_at = at[tokens.word[token]]
    return Found(token, tokens.text[token], asked.item[asked_at], asked.share[asked_at])


def counts(found: Found, texts: int, items: int) -> Counts:
    """Count the items in each text: [text, item]; a synonym counts its share."""
    return _table(found.text * items + found.item, texts, items, found.share)


def gram_counts(tokens: Tokens, asked: Keyed) -> Counts:
    """Count the 4-grams asked in each text: [text, item]."""
    keys, sizes = tokens.grams()
    hit, place = _hits(keys, asked)
    of_word = np.searchsorted(np.cumsum(sizes), hit, side="right")
    found = np.bincount(of_word, minlength=len(sizes))
    token = tokens.of(found > 0)
    word = tokens.word[token]
    item = asked.item[place][spread((np.cumsum(found) - found)[word], found[word])]
    cell = np.repeat(tokens.text[token] * len(asked.worth), found[word]) + item
    return _table(cell, tokens.texts, len(asked.worth))


def telling(tokens: Tokens, stems: Found) -> Telling:
    """Give the stems found that are no stop words."""
    tells = tokens.tells
    of = np.flatnonzero(tells[stems.token])
    text = stems.text[of]
    place = np.cumsum(tells, dtype=np.intp)[stems.token[of]] + WINDOW_TOKENS * text
    return Telling(place, text, stems.item[of])


def pair_counts(found: Telling, texts: int, asked: Asked) -> Counts:
    """Count the pairs of terms asked side by side in each text, stop words left out on both sides: [text, pair]."""
    number = np.full((len(asked.stems.worth),) * 2, -1, dtype=np.intp)
    for i, items_asked in enumerate(asked.pairs):
        number[items_asked] = i
    text, place, item = found.text, found.place, found.item
    first = np.flatnonzero(place[1:] - place[:-1] == 1)
    pair = number[item[first], item[first + 1]]
    cell = (text[first] * len(asked.pairs) + pair)[pair >= 0]
    return _table(cell, texts, len(asked.pairs))


def window_share(found: Telling, texts: int, asked: Asked) -> Shares:
    """Give the largest share of the question's worth within 15 telling tokens of each text."""
    is_counted = found.item < MAX_WINDOW_ITEMS
    text, place, item = found.text[is_counted], found.place[is_counted], found.item[is_counted]
    best = np.zeros(texts)
    if not len(place):
        return best
    bits = np.left_shift(np.uint64(1), item.astype(np.uint64))
    masks = bits.copy()
    for ahead in range(1, min(WINDOW_TOKENS, len(place))):
        near = np.flatnonzero(place[ahead:] - place[:-ahead] < WINDOW_TOKENS)
        if not len(near):
            break  # none is nearer to one that is farther ahead
        masks[near] |= bits[near + ahead]
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


def _table(cell: Indices, texts: int, wide: int, weights: Weights | None = None) -> Counts:
    counts = np.bincount(cell, weights=weights, minlength=texts * wide)
    return counts.reshape(texts, wide).astype(np.float64, copy=False)


def _hits(keys: Keys, asked: Keyed) -> tuple[Indices, Indices]:
    """Give where in `keys` something asked stands, and its place in `asked.keys`.

    Most of many keys are ruled out by one look into a table of 16 bits; a binary search for each of 50,000 grams took
    3 ms.
    """
    if not len(asked.keys):
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    if len(keys) < MANY_KEYS:
        place = np.minimum(np.searchsorted(asked.keys, keys), len(asked.keys) - 1)
        hit = np.flatnonzero(asked.keys[place] == keys)
        return hit, place[hit]
    is_likely = np.zeros(1 << 16, dtype=np.bool_)
    is_likely[_halved(asked.keys)] = True
    likely = np.flatnonzero(is_likely[_halved(keys)])
    place = np.minimum(np.searchsorted(asked.keys, keys[likely]), len(asked.keys) - 1)
    is_hit = asked.keys[place] == keys[likely]
    return likely[is_hit], place[is_hit]


def _halved(keys: Keys) -> npt.NDArray[np.uint16]:
    """Fold each key to 16 bits; the letters of a gram lie in both halves."""
    return (keys ^ (keys >> np.uint32(13))).astype(np.uint16)
