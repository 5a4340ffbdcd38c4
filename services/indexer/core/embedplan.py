"""Pack texts into embed requests by their exact token counts (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from shared.asides import is_aside, is_generated, is_test
from shared.identity import TextHash

# A run above this eats memory and cache without being faster (measured: tokens/s is flat in batch size, 8 x 256).
BULK_REQUEST_TOKENS = 2_048
# Live requests are half as long, so that the next save's starts sooner.
LIVE_REQUEST_TOKENS = 1_024
# Short texts fill no run: what bounds them is the reply, of 1.6 kB each in a message of 256 KiB (`shared/bus.py`).
REQUEST_TEXTS = 128
REQUESTS_IN_FLIGHT = 2  # one computing, one on its way: the model never waits for the writer

# Urgency classes of `missing`, most urgent first.
ASKED, LIVE, BULK = 0, 1, 2


# A text of what only tests, shows, is carried along or was generated counts as this much older than its file: in a fresh
# clone, where all files have one age, it comes after the product; where people work, what they changed comes first.
ASIDE_NS = 30 * 86_400 * 1_000_000_000


def bulk_order_ns(path: str, mtime_ns: int) -> int:
    """Give what orders bulk texts, the highest first."""
    return mtime_ns - ASIDE_NS if is_test(path) or is_aside(path) or is_generated(path) else mtime_ns


class MissingText(Struct, frozen=True, kw_only=True):
    """A text without a vector."""

    text_hash: TextHash
    text: str  # as embedded: heading and passage
    tokens: int
    urgency: int


def pack(
    texts: Sequence[MissingText], budget_tokens: int, *, alone: Collection[TextHash] = ()
) -> Iterator[tuple[MissingText, ...]]:
    """Group texts of like length until each group holds `budget_tokens` or `REQUEST_TEXTS`, most urgent class first.

    Bulk texts are ordered by length, because a run is padded to its longest text; urgent ones keep their order from
    group to group, because somebody waits for the first. A text above the budget goes alone, and so do those in `alone`,
    after the others of their class. Every text appears exactly once.
    """
    for urgency in sorted({text.urgency for text in texts}):
        of_class = [text for text in texts if text.urgency == urgency]
        together = [text for text in of_class if text.text_hash not in alone]
        ordered = sorted(together, key=_length) if urgency == BULK else together
        yield from _together(ordered, budget_tokens)
        yield from ((text,) for text in of_class if text.text_hash in alone)


def _together(texts: Sequence[MissingText], budget_tokens: int) -> Iterator[tuple[MissingText, ...]]:
    group: list[MissingText] = []
    held = 0
    for text in texts:
        if group and (held + text.tokens > budget_tokens or len(group) == REQUEST_TEXTS):
            yield tuple(sorted(group, key=_length))
            group, held = [], 0
        group.append(text)
        held += text.tokens
    if group:
        yield tuple(sorted(group, key=_length))


def _length(text: MissingText) -> tuple[int, TextHash]:
    return text.tokens, text.text_hash
