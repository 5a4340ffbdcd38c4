"""One answer of many: hits of several spaces in one order, their lanes as one report (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from shared.messages import Hit, LaneReport, LaneState

_WORST_FIRST: tuple[LaneState, ...] = ("failed", "off", "partial", "ok")


class FoundHit(Struct, frozen=True):
    """A hit, the space it is from, and its score among those of all spaces."""

    space: str  # id
    hit: Hit
    score: float


def merged(hits: Mapping[str, Sequence[Hit]], nearness: Mapping[str, float]) -> list[FoundHit]:
    """Put the hits of several spaces in one order, best first, ties by space and path.

    A space scales its scores so that its best passage has the full one, however far it is from the question. So each is
    weighed by how near its nearest passage is, compared with that of the nearest space; without that, by nothing.
    """
    nearest = max(nearness.values(), default=0.0)
    weights = {space: nearness.get(space, nearest) / nearest if nearest > 0 else 1.0 for space in hits}
    found = [
        FoundHit(space, hit, round(hit.score * max(weights[space], 0.0), 6))
        for space, some in hits.items()
        for hit in some
    ]
    return sorted(found, key=lambda one: (-one.score, one.space, one.hit.path, one.hit.start_line))


def one_report(reports: Mapping[str, LaneReport]) -> LaneReport:
    """Give the report of one lane over several spaces, by their names: the worst state, and every reason."""
    if not reports:
        return LaneReport(state="off", coverage=0.0, took_ms=0.0, reason="nothing is published in what was searched")
    said = {name: one.reason for name, one in reports.items() if one.reason}
    is_alone = len(reports) == 1
    return LaneReport(
        state=min((one.state for one in reports.values()), key=_WORST_FIRST.index),
        coverage=min(one.coverage for one in reports.values()),
        took_ms=max(one.took_ms for one in reports.values()),
        considered=sum(one.considered for one in reports.values()),
        reason="; ".join(reason if is_alone else f"{name}: {reason}" for name, reason in said.items()),
    )
