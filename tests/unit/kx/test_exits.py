"""Exit codes of errors."""

from __future__ import annotations

import pytest

from kx.exits import Exit, exit_code_of
from shared.errors import ErrorCode, KxError


@pytest.mark.parametrize(
    ("code", "retryable", "exit_code"),
    [
        (ErrorCode.USAGE, False, Exit.USAGE),
        (ErrorCode.INDEX_MISSING, False, Exit.NOT_SET_UP),
        (ErrorCode.CONFIG_INVALID, False, Exit.CONFIGURATION),
        (ErrorCode.INDEX_BUSY, True, Exit.TRY_AGAIN),
        (ErrorCode.INDEX_DAMAGED, False, Exit.FAILED),
        (ErrorCode.INDEX_MISSING, True, Exit.NOT_SET_UP),
    ],
    ids=str,
)
def test_exit_code_says_who_has_to_act(code: ErrorCode, retryable: bool, exit_code: Exit):
    """What a code means comes before whether it may pass by itself."""
    assert exit_code_of(KxError(code, "x", retryable=retryable)) is exit_code
