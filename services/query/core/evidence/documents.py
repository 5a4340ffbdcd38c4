"""How well a whole document matches: BM25 over the terms of its body, its path and its names (pure).

The candidates of a document are taken for all that it has of what was asked, so nothing else of it is read; its length
is that of the whole file. Counting all its passages instead gives the same ranking (mean NDCG within .001).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from services.query.core.evidence.asked import Asked
from services.query.core.evidence.hashed import Indices
from services.query.core.evidence.lexicon import Keys
from services.query.core.evidence.naming import Names
from services.query.core.evidence.tokens import Weights
from services.query.core.evidence.wording import Counts, Shares, length_norm, saturated, tally

PATH_WEIGHT: Final = 3.0
NAMES_WEIGHT: Final = 1.0


def by_document(counts: Counts, file_of: Indices, files: int) -> Counts:
    """Add up the counts [passage, item] of each file's passages."""
    order = np.argsort(file_of, kind="stable")
    first = np.searchsorted(file_of[order], np.arange(files))  # every file has a passage
    return np.add.reduceat(counts[order], first, axis=0)


def document_share(body: Counts, lengths: Weights, names: Names, asked: Asked) -> Shares:
    """Give the BM25 of each document over its fields, each normalised by its own length.

    Args:
        body: stems counted, `by_document`.
        lengths: of the whole documents, 1 for a mean one of the index.
        names: of the same documents.
        asked: the question.
    """
    files = len(lengths)
    frequency = body / length_norm(lengths, 1.0)[:, None]
    frequency += PATH_WEIGHT * _field(names.path_keys, names.path_file, files, asked)
    frequency += NAMES_WEIGHT * _field(names.term_keys, names.file[names.term_name], files, asked)
    return saturated(frequency, asked.stems.worth)


def _field(keys: Keys, file: Indices, files: int, asked: Asked) -> Counts:
    lengths = np.bincount(file, minlength=files).astype(np.float64)
    mean = float(lengths.mean()) if files else 1.0
    return tally(keys, file, files, asked.stems) / length_norm(lengths, mean)[:, None]
