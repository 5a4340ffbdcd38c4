"""When HTTP listens at all."""

from __future__ import annotations

import pytest

from services.mcp_gateway.core.web import may_open

CLOSED = [("off", False, True), ("off", True, True), ("auto", False, False), ("auto", True, False), ("on", True, False)]
OPEN = [("auto", False, True), ("auto", True, True), ("on", False, False), ("on", False, True), ("on", True, True)]


@pytest.mark.parametrize(
    ("mode", "is_open", "has_token", "listens"),
    [*((*case, False) for case in CLOSED), *((*case, True) for case in OPEN)],
)
def test_http_waits_for_a_token_unless_asked_for_and_always_beyond_loopback(mode, is_open, has_token, listens):
    """Design 7: off until `--http` or a token exists; 0.0.0.0 needs a flag and a token."""
    assert may_open(mode=mode, is_open=is_open, has_token=has_token) is listens
