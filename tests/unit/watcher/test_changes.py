"""Coalescing of noticed paths, with the time given."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.watcher.core.changes import (
    AT_MOST_S,
    BURST_PATHS,
    DOUBT_PATHS,
    IDLE_S,
    LONE_S,
    QUIET_S,
    Changes,
    Due,
)


def drain(changes: Changes, until: float) -> list[tuple[float, Due]]:
    """Take everything as soon as it is due."""
    taken = []
    while (at := changes.next_due()) is not None and at <= until:
        taken.append((at, changes.take(at)))
    return taken


def test_lone_save_is_due_at_once():
    """MISSION 3.1: a path idle for a second is handled after 30 ms."""
    changes = Changes()
    changes.add(["a"], 10.0)
    assert changes.take(10.0 + LONE_S - 0.001) == Due()
    assert changes.next_due() == 10.0 + LONE_S
    assert changes.take(10.0 + LONE_S) == Due(paths=("a",))
    assert (changes.next_due(), len(changes)) == (None, 0)


def test_path_that_keeps_changing_waits_for_quiet():
    """MISSION 3.1, row F7: 150 ms quiet; the last change wins."""
    changes = Changes()
    changes.add(["a"], 10.0)
    changes.take(10.1)
    changes.add(["a"], 10.2)
    changes.add(["a"], 10.3)
    assert changes.next_due() == 10.3 + QUIET_S
    assert changes.take(10.3 + QUIET_S).paths == ("a",)


def test_path_that_never_rests_is_due_every_second():
    """MISSION 3.1: 1 s at most."""
    changes = Changes()
    due = []
    for step in range(60):
        now = 10 + step * 0.1
        changes.add(["log"], now)
        due += [at for at, _ in drain(changes, now)]
    gaps = [later - earlier for earlier, later in pairwise(due)]
    assert len(due) >= 4
    assert max(gaps) <= AT_MOST_S + 0.2  # the second begins with the next change, a step later


def test_path_is_lone_again_after_a_second():
    """What was edited a while ago is handled at once when it is saved again."""
    changes = Changes()
    changes.add(["a"], 10.0)
    changes.take(11.0)
    changes.add(["a"], 10.0 + IDLE_S)
    assert changes.next_due() == 10.0 + IDLE_S + LONE_S


def test_paths_do_not_wait_for_each_other():
    """A busy log holds up no save."""
    changes = Changes()
    changes.add(["log"], 10.0)
    changes.take(10.1)
    changes.add(["log"], 10.1)
    changes.add(["a"], 10.12)
    assert changes.take(10.12 + LONE_S).paths == ("a",)
    assert len(changes) == 1


def test_many_paths_are_one_burst():
    """Row L3: a branch switch comes in many batches and is given out whole, once quiet."""
    changes = Changes()
    paths = [f"p{n}" for n in range(1_000)]
    changes.add(paths[:500], 10.0)
    changes.add(paths[500:], 10.08)
    [(at, due)] = drain(changes, 20.0)
    assert (at, due) == (10.08 + QUIET_S, Due(burst=tuple(paths)))


def test_burst_that_goes_on_is_given_out_every_second():
    """A bulk copy of minutes is followed, not waited for."""
    changes = Changes()
    bursts = []
    for step in range(40):
        now = 10 + step * 0.1
        changes.add([f"p{step}.{n}" for n in range(100)], now)
        bursts += [at for at, due in drain(changes, now) if due.burst]
    assert len(bursts) >= 3


def test_after_a_burst_a_save_is_lone_again():
    """The burst ends when fewer paths change."""
    changes = Changes()
    changes.add([f"p{n}" for n in range(BURST_PATHS + 1)], 10.0)
    drain(changes, 12.0)
    changes.add(["a"], 12.0)
    assert drain(changes, 13.0) == [(12.0 + LONE_S, Due(paths=("a",)))]


def test_save_beside_a_burst_stays_a_save():
    """Issue 5.3: what a person saves does not wait behind a checkout of the same second."""
    changes = Changes()
    changes.add([f"p{n}" for n in range(DOUBT_PATHS + 1)], 10.0)
    changes.add(["a", ".a.swp"], 10.02)
    assert changes.take(10.02 + LONE_S) == Due(paths=("a", ".a.swp"))
    assert changes.take(10.0 + QUIET_S) == Due(is_doubtful=True)


@pytest.mark.parametrize("saved", ["notes.md", "src/app/main.py"])
@pytest.mark.parametrize("is_first", [True, False], ids=["first", "together"])
def test_save_reported_with_a_burst_stays_a_save(saved: str, is_first: bool):
    """Issue 5.3: files appear by the hundred in one folder while a person saves in another."""
    changes = Changes()
    many = [f"src/lib/p{n}" for n in range(1_000)]
    reports = [[saved], many] if is_first else [[*many[:500], saved, *many[500:]]]
    for paths in reports:
        changes.add(paths, 10.0)
    assert changes.take(10.0 + LONE_S) == Due(paths=(saved,))
    assert changes.take(10.0 + QUIET_S) == Due(burst=tuple(many))


def test_checkout_over_many_folders_is_a_burst_and_no_saves():
    """Row L3: a file or two of each folder are not a person's."""
    changes = Changes()
    changes.add([f"p{n}/{n % 7}/f.py" for n in range(500)], 10.0)
    assert changes.take(10.0 + LONE_S) == Due()
    assert len(changes.take(10.0 + QUIET_S).burst) == 500


def test_burst_that_began_slowly_is_given_out_whole():
    """Its first paths came one by one; none is lost, none comes twice."""
    changes = Changes()
    for number in range(BURST_PATHS):
        changes.add([f"p{number}"], 10.0 + number / 1e5)
    changes.add([f"q{number}" for number in range(50)], 10.01)
    [(at, due)] = drain(changes, 20.0)
    assert (at, len(due.burst), due.paths) == (10.01 + QUIET_S, BURST_PATHS + 50, ())


def test_so_many_that_some_may_be_lost_are_not_kept():
    """Case 22, fact M7: the whole tree is due, and memory stays bounded."""
    changes = Changes()
    for start in range(0, 50_000, 1_000):
        changes.add([f"p{n}" for n in range(start, start + 1_000)], 10.0 + start / 1e6)
        assert len(changes) <= DOUBT_PATHS
    [(_, due)] = drain(changes, 20.0)
    assert due == Due(is_doubtful=True)


def test_folder_is_walked_a_second_time():
    """Row F8, fact M8: what was written before the folder was watched made no event."""
    changes = Changes()
    changes.walk_again(["d"], 10.0)
    changes.walk_again(["d"], 10.1)
    assert drain(changes, 20.0) == [(10.1 + AT_MOST_S, Due(folders=("d",)))]


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.floats(0, 0.4), st.lists(st.sampled_from([f"p{n}" for n in range(8)]), min_size=1)), max_size=40
    )
)
def test_every_change_is_followed_by_its_path_being_due(events: list[tuple[float, list[str]]]):
    """Nothing is lost, and nothing waits longer than a second."""
    changes = Changes()
    now = 10.0
    owed: dict[str, float] = {}
    for pause, paths in events:
        taken = drain(changes, now + pause)
        now += pause
        for at, due in taken:
            assert all(at <= owed.pop(path) for path in due.paths)
        changes.add(paths, now)
        for path in paths:
            owed.setdefault(path, now + AT_MOST_S + 1e-6)
    for _, due in drain(changes, now + 2):
        for path in due.paths:
            del owed[path]
    assert owed == {}


@pytest.mark.parametrize("count", [BURST_PATHS, BURST_PATHS + 1], ids=["not yet a burst", "a burst"])
def test_border_of_a_burst(count: int):
    """More than 200 paths within a second are a burst."""
    changes = Changes()
    changes.add([f"p{n}" for n in range(count)], 10.0)
    [(_, due)] = drain(changes, 20.0)
    assert (len(due.paths), len(due.burst)) == ((0, count) if count > BURST_PATHS else (count, 0))
