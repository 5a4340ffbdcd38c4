"""Where the passages of one file stand in an answer, and which of them decides what is said of the file (pure)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from services.query.core.answer import place_of
from services.query.core.grouping import Result
from services.query.core.passages import Ranked
from shared.excerpts import Place, place_text
from shared.identity import TextHash
from shared.messages import LaneReport, Mode
from shared.search_messages import LaneStanding, PassageStanding, WhyNot

# What is said of a file is said of its best passage; "best" is the first of these, then the rank.
ORDER: tuple[WhyNot, ...] = (
    "shown", "grouped", "before_offset", "beyond_top", "folded", "changed", "not_ranked", "not_found",
)  # fmt: skip


class Window(Struct, frozen=True, kw_only=True):
    """What of the results was asked for."""

    offset: int
    top: int


class Standings(Struct, frozen=True, kw_only=True):
    """Every list a passage may stand in, by what identifies it there."""

    path: str
    lexical: Mapping[TextHash, LaneStanding]
    vector: Mapping[TextHash, LaneStanding]
    candidates: Mapping[TextHash, int]  # rank by reciprocal rank alone
    ranked: Mapping[TextHash, tuple[int, Ranked]]
    results: Sequence[Result]  # as they were found
    proven: Sequence[Result]  # those of them that stand on disk, with their lines now

    def result_of(self, text: str) -> Result | None:
        """Give the result that a text is in; equal texts are in one."""
        return _with_text(self.results, text)

    def proven_place(self, text: str) -> tuple[int, Result] | None:
        """Give the 1-based place, and the result as it is shown."""
        found = self.result_of(text)
        texts = set() if found is None else {hit.passage.text for hit in (found.best, *found.others)}
        for number, result in enumerate(self.proven, start=1):
            if result.best.passage.text in texts:
                return number, result
        return None


class Indexed(Struct, frozen=True, kw_only=True):
    """One passage of the file as the index has it."""

    text_hash: TextHash
    start_line: int
    end_line: int
    has_vector: bool
    failure: str = ""  # error code of a text that was set aside


def standing_of(passage: Indexed, all_of_it: Standings, window: Window) -> PassageStanding:
    """Say how one passage stands."""
    key = passage.text_hash
    rank, ranked = all_of_it.ranked.get(key, (0, None))
    standing = PassageStanding(
        start_line=passage.start_line,
        end_line=passage.end_line,
        has_vector=passage.has_vector,
        failure=passage.failure,
        lexical=all_of_it.lexical.get(key),
        vector=all_of_it.vector.get(key),
        fused=all_of_it.candidates.get(key, 0),
        outcome="not_ranked" if key in all_of_it.candidates else "not_found",
    )
    return standing if ranked is None else _ranked(standing, rank, ranked, all_of_it, window)


def deciding(passages: Sequence[PassageStanding]) -> list[PassageStanding]:
    """Put the passages in order, the one that decides for the file first: of those not found the nearest to it."""
    return sorted(
        passages,
        key=lambda one: (ORDER.index(one.outcome), one.rank or 10**9, *_distance_to_the_lanes(one), one.start_line),
    )


def _distance_to_the_lanes(one: PassageStanding) -> tuple[float, float]:
    by_words, by_meaning = (-math.inf if lane is None else lane.score for lane in (one.lexical, one.vector))
    return -by_words, -by_meaning


def _ranked(
    standing: PassageStanding, rank: int, ranked: Ranked, all_of_it: Standings, window: Window
) -> PassageStanding:
    text = ranked.passage.text
    found = all_of_it.proven_place(text)
    number, shown = found if found is not None else (0, None)
    outcome: WhyNot = "changed"
    shown_as: Place | None = None
    if shown is not None:
        outcome = _by_place(number, window)
        own = next((hit for hit in (shown.best, *shown.others) if hit.passage.text == text), ranked)
        if own.passage.at.path != all_of_it.path:
            outcome, shown_as = "folded", _place(own)
        elif shown.best.passage.text != text:
            outcome, shown_as = ("grouped" if outcome == "shown" else outcome), _place(shown.best)
    return replace(
        standing,
        outcome=outcome,
        rank=rank,
        score=ranked.score,
        confidence=ranked.confidence,
        parts=ranked.parts,
        result=number,
        shown_as=shown_as,
    )


def _by_place(number: int, window: Window) -> WhyNot:
    if number <= window.offset:
        return "before_offset"
    return "shown" if number <= window.offset + window.top else "beyond_top"


def _with_text(results: Sequence[Result], text: str) -> Result | None:
    for result in results:
        if any(hit.passage.text == text for hit in (result.best, *result.others)):
            return result
    return None


def _place(hit: Ranked) -> Place:
    return place_of(hit.passage.at, hit.passage.heading)


def why_of(one: PassageStanding, window: Window, mode: Mode, lanes: Mapping[str, LaneReport]) -> list[str]:
    """Say in sentences why the passage that decides is shown or not."""
    at = one.shown_as
    shown = "" if at is None else place_text(at.path, at.start_line, at.end_line, at.address)
    match one.outcome:
        case "shown":
            return [f"it is result {one.result}"]
        case "grouped":
            return [f"its file is result {one.result}, which shows {shown} first"]
        case "folded":
            return [f"the same text is shown as {shown}, result {one.result}"]
        case "before_offset":
            return [f"it is result {one.result}, and the first {window.offset} were left out by the offset"]
        case "beyond_top":
            return [f"it is result {one.result}, and no more than {window.offset + window.top} were asked for"]
        case "changed":
            return ["its text is not on disk any more as it was indexed, so it is not shown"]
        case "not_ranked":
            return [f"mode {mode} does not look at the lane that found it"]
        case _:
            return [
                _why_not_by_words(one.lexical, lanes["lexical"]),
                _why_not_by_meaning(one, lanes["vector"]),
            ]


def _why_not_by_words(standing: LaneStanding | None, lane: LaneReport) -> str:
    if lane.state in {"off", "failed"}:
        return f"by words nothing could be found: {lane.reason}"
    if standing is None:
        return "no word that was asked for stands in it"
    score, last = f"{standing.score:.4f}", f"{standing.last:.4f}"
    return f"by words it scores {score}, and the last of {lane.considered} candidates {last}"


def _why_not_by_meaning(one: PassageStanding, lane: LaneReport) -> str:
    if one.failure:
        return f"its text could not be embedded ({one.failure}), so it cannot be found by meaning"
    if not one.has_vector:
        return "it has no vector yet, so it cannot be found by meaning"
    if lane.state in {"off", "failed"}:
        return f"by meaning nothing could be found: {lane.reason}"
    if one.vector is None:
        return "by meaning it was not compared"
    score, last = f"{one.vector.score:.4f}", f"{one.vector.last:.4f}"
    return f"by meaning it scores {score}, and the last of {lane.considered} candidates {last}"
