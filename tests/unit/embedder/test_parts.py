"""Division of a request into parts."""

from hypothesis import given
from hypothesis import strategies as st

from services.embedder.core.parts import HALF_CHARS, PART_TEXTS, parts_of
from shared.identity import text_hash
from shared.messages import TextItem


@given(st.lists(st.integers(0, 6_000), max_size=60))
def test_every_text_is_in_one_part_in_order_and_no_part_is_long(lengths):
    """So a live request waits for a fifth of a second at most; a text above the bound goes alone."""
    items = [TextItem(text_hash=text_hash(str(n)), text="x" * length) for n, length in enumerate(lengths)]
    parts = list(parts_of(items, HALF_CHARS))
    assert [item for part in parts for item in part] == items
    for part in parts:
        assert 1 <= len(part) <= PART_TEXTS
        assert len(part) == 1 or sum(len(item.text) for item in part) <= HALF_CHARS
