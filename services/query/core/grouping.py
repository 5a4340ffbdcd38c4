"""Ranked passages to results: one per file, or flat (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from services.query.core.passages import Location, Ranked
from shared.document_address import address_of
from shared.excerpts import Span
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


def further_spans(hits: Sequence[Ranked]) -> list[Span]:
    """Give the lines of the passages behind the first, at most `MAX_SPANS`; those that overlap are one.

    What lies within the lines of the first is told already: the parts of one very long line all stand on it.
    """
    best = hits[0].passage.at
    spans: list[Span] = []
    for hit in hits[1:]:
        at = hit.passage.at
        if best.start_line <= at.start_line and at.end_line <= best.end_line:
            continue
        known = next((place for place, span in enumerate(spans) if _overlap(span, at)), None)
        if known is not None:
            spans[known] = _joined(spans[known], at)
        elif len(spans) < MAX_SPANS:
            address = address_of(at.language, hit.passage.heading)
            spans.append(Span(start_line=at.start_line, end_line=at.end_line, score=hit.score, address=address))
    return spans


def _overlap(span: Span, at: Location) -> bool:
    return at.start_line <= span.end_line and span.start_line <= at.end_line


def _joined(span: Span, at: Location) -> Span:
    return Span(
        start_line=min(span.start_line, at.start_line),
        end_line=max(span.end_line, at.end_line),
        score=span.score,
        address=span.address,
    )
