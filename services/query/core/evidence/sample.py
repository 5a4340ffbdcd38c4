"""What a sample of an index says about all of it: how long chunks are, and how many hold each 4-gram (pure).

Grams are not counted in the index: with 128 chunks sampled instead of all counted, NDCG changes by less than .001.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from services.query.core.evidence.growing import spread
from services.query.core.evidence.lexicon import Keys
from services.query.core.evidence.tokens import Weights, analyse

SAMPLED_CHUNKS: Final = 128


class Sample(Struct, frozen=True, kw_only=True):
    """A sample of the chunks, analysed."""

    sampled: int
    mean_bytes: float  # of a chunk
    mean_tokens: float
    mean_telling: float  # of those, no stop words
    mean_grams: float
    gram_keys: Keys  # ascending
    gram_shares: Weights  # share of the sampled chunks that hold each

    def shares_of(self, keys: Keys) -> Weights:
        """Give the share of the chunks that hold each gram; 0 for what the sample does not have."""
        if not len(self.gram_keys):
            return np.zeros(len(keys))
        place = np.searchsorted(self.gram_keys, keys)
        place[place == len(self.gram_keys)] = 0
        return np.where(self.gram_keys[place] == keys, self.gram_shares[place], 0.0)


def sample_of(texts: Sequence[str]) -> Sample:
    """Analyse the sampled texts, each a chunk's heading and text as `score.measure` sees them."""
    tokens = analyse(texts)
    sampled = max(1, len(texts))
    in_text = np.unique(tokens.word + len(tokens.distinct) * tokens.text)  # each word once a text
    text, word = np.divmod(in_text, max(1, len(tokens.distinct)))
    grams, sizes = tokens.grams()
    places = spread((np.cumsum(sizes) - sizes)[word], sizes[word])
    of_text = np.unique(
        grams[places].astype(np.uint64) << np.uint64(32) | np.repeat(text, sizes[word]).astype(np.uint64)
    )
    keys, having = np.unique((of_text >> np.uint64(32)).astype(np.uint32), return_counts=True)
    return Sample(
        sampled=sampled,
        mean_bytes=sum(len(text.encode()) for text in texts) / sampled,
        mean_tokens=len(tokens.word) / sampled,
        mean_telling=float(tokens.sizes.telling.sum()) / sampled,
        mean_grams=float(tokens.sizes.grams.sum()) / sampled,
        gram_keys=keys,
        gram_shares=having / sampled,
    )
