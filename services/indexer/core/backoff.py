"""When failed work is tried again (pure)."""

from __future__ import annotations

from shared.errors import ErrorCode

FIRST_RETRY_S = 1.0
LAST_RETRY_S = 60.0
ATTEMPTS_ALONE = 3  # a text that fails alone this often is set aside until it changes or someone asks
# Whoever makes space looks at once whether it goes on, and a busy database is free in a moment.
SOON_S = 5.0
_SOON = frozenset({ErrorCode.DISK_FULL, ErrorCode.INDEX_BUSY, ErrorCode.INDEX_READ_ONLY, ErrorCode.INDEX_UNREADABLE})


def retry_after_s(attempts: int, code: ErrorCode | None = None) -> float:
    """Seconds to wait after the `attempts`-th failure in a row (1-based), doubling up to a minute.

    >>> [retry_after_s(n) for n in (1, 2, 3, 20)], retry_after_s(20, ErrorCode.DISK_FULL)
    ([1.0, 2.0, 4.0, 60.0], 5.0)
    """
    longest = SOON_S if code in _SOON else LAST_RETRY_S
    return min(longest, FIRST_RETRY_S * 2.0 ** min(attempts - 1, 10))
