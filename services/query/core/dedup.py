"""Show equal text once, with all the places where it stands (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from services.query.core.passages import Location, Passage, Ranked


def fold_equal_texts(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Keep the best of the passages whose text is equal; the places of the others join its `elsewhere`.

    Lanes already fold what has the same text hash; here meet texts that differ in their heading only. Order is kept.
    """
    best: dict[str, Ranked] = {}
    again: dict[str, list[Ranked]] = {}
    for hit in ranked:
        if best.setdefault(hit.passage.text, hit) is not hit:
            again.setdefault(hit.passage.text, []).append(hit)
    return [_with_places(hit, again[text]) if text in again else hit for text, hit in best.items()]


def _with_places(hit: Ranked, others: Sequence[Ranked]) -> Ranked:
    places: dict[tuple[str, int], Location] = {}
    for passage in (hit.passage, *(other.passage for other in others)):
        for location in (passage.at, *passage.elsewhere):
            places.setdefault(location.order, location)
    own = hit.passage.at.order
    elsewhere = tuple(places[order] for order in sorted(places) if order != own)
    if elsewhere == hit.passage.elsewhere:
        return hit
    return with_passage(hit, replace(hit.passage, elsewhere=elsewhere))


def with_passage(hit: Ranked, passage: Passage) -> Ranked:
    """Give `hit` with another passage in it."""
    return replace(hit, candidate=replace(hit.candidate, passage=passage))
