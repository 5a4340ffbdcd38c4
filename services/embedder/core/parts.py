"""Divide a request into parts, between which another may have the model (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shared.messages import TextItem

# What the model takes as one run anyway, or half of one: a text more costs as much in the next. Two cores, chunks of 50 to
# 200 tokens: half as many texts cost 6 to 8 % where they are short, and nothing where eight of them are 1,600 tokens.
PART_TEXTS = 8
PART_CHARS = 4_000  # some 1,000 tokens: a fifth of a second on two idle cores


def parts_of(items: Sequence[TextItem]) -> Iterator[list[TextItem]]:
    """Divide in order; who asks has sorted by length, so that a part is hardly padded. Every part holds something."""
    part: list[TextItem] = []
    held = 0
    for item in items:
        if part and (len(part) == PART_TEXTS or held + len(item.text) > PART_CHARS):
            yield part
            part, held = [], 0
        part.append(item)
        held += len(item.text)
    if part:
        yield part
