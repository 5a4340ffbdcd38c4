"""A small bounded boost for what was touched lately (pure).

It breaks ties in favour of the recent and never lifts the irrelevant: with the default of 0.03 about two
ranks of a fused list.
"""

from __future__ import annotations

import math

from msgspec import Struct

HALF_LIFE_DAYS = 90.0
DAY_NS = 86_400 * 1_000_000_000

# A fresh clone or unpacked archive dates everything alike, which says nothing about what is current.
ONE_AGE_NS = DAY_NS
ONE_AGE_LOW, ONE_AGE_HIGH = 0.05, 0.95


class Recency(Struct, frozen=True, kw_only=True):
    """The boost of one answer: `epsilon` 0 switches it off."""

    epsilon: float
    reference_ns: int  # "now" of the answer

    def boost(self, mtime_ns: int) -> float:
        """Give 1 + epsilon x 2^(-age / 90 days); a file from the future counts as new, one of 1970 as old.

        >>> Recency(epsilon=0.03, reference_ns=0).boost(10**18)
        1.03
        """
        age_days = max(0, self.reference_ns - mtime_ns) / DAY_NS
        return 1.0 + self.epsilon * math.exp2(-age_days / HALF_LIFE_DAYS)


def recency_for(epsilon: float, *, now_ns: int, oldest_ns: int, newest_ns: int) -> Recency:
    """Decide the boost of an answer whose bound is `epsilon`.

    `oldest_ns` and `newest_ns` are the 5th and the 95th percentile of the tree's modification times: closer than a day
    means that nearly the whole tree has one age, and nothing is boosted. "Now" is the end of the current day (UTC), so
    that the same question twice, or asked of two processes, gets the same scores.
    """
    has_ages = newest_ns - oldest_ns > ONE_AGE_NS
    return Recency(epsilon=epsilon if has_ages else 0.0, reference_ns=(now_ns // DAY_NS + 1) * DAY_NS)
