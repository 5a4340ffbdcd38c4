"""Add the evidence up by fixed weights (pure).

score = (content + names + vector) x demotions. Content is measured per passage and per document: a file counts with
the best of its passages for each kind of evidence, because an answer may be spread over several; a passage that is
worse than the best of its file loses a share of the difference, which puts the passages of one file in order, and each
further one loses a share again, so that a flat list is not one file's.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from services.query.core.evidence.hashed import Indices
from services.query.core.evidence.measure import Evidence
from services.query.core.evidence.weights import BY_FILE, BY_PASSAGE, DEFAULT, DEMOTIONS, GATHERED, NAMES, Weights
from services.query.core.evidence.wording import Shares

Parts = dict[str, float]

# Fitted on questions asked of the texts they are about, and of other texts of the same kind: the score tells the two
# apart (AUC .94 for code by words alone, .97 to 1.0 elsewhere and with vectors). Nine in ten of the first are above .5,
# one in seven of the second without vectors, one in fifty with them.
CONFIDENCE_MIDDLE: Final = 0.26
CONFIDENCE_WIDTH: Final = 0.06


def confidence(score_of_evidence: float) -> float:
    """Say how sure it is that a text with this score answers, 0..1; when the best is unsure, nothing good is there.

    >>> confidence(0.05) < 0.1 < 0.9 < confidence(0.6)
    True
    """
    return 1.0 / (1.0 + math.exp((CONFIDENCE_MIDDLE - score_of_evidence) / CONFIDENCE_WIDTH))


def score(evidence: Evidence, weights: Weights = DEFAULT) -> list[Parts]:
    """Give the named parts of each candidate's score, in order; they add up to it."""
    parts = {name: values / weights.content for name, values in _additions(evidence, weights).items()}
    factors = {name: _factor(evidence, name, weights) for name in DEMOTIONS}
    total = sum(parts.values(), np.zeros(len(evidence.file_of)))
    for name, factor in factors.items():
        parts[name] = -total * factor
        total = total * (1.0 - factor)
    parts["later_passage"] = -total * (1.0 - (1.0 - weights.later_passage) ** _earlier(total, evidence.file_of))
    columns = {name: values.tolist() for name, values in parts.items() if values.any()}
    return [{name: column[i] for name, column in columns.items() if column[i]} for i in range(len(evidence.file_of))]


def _earlier(scores: Shares, file_of: Indices) -> Shares:
    """Count for each passage those of its file that stand before it."""
    order = np.lexsort((np.arange(len(scores)), -scores, file_of))
    place = np.empty(len(scores))
    place[order] = np.arange(len(scores))
    first = np.full(int(file_of.max(initial=-1)) + 1, np.inf)
    np.minimum.at(first, file_of, place)
    return np.asarray(place - first[file_of], dtype=np.float64)


def _additions(evidence: Evidence, weights: Weights) -> dict[str, Shares]:
    file_of, files = evidence.file_of, len(evidence.is_prose)
    parts: dict[str, Shares] = {}
    lost = np.zeros(len(file_of))
    for name in BY_PASSAGE:
        weight, own = getattr(weights, name), evidence.by_passage[name]
        best = np.zeros(files)
        np.maximum.at(best, file_of, own)
        parts[name] = weight * best[file_of]
        lost += weight * (best[file_of] - own)
    scale = 1.0 + evidence.is_prose * (weights.prose_names - 1.0)
    for name in (*BY_FILE, *NAMES, *GATHERED):
        by_file = getattr(weights, name) * evidence.by_file[name]
        parts[name] = (by_file * scale if name in NAMES else by_file)[file_of]
    least = np.full(files, np.inf)
    np.minimum.at(least, file_of, lost)
    parts["worse_passage"] = -weights.worse_passage * (lost - least[file_of])
    return parts


def _factor(evidence: Evidence, name: str, weights: Weights) -> Shares:
    factor = getattr(weights, name) * evidence.by_file[name]
    if name == "asides":  # an example among the tests is a test
        factor = np.where(evidence.by_file["tests"] > 0.0, 0.0, factor)
    return np.asarray(factor[evidence.file_of], dtype=np.float64)
