"""Ranked passages to results: one per file, or flat (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from services.query.core.passages import Ranked
from shared.messages import Group

MAX_SPANS = 2
"""Further passages of a file that a result names beside its best one."""


class Result(Struct, frozen=True, kw_only=True):
    """One result: the passage to show, and further ones of the same file, best first."""

    best: Ranked
    others: tuple[Ranked, ...] = ()

    @property
    def path(self) -> str:
        """The file."""
        return self.best.passage.at.path


def group(ranked: Sequence[Ranked], by: Group) -> list[Result]:
    """Make results of passages that are best first; a file stands where its best passage stands.

    `others` holds all further passages of the file, so that one can step in when the best one proves stale; cutting
    them to `MAX_SPANS` is the answer's last step.
    """
    if by == "passage":
        return [Result(best=hit) for hit in ranked]
    files: dict[str, list[Ranked]] = {}
    for hit in ranked:
        files.setdefault(hit.passage.at.path, []).append(hit)
    return [as_result(hits) for hits in files.values()]


def as_result(hits: Iterable[Ranked]) -> Result:
    """Make one result of the passages of one file, best first."""
    best, *others = hits
    return Result(best=best, others=tuple(others))
