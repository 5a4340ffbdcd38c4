"""Comparing a walk with what is known."""

import pytest

from services.watcher.core.manifest import differences
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
