"""The boost of the recent: bounded, harmless, off where it says nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.query.core.recency import DAY_NS, HALF_LIFE_DAYS, Recency, recency_for

NOW = 20_000 * DAY_NS


@given(mtime_ns=st.integers(-(2**62), 2**62))
def test_the_boost_is_bounded_whatever_the_time(mtime_ns: int) -> None:
    """Case 26: with mtimes of 1970 and 2100 it is neither below 1 nor above its cap."""
    assert 1.0 <= Recency(epsilon=0.03, reference_ns=NOW).boost(mtime_ns) <= 1.03


@given(st.integers(0, NOW), st.integers(0, NOW))
def test_newer_is_never_boosted_less(one: int, other: int) -> None:
    """Monotone in the time of the last change."""
    recency = Recency(epsilon=0.03, reference_ns=NOW)
    older, newer = sorted((one, other))
    assert recency.boost(older) <= recency.boost(newer)


def test_the_boost_halves_in_ninety_days() -> None:
    """MISSION 4.3: 1 + epsilon x 2^(-age / 90 d)."""
    recency = Recency(epsilon=0.03, reference_ns=NOW)
    assert recency.boost(NOW - int(HALF_LIFE_DAYS) * DAY_NS) == pytest.approx(1.015)


def test_a_fresh_clone_gets_no_boost() -> None:
    """Where nearly the whole tree has one age it says nothing about what is current."""
    clone = recency_for(0.03, now_ns=NOW, oldest_ns=NOW - DAY_NS // 2, newest_ns=NOW)
    grown = recency_for(0.03, now_ns=NOW, oldest_ns=NOW - 3 * DAY_NS, newest_ns=NOW)
    assert clone.boost(NOW) == 1.0
    assert grown.boost(NOW) > 1.0


def test_the_same_day_gives_the_same_scores() -> None:
    """Two processes asked within a day answer byte for byte alike."""
    morning, evening = (
        recency_for(0.03, now_ns=NOW + hour * DAY_NS // 24, oldest_ns=0, newest_ns=NOW) for hour in (1, 23)
    )
    assert morning == evening
