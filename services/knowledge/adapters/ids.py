"""Names of things: a prefix that says what it is, and 128 bits, random where nobody shall guess them."""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import Literal

Prefix = Literal["spc", "bas", "itm", "rev", "mem"]
RANDOM_BYTES = 16


def fresh(prefix: Prefix) -> str:
    """Make an id that never was and cannot be guessed."""
    return f"{prefix}_{secrets.token_hex(RANDOM_BYTES)}"


def keyed(prefix: Prefix, *parts: str) -> str:
    """Make the one id for what a caller has named itself; who guesses it still has to be let in."""
    named = b"".join(len(raw).to_bytes(4) + raw for raw in (part.encode() for part in parts))
    return f"{prefix}_{sha256(named).hexdigest()[: 2 * RANDOM_BYTES]}"
