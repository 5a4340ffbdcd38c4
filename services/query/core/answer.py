"""Proven results to the hits of a reply, within the size a message may have (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from services.query.core.grouping import Result, further_spans
from services.query.core.keywords import keywords
from services.query.core.packing import Packed
from services.query.core.passages import Location
from shared.document_address import address_of
from shared.excerpts import Place, Snippets, Span, lines_text, place_text
from shared.messages import Hit, SearchRequest

CONFIDENCE_DIGITS = 2
SCORE_DIGITS = 6  # what is beyond is noise of floating point, and would differ between two runs

MAX_HIT_BYTES = 200 * 1024
"""Of a bus message's 256 KiB; the rest is for names, notes and the envelope."""

MAX_PLACES_IN_BUDGET = 10
"""Other places of equal text that an answer with a budget names: a licence may stand in fifty."""

UNLIMITED = 10**9  # lines, results

_HIT_OVERHEAD_BYTES = 400  # keys, numbers and keywords of one hit
_PLACE_BYTES = 40


def hits_of(results: Sequence[Result], *, ignored_keywords: Sequence[str], explain: bool) -> list[Hit]:
    """Write results as hits."""
    return [_hit(result, ignored_keywords, explain=explain) for result in results]


def limits_of(request: SearchRequest, configured: Snippets) -> tuple[int, int]:
    """Give how many lines of an excerpt are shown, and of how many results.

    What the request says; else what the project's configuration says, or no limit where a budget decides.
    """
    given = request.snippets
    usual = configured if request.budget is None else Snippets()
    lines = given.lines if given.lines is not None else usual.lines
    results = given.results if given.results is not None else usual.results
    return (UNLIMITED if lines is None else lines, UNLIMITED if results is None else results)


def beside_text(hit: Hit) -> tuple[str, ...]:
    """Give what an answer shows of a hit besides its excerpt; places stand twice in some forms of it."""
    places = (
        place_text(hit.path, 0, 0, hit.address) if hit.address else hit.path,
        *(lines_text(span.start_line, span.end_line, span.address) for span in hit.spans),
    )
    also = (place_text(place.path, place.start_line, place.end_line, place.address) for place in hit.also)
    return (
        *places,
        *places,
        *also,
        hit.heading,
        *hit.keywords,
        *(f"{name} {score}" for name, score in hit.parts.items()),
    )


def with_excerpts(hits: Sequence[Hit], packed: Packed, *, has_budget: bool) -> list[Hit]:
    """Put the excerpts into the hits that are kept; with a budget the passages' whole text goes."""
    kept = zip(hits, packed.excerpts, strict=False)
    return [replace(hit, excerpt=one, text="" if has_budget else hit.text) for hit, one in kept]


def with_few_places(hits: Sequence[Hit]) -> list[Hit]:
    """Leave out the other places beyond the first few."""
    return [replace(hit, also=hit.also[:MAX_PLACES_IN_BUDGET]) for hit in hits]


def within_budget(hits: Sequence[Hit], budget_bytes: int = MAX_HIT_BYTES) -> list[Hit]:
    """Keep as many of the first hits as fit; one is always kept, without its other places if need be."""
    kept: list[Hit] = []
    left = budget_bytes
    for hit in hits:
        left -= _bytes_of(hit)
        if left < 0:
            break
        kept.append(hit)
    if not kept and hits:
        return [replace(hits[0], also=())]
    return kept


def _hit(result: Result, ignored_keywords: Sequence[str], *, explain: bool) -> Hit:
    passage, at = result.best.passage, result.best.passage.at
    return Hit(
        path=at.path,
        kind=at.kind,
        start_line=at.start_line,
        end_line=at.end_line,
        address=address_of(at.language, passage.heading),
        score=round(result.best.score, SCORE_DIGITS),
        confidence=None if result.best.confidence is None else round(result.best.confidence, CONFIDENCE_DIGITS),
        origin=result.best.candidate.origin,
        heading=passage.heading,
        text=passage.text,
        keywords=keywords(passage.text, passage.heading, ignored=ignored_keywords),
        spans=tuple(map(_rounded, further_spans((result.best, *result.others)))),
        also=tuple(place_of(place, passage.heading) for place in passage.elsewhere),
        parts={name: round(value, SCORE_DIGITS) for name, value in result.best.parts.items()} if explain else {},
    )


def _rounded(span: Span) -> Span:
    return replace(span, score=round(span.score, SCORE_DIGITS))


def place_of(location: Location, heading: str) -> Place:
    """Write a place of a text with this heading."""
    return Place(
        path=location.path,
        start_line=location.start_line,
        end_line=location.end_line,
        address=address_of(location.language, heading),
    )


def _bytes_of(hit: Hit) -> int:
    excerpt = "" if hit.excerpt is None else hit.excerpt.text
    texts = (hit.path, hit.heading, hit.text, excerpt, *hit.keywords)
    places = sum(_PLACE_BYTES + len(place.path.encode("utf-8", "replace")) for place in hit.also)
    return _HIT_OVERHEAD_BYTES + places + sum(len(text.encode("utf-8", "replace")) for text in texts)
