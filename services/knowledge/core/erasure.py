"""By which bytes one proves that a text is gone (pure)."""

from __future__ import annotations

from collections.abc import Iterable

MARKER_BYTES = 32
MIN_MARKER_BYTES = 12  # shorter ones stand anywhere
MARKERS_A_TEXT = 4
MAX_MARKERS = 32  # each is looked for in the whole file


def markers_of(texts: Iterable[bytes]) -> tuple[bytes, ...]:
    """Take a few slices of each text, spread over it; of many texts an even choice."""
    found = [marker for text in texts for marker in _slices(text)]
    step = max(1, -(-len(found) // MAX_MARKERS))
    return tuple(found[::step])


def _slices(text: bytes) -> list[bytes]:
    if len(text) < MIN_MARKER_BYTES:
        return []
    last = max(0, len(text) - MARKER_BYTES)
    starts = sorted({last * part // MARKERS_A_TEXT for part in range(MARKERS_A_TEXT + 1)})
    return [text[start : start + MARKER_BYTES] for start in starts]
