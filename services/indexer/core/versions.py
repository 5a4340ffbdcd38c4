"""What an epoch was made with, and whether it still fits (pure)."""

from __future__ import annotations

from msgspec import Struct


class EpochVersions(Struct, frozen=True, kw_only=True):
    """The makers of an epoch's chunks, terms and vectors; a difference in any calls for a new epoch."""

    chunker: int
    analyzer: int
    model_id: str
