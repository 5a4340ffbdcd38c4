"""How fast one caller may ask, and who asked lately (pure): a bucket of calls that fills steadily."""

from __future__ import annotations

import math

RATE = 10.0  # calls a second, sustained; an agent that works hard makes two or three
BURST = 20.0  # at once, after a rest: of 30, others felt a third of a second on a busy machine
MAX_CALLERS = 1_000  # remembered; a full bucket is the same as none


class Pace:
    """The buckets of all callers."""

    def __init__(self, *, rate: float = RATE, burst: float = BURST) -> None:
        self._rate = rate
        self._burst = burst
        self._left: dict[str, tuple[float, float]] = {}  # caller → calls left, at which second

    def wait_s(self, caller: str, now_s: float) -> int:
        """Take one call; 0 lets it through, else whole seconds after which to come again."""
        left, then_s = self._left.pop(caller, (self._burst, now_s))
        left = min(left + max(now_s - then_s, 0.0) * self._rate, self._burst)
        is_let_through = left >= 1.0
        if is_let_through:
            left -= 1.0
        self._left[caller] = (left, now_s)
        if len(self._left) > MAX_CALLERS:
            del self._left[next(iter(self._left))]  # who has not asked for longest
        return 0 if is_let_through else max(math.ceil((1.0 - left) / self._rate), 1)

    def callers_within(self, seconds: float, now_s: float) -> int:
        """Count those whose last call is at most so long ago."""
        return sum(now_s - then_s <= seconds for _, then_s in self._left.values())
