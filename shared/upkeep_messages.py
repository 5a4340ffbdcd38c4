"""Messages about the upkeep of an index: forgetting and compacting (pure)."""

from __future__ import annotations

from shared.messages import InstanceMessage, Message


class PurgePaths(InstanceMessage, frozen=True, kw_only=True):
    """Remove paths and all below them from the index, then every trace of them. Idempotent: by path.

    The disk is not asked: what the rules still admit comes back at the next walk.
    """

    paths: tuple[str, ...]  # "" is the whole tree


class PathsPurged(Message, frozen=True, kw_only=True):
    """The rows are gone; the traces are when `upkeep` of the progress is empty again."""

    documents: int  # entries removed


class CompactIndex(InstanceMessage, frozen=True, kw_only=True):
    """Merge the full-text index, drop vectors nobody uses, give free space back."""
