"""Texts as the numbers of their words, ready to be compared with what was asked (pure).

A question has a few dozen keys and a hundred passages have some 20,000 tokens of 5,000 distinct words: what was asked
is looked for among the distinct words, and only those that have it are looked up in the texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from services.query.core.evidence.hashed import Hashes, Indices, hashes_of_joined
from services.query.core.evidence.lexicon import STOP, Keys, Lexicon, Words, spread, term_keys

Weights = npt.NDArray[np.float64]


class Tokens(Struct, frozen=True):
    """The tokens of several texts, one after the other."""

    known: Words
    distinct: Indices  # numbers of the words they have, ascending
    word: Indices  # which of the distinct words each token is
    text: Indices  # which text each token is of, ascending
    lengths: Weights  # tokens of each text

    @property
    def stems(self) -> Keys:
        """The term_key of each distinct word."""
        return term_keys(self.known.terms[self.distinct])

    @property
    def words(self) -> Keys:
        """The word_key of each distinct word."""
        return self.known.keys[self.distinct]

    @property
    def chars(self) -> Indices:
        """How many letters and digits each distinct word has."""
        return self.known.chars[self.distinct].astype(np.intp)

    @property
    def tells(self) -> npt.NDArray[np.bool_]:
        """Which tokens are no stop words."""
        is_telling: npt.NDArray[np.bool_] = (self.words & STOP) == 0
        return is_telling[self.word]

    @property
    def telling(self) -> Weights:
        """How many tokens of each text are no stop words."""
        return np.bincount(self.text[self.tells], minlength=len(self.lengths)).astype(np.float64)

    @property
    def gram_lengths(self) -> Weights:
        """How many 4-grams each text has, with repeats."""
        sizes = self._gram_sizes[self.word].astype(np.float64)
        return np.bincount(self.text, weights=sizes, minlength=len(self.lengths)).astype(np.float64)

    @property
    def _gram_sizes(self) -> Indices:
        sizes = self.known.gram_at[self.distinct + 1] - self.known.gram_at[self.distinct]
        return sizes.astype(np.intp)

    def grams(self) -> tuple[Keys, Indices]:
        """Give the keys of the distinct words' 4-grams, and which of the words each is of."""
        sizes = self._gram_sizes
        places = spread(self.known.gram_at[self.distinct], sizes)
        return self.known.grams[places], np.repeat(np.arange(len(sizes)), sizes)

    def joined(self, word: Indices, sizes: Indices) -> Hashes:
        """Give the hashes of the terms of distinct words as one, for runs of `sizes` of them."""
        number = self.distinct[word]
        return hashes_of_joined(self.known.terms[number], self.known.term_bytes[number].astype(np.intp), sizes)


def analyse(texts: Sequence[str], *, is_kept: bool = True) -> Tokens:
    """Give the tokens of texts, which are exactly the analyzer's, in its order; see `Lexicon.read`.

    One lexicon is for all questions, so this is for one thread at a time.
    """
    known, number, sizes = _lexicon.read(texts, is_kept=is_kept)
    place = np.full(len(known.keys), -1, dtype=np.intp)
    place[number] = 0
    distinct = np.flatnonzero(place == 0)
    place[distinct] = np.arange(len(distinct))
    text = np.repeat(np.arange(len(sizes)), sizes)
    return Tokens(known, distinct, place[number], text, sizes.astype(np.float64))


def words_held() -> int:
    """Count the words in memory."""
    return _lexicon.size


def forget_words() -> None:
    """Give the memory of words and texts back."""
    _lexicon.forget()


_lexicon: Final = Lexicon()
