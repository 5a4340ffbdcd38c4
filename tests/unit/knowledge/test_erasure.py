"""By which bytes a deletion is proven."""

from __future__ import annotations

from services.knowledge.core.erasure import MARKER_BYTES, MAX_MARKERS, MIN_MARKER_BYTES, markers_of


def test_markers_are_slices_from_the_first_to_the_last_byte():
    """A text is proven gone from its beginning to its end."""
    text = bytes(range(256)) * 4
    markers = markers_of([text])
    assert markers[0] == text[:MARKER_BYTES]
    assert markers[-1] == text[-MARKER_BYTES:]
    assert all(marker in text for marker in markers)


def test_short_text_is_its_own_marker_and_a_word_is_none():
    """What stands anywhere proves nothing."""
    assert markers_of([b"x" * MIN_MARKER_BYTES]) == (b"x" * MIN_MARKER_BYTES,)
    assert markers_of([b"x" * (MIN_MARKER_BYTES - 1), b""]) == ()


def test_many_texts_give_a_bounded_choice_of_all():
    """Each marker is looked for in whole files: there are few, from the first text to the last."""
    markers = markers_of(f"text number {number:06} is here".encode() for number in range(10_000))
    assert len(markers) <= MAX_MARKERS
    assert b"000000" in markers[0]
    assert int(markers[-1][12:18]) > 9_000
