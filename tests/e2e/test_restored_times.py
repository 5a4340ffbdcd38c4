"""A time set back hides no change."""

import os

import pytest


@pytest.mark.parametrize("moment", ["restored", "1970", "2100"])
def test_change_of_equal_size_with_a_time_set_back_is_found(kx, tree, moment):
    """R-IDX-21, case 26: size and mtime can be made equal, the ctime cannot."""
    note = tree / "docs" / "note.md"
    note.write_text("# Note\n\nThe word is alphaword1.\n")
    if moment != "restored":
        then = 0 if moment == "1970" else 4_102_444_800
        os.utime(note, (then, then))
    before = note.stat()
    assert kx("index", tree, "--wait", "text").code == 0
    note.write_text("# Note\n\nThe word is bravoword2.\n")
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (note.stat().st_size, note.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert kx("index", tree, "--wait", "text").code == 0
    found = kx("search", "bravoword2", "--in", tree, "--mode", "lexical", "--json").json()["results"]
    assert [hit["path"] for hit in found] == ["docs/note.md"]
