"""A second implementation of the encoder: no model, no loading, the same answers everywhere."""

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from shared.vectors import EmbeddingMatrix, Vector

_WORD: Final = re.compile(r"[^\W_]+")


class FakeEncoder:
    """Hashed bag of words: texts that share words are near, others almost orthogonal.

    Deterministic over processes and machines. A text without a word gets a fixed vector of its own.
    """

    def __init__(self, model_id: str = "fake-bag-of-words@00000001", dim: int = 384) -> None:
        self.model_id = model_id
        self.dim = dim
        self.truncated = 0
        self.encoded: list[str] = []  # every text ever asked for, so that a test can see what was embedded

    def encode(self, texts: Sequence[str]) -> EmbeddingMatrix:
        """Embed `texts`, in their order, as (texts, dim) unit vectors."""
        self.encoded.extend(texts)
        matrix = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            words = set(_WORD.findall(text.lower())) or {""}
            # sorted: the order of float additions shows in the last bit
            total = np.sum([_direction(word, self.dim) for word in sorted(words)], axis=0, dtype=np.float32)
            matrix[row] = total / np.linalg.norm(total)
        return matrix

    def close(self) -> None:
        """Nothing to give back."""


@lru_cache(maxsize=100_000)
def _direction(word: str, dim: int) -> Vector:
    seed = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    # The bit generator's raw output is specified and stable over numpy versions; its distributions are not.
    raw = np.random.PCG64(int.from_bytes(seed, "little")).random_raw(dim)
    vector: Vector = (raw >> np.uint64(40)).astype(np.float32) / np.float32(2**23) - np.float32(1)
    return vector
