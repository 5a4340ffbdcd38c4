"""What a row of the table of tools is (pure)."""

from __future__ import annotations

from msgspec import Struct

from services.mcp_gateway.core.inputs import ToolInput
from shared.access import Scope


class Hints(Struct, frozen=True, kw_only=True):
    """What a client may assume of a tool; nothing reaches beyond this machine (no open world)."""

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = True


class Tool(Struct, frozen=True, kw_only=True):
    """One row."""

    name: str  # also of its handler
    title: str
    description: str
    takes: type[ToolInput]
    gives: type[Struct]
    hints: Hints
    scope: Scope  # what a token must allow
