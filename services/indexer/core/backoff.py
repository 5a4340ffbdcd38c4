"""When failed work is tried again (pure)."""

from __future__ import annotations

FIRST_RETRY_S = 1.0
LAST_RETRY_S = 60.0
ATTEMPTS_ALONE = 3  # a text that fails alone this often is set aside until it changes or someone asks


def retry_after_s(attempts: int) -> float:
    """Seconds to wait after the `attempts`-th failure in a row (1-based), doubling up to a minute.

    >>> [retry_after_s(n) for n in (1, 2, 3, 20)]
    [1.0, 2.0, 4.0, 60.0]
    """
    return min(LAST_RETRY_S, FIRST_RETRY_S * 2.0 ** min(attempts - 1, 10))
