"""Names that nobody can guess: a prefix that says what it is, and 128 random bits."""

from __future__ import annotations

import secrets
from typing import Literal

Prefix = Literal["spc", "bas", "itm", "rev", "mem"]
RANDOM_BYTES = 16


def fresh(prefix: Prefix) -> str:
    """Make an id that never was and cannot be guessed."""
    return f"{prefix}_{secrets.token_hex(RANDOM_BYTES)}"
