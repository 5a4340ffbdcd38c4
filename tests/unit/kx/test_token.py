"""When a token ends, as it is typed."""

from __future__ import annotations

import pytest

from kx.commands.token import expiry
from shared.errors import ErrorCode, KxError

NOW_S = 1_700_000_000


@pytest.mark.parametrize(
    "text", ["", "0d", "-1d", "30", "30 d", "1y", "99999d", "tomorrow", "2001-01-01", "2030-13-01", "2030-1-1x", "٣d"]
)
def test_what_is_no_time_to_come_is_refused(text: str):
    """Nobody gets a token that ends at another time than was meant."""
    with pytest.raises(KxError) as refused:
        expiry(text, NOW_S)
    assert refused.value.code is ErrorCode.USAGE


@pytest.mark.parametrize(
    ("text", "ends_s"),
    [("never", None), ("30d", NOW_S + 30 * 86_400), ("12h", NOW_S + 43_200), ("2030-01-31", 1_896_048_000)],
)
def test_a_time_to_come_is_read(text: str, ends_s: int | None):
    """Spans count from now, dates begin in UTC."""
    assert expiry(text, NOW_S) == ends_s
