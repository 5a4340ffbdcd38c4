"""A greedy caller is slowed, the others are not (row A14)."""

from __future__ import annotations

from services.mcp_gateway.core.pace import MAX_CALLERS, Pace


def test_a_greedy_caller_gets_its_rate_and_a_time_to_come_again():
    """Row A14: 1,000 calls a second; what is refused says when to come again, and then is let through."""
    pace = Pace(rate=10, burst=20)
    waits = [pace.wait_s("greedy", second / 1000) for second in range(2000)]
    assert waits.count(0) in range(39, 41)
    assert set(waits) == {0, 1}
    assert pace.wait_s("greedy", 2.0 + waits[-1]) == 0


def test_others_are_not_slowed_by_a_greedy_caller():
    """Row A14: each caller has a bucket of its own."""
    pace = Pace(rate=1, burst=2)
    for number in range(100):
        pace.wait_s("greedy", number / 100)
    assert [pace.wait_s("calm", 1.0) for _ in range(3)] == [0, 0, 1]


def test_a_clock_that_goes_back_gives_nothing_and_takes_nothing():
    """Time is only a hint."""
    pace = Pace(rate=1, burst=1)
    assert [pace.wait_s("one", now) for now in (10.0, 5.0, 5.5, 6.0)] == [0, 1, 1, 0]


def test_callers_are_not_remembered_without_bound():
    """Whoever makes many tokens does not make the gateway grow."""
    pace = Pace()
    for number in range(MAX_CALLERS + 50):
        pace.wait_s(str(number), 0.0)
    assert len(pace._left) == MAX_CALLERS


def test_who_asked_lately_is_counted_once():
    """A lingering stack: callers over HTTP hold no connection, so their last call tells that they are there."""
    pace = Pace(rate=1, burst=1)
    for caller, now in (("early", 0.0), ("late", 30.0), ("late", 50.0)):
        pace.wait_s(caller, now)
    assert [pace.callers_within(60.0, now) for now in (50.0, 60.0, 61.0, 110.0, 111.0)] == [2, 2, 1, 1, 0]
