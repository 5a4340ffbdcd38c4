"""How well a whole document matches: BM25 over the terms of its body, its path and its names (pure).

The body's counts come from the profile that the indexer keeps, so none of its other passages is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from services.query.core.evidence.asked import Asked
from services.query.core.evidence.naming import FileNames
from services.query.core.evidence.tokens import Keys
from services.query.core.evidence.wording import Shares, length_norm, saturated, tally

PATH_WEIGHT: Final = 3.0
NAMES_WEIGHT: Final = 1.0

_COUNT_BITS: Final = 8
_COUNT_MASK: Final = 0xFF


def document_share(
    profiles: Sequence[bytes], lengths: Sequence[int], files: Sequence[FileNames], asked: Asked, mean_length: float
) -> Shares:
    """Give the BM25 of each document over its fields, each normalised by its own length.

    Args:
        profiles: `terms` of `shared.profile.DocumentProfile`, one a document.
        lengths: `length` of the same.
        files: names and path of the same documents.
        asked: the question.
        mean_length: terms of a document of the index.
    """
    body = _body(profiles, asked) / length_norm(np.asarray(lengths, dtype=np.float64), mean_length)[:, None]
    paths = _field([file.path_keys for file in files], asked)
    names = _field([file.all_name_keys for file in files], asked)
    return saturated(body + PATH_WEIGHT * paths + NAMES_WEIGHT * names, asked.stems.worth)


def _body(profiles: Sequence[bytes], asked: Asked) -> Shares:
    packed = np.frombuffer(b"".join(profiles), dtype="<u4")
    document = np.repeat(np.arange(len(profiles)), [len(profile) // 4 for profile in profiles])
    times = (packed & _COUNT_MASK).astype(np.float64)
    return tally((packed >> _COUNT_BITS).astype(np.uint32), document, len(profiles), asked.stems, times)


def _field(keys: Sequence[Keys], asked: Asked) -> Shares:
    sizes = np.array([len(of_file) for of_file in keys], dtype=np.intp)
    flat = np.concatenate([*keys, np.empty(0, dtype=np.uint32)])
    counts = tally(flat, np.repeat(np.arange(len(keys)), sizes), len(keys), asked.stems)
    return counts / length_norm(sizes.astype(np.float64), float(sizes.mean()) if len(sizes) else 1.0)[:, None]
