"""Comparing a walk with what is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.watcher.core.manifest import differences, range_of
from shared.messages import ManifestEntry

A = ManifestEntry("a.md", 10, 1_000)
B = ManifestEntry("src/b.py", 20, 2_000)
OUT = ManifestEntry("node_modules/", 0, 0)
KNOWN = {entry.path: entry for entry in (A, B, OUT)}


@pytest.mark.parametrize(
    ("met", "expected"),
    [
        pytest.param([A, B, OUT], [], id="nothing changed"),
        pytest.param([A, OUT], ["src/b.py"], id="deleted"),
        pytest.param([A, B, OUT, ManifestEntry("c", 1, 1)], ["c"], id="new"),
        pytest.param([ManifestEntry("a.md", 11, 1_000), B, OUT], ["a.md"], id="other size"),
        pytest.param([ManifestEntry("a.md", 10, 999), B, OUT], ["a.md"], id="older time"),
    ],
)
def test_exactly_the_differences_are_announced(met, expected):
    """An older mtime is a change too (case 26)."""
    assert differences(KNOWN, met, ("",)) == expected


def test_what_lies_outside_the_walked_subtree_is_not_taken_for_deleted():
    """Indexing one folder must not empty the rest of the index."""
    assert differences(KNOWN, [], ("src",)) == ["src/b.py"]


def test_force_announces_the_unchanged_newest_first():
    """What people touched last is handled first."""
    assert differences(KNOWN, [A, B, OUT], ("",), force=True) == ["src/b.py", "a.md", "node_modules/"]


@pytest.mark.parametrize("place", ["src", "src/", "src/b.py"])
def test_what_cannot_be_read_is_not_taken_for_deleted(place):
    """Issue 5.2: an unreadable folder must not empty that part of the index."""
    met = [A, OUT, ManifestEntry(place, 0, 0)]
    assert differences(KNOWN, met, ("",), unreadable=[place]) == []


def test_unreadable_place_of_which_nothing_is_known_is_announced():
    """Rule 11: every failure is counted and visible."""
    assert differences(KNOWN, [A, B, OUT, ManifestEntry("x/", 0, 0)], ("",), unreadable=["x/"]) == ["x/"]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4), min_size=1))
def test_range_of_a_subtree_holds_all_of_it(names):
    """Nothing at or below a subtree is outside its part of the manifest."""
    tree = "/".join(name.replace("/", "-") for name in names)
    part = range_of(tree)
    for path in (tree, tree + "/", tree + "/a", tree + "/\U0010ffff"):
        assert part.after < path <= part.last
        assert part.after.encode() < path.encode() <= part.last.encode()
