"""How much of a file was found: how many of its passages are candidates (pure)."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from services.query.core.evidence.aim import Aim
from services.query.core.evidence.asked import Asked
from services.query.core.evidence.hashed import Indices
from services.query.core.evidence.wording import Shares

MANY: Final = 14  # more are not more telling


def many_passages(file_of: Indices, is_prose: Shares, asked: Asked) -> Shares:
    """Give, for each file, how many of its passages are candidates: 0 for one, 1 for `MANY`, growing by its logarithm.

    Code that does something does it in several places of a file. Prose says what is asked in one of them, so this
    counts by the share of code among the files, and not where it is asked how something is used.
    """
    if asked.aim is Aim.USE or not len(is_prose):
        return np.zeros(len(is_prose))
    passages = np.bincount(file_of, minlength=len(is_prose))
    gathered = np.minimum(1.0, np.log(np.maximum(passages, 1)) / math.log(MANY))
    return np.asarray(gathered * (1.0 - is_prose.mean()), dtype=np.float64)
