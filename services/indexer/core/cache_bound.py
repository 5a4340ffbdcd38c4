"""How many vectors are kept that no text uses now (pure): who switches a branch back finds them again."""

from __future__ import annotations

CACHE_ROWS = 20_000
CACHE_SHARE = 0.2  # of the vectors in use
CACHE_AGE_NS = 30 * 24 * 3600 * 1_000_000_000


def kept_unused(used: int) -> int:
    """Give the bound for an index with `used` vectors in use.

    >>> kept_unused(1_000), kept_unused(500_000)
    (20000, 100000)
    """
    return max(CACHE_ROWS, int(used * CACHE_SHARE))
