"""What a caller may do: scopes, client profiles, and what is known of an access token (pure).

Used by the gateway, which checks tokens, and by the command, which makes them; kept by `shared/access_tokens.py`.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Literal, get_args

from msgspec import Struct

from shared.identity import InstanceId

Scope = Literal[
    "search", "ingest", "megabrain:write", "knowledge:read", "knowledge:write", "memory:read", "memory:write", "admin"
]
Profile = Literal["ordinary-full", "cursor-plugin", "chatgpt-public", "generic-public"]
TokenState = Literal["valid", "expired", "revoked"]

SCOPES: tuple[Scope, ...] = get_args(Scope)
PROFILES: tuple[Profile, ...] = get_args(Profile)
ADMIN: Scope = "admin"  # implies every other scope
LOCAL_PRINCIPAL = "local"  # the user of this machine: the command, and agents on the local socket

TOKEN_PREFIX = "kx"  # noqa: S105 - by which a leaked one is recognised
ID_DIGITS = 8  # of 32 random bits, hexadecimal: what a token is called, no secret
SECRET_BYTES = 32
_SECRET_DIGITS = 2 * SECRET_BYTES
_HEX = frozenset("0123456789abcdef")
_TOKEN_CHARS = len(TOKEN_PREFIX) + 1 + ID_DIGITS + 1 + _SECRET_DIGITS


class AccessToken(Struct, frozen=True, kw_only=True):
    """What is known of a token; the token itself is known only to who holds it."""

    id: str
    name: str  # the user's own word for it, may be empty
    principal: str  # on whose behalf
    scopes: tuple[Scope, ...]
    instances: tuple[InstanceId, ...]  # the projects it is good for, at least one
    profile: Profile
    created_s: int  # Unix time
    expires_s: int | None  # Unix time; None: never
    revoked_s: int | None = None  # Unix time

    def state(self, now_s: float) -> TokenState:
        """Say whether it is good at `now_s`; it expires at the second it names."""
        if self.revoked_s is not None:
            return "revoked"
        return "expired" if self.expires_s is not None and now_s >= self.expires_s else "valid"


class SplitToken(Struct, frozen=True):
    """A token as it is presented, in its two parts."""

    id: str
    secret: str


def written(token_id: str, secret: bytes) -> str:
    """Give a token as its holder keeps it."""
    return f"{TOKEN_PREFIX}_{token_id}_{secret.hex()}"


def split(presented: str) -> SplitToken | None:
    """Take a presented token apart; None when it is none of ours by its form.

    >>> split("kx_0a1b2c3d_" + "00" * 32).id, split("kx_0a1b2c3d_00"), split("Bearer x")
    ('0a1b2c3d', None, None)
    """
    parts = presented.split("_")
    if len(presented) != _TOKEN_CHARS or len(parts) != 3 or parts[0] != TOKEN_PREFIX:
        return None
    token_id, secret = parts[1:]
    if len(token_id) != ID_DIGITS or not _HEX.issuperset(token_id + secret):
        return None
    return SplitToken(token_id, secret)


def digest(secret: str) -> bytes:
    """Give what is stored of a secret: 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(secret.encode()).digest()


def is_same(stored: bytes | None, presented: SplitToken) -> bool:
    """Compare in a time that tells nothing, also where no such token is stored."""
    return hmac.compare_digest(stored if stored is not None else bytes(32), digest(presented.secret))
