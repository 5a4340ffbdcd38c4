"""Texts as the numbers of their words, ready to be compared with what was asked (pure).

A question has a few dozen keys and a hundred passages have some 20,000 tokens of 5,000 distinct words: what was asked
is looked for among the distinct words, and only those that have it are looked up in the texts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from services.query.core.evidence.hashed import Hashes, Indices, Numbers, hashes_of_joined
from services.query.core.evidence.lexicon import STOP, Keys, Lexicon, term_keys

Flags = npt.NDArray[np.bool_]
Weights = npt.NDArray[np.float64]


class Sizes(Struct, frozen=True):
    """How long texts are."""

    tokens: Indices
    telling: Indices  # tokens that are no stop words
    grams: Indices  # 4-grams, with repeats


class Tokens(Struct, frozen=True):
    """The tokens of several texts, one after the other."""

    lexicon: Lexicon
    distinct: Indices  # numbers of the words they have, ascending
    word: Indices  # which of the distinct words each token is
    text: Indices  # which text each token is of, ascending
    sizes: Sizes  # of each text

    @property
    def texts(self) -> int:
        """How many texts they are of."""
        return len(self.sizes.tokens)

    @property
    def stems(self) -> Keys:
        """The term_key of each distinct word."""
        return term_keys(self.lexicon.terms(self.distinct)[0])

    @property
    def words(self) -> Keys:
        """The word_key of each distinct word."""
        return self.lexicon.keys(self.distinct)

    @property
    def chars(self) -> Numbers:
        """How many letters and digits each distinct word has."""
        return self.lexicon.chars(self.distinct)

    @property
    def tells(self) -> Flags:
        """Which tokens are no stop words."""
        is_telling: Flags = (self.words & STOP) == 0
        return is_telling[self.word]

    def grams(self) -> tuple[Keys, Indices]:
        """Give the keys of the distinct words' 4-grams, one word after the other, and how many each has."""
        return self.lexicon.grams(self.distinct)

    def of(self, is_wanted: Flags) -> Indices:
        """Give the places of the tokens that are one of some distinct words."""
        return np.flatnonzero(is_wanted[self.word])

    def joined(self, word: Indices, sizes: Indices) -> Hashes:
        """Give the hashes of the terms of distinct words as one, for runs of `sizes` of them."""
        terms, term_bytes = self.lexicon.terms(self.distinct[word])
        return hashes_of_joined(terms, term_bytes.astype(np.intp), sizes)


def analyse(texts: Sequence[str], lexicon: Lexicon | None = None) -> Tokens:
    """Give the tokens of texts, which are exactly the analyzer's, in its order."""
    known = lexicon or Lexicon()
    number, sizes = known.read(texts)
    return tokens_of(known, number, sizes_of(known, number, sizes))


def tokens_of(lexicon: Lexicon, number: Numbers, sizes: Sizes) -> Tokens:
    """Give the tokens of texts of these sizes by the number of each in the lexicon."""
    at: Indices = number.astype(np.intp)
    is_there = np.zeros(lexicon.size, dtype=np.bool_)
    is_there[at] = True
    distinct = np.flatnonzero(is_there)
    place = np.empty(lexicon.size, dtype=np.intp)
    place[distinct] = np.arange(len(distinct))
    return Tokens(lexicon, distinct, place[at], np.repeat(np.arange(len(sizes.tokens)), sizes.tokens), sizes)


def sizes_of(lexicon: Lexicon, number: Numbers, tokens: Indices) -> Sizes:
    """Measure texts of so many tokens, one after the other."""
    is_telling, ends = (lexicon.keys(number) & STOP) == 0, np.cumsum(tokens)
    return Sizes(tokens, _sums(is_telling, ends), _sums(lexicon.gram_counts(number), ends))


def _sums(values: npt.NDArray[np.bool_] | Indices, ends: Indices) -> Indices:
    """Add up the values of runs that end there, one behind the other."""
    sums = np.concatenate([np.zeros(1, dtype=np.intp), np.cumsum(values, dtype=np.intp)])[ends]
    return np.diff(sums, prepend=0)
