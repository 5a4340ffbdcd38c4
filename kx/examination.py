"""Why a question shows a file or not, as terminal text or as JSON that programs may rely on (pure)."""

from __future__ import annotations

from typing import Any

import msgspec

from kx.catalogue import Catalogue
from kx.paint import PLAIN, Paint
from kx.render import JSON_SCHEMA, lane_json, lines_title
from kx.terminal import visible
from shared.messages import LaneReport
from shared.search_messages import LaneStanding, PassageStanding, WhyNotReply


def why_not_json(reply: WhyNotReply) -> dict[str, Any]:
    """Give the documented form of an examination."""
    return {
        "schema": JSON_SCHEMA,
        "path": reply.path,
        "line": reply.line or None,
        "outcome": reply.outcome,
        "why": list(reply.why),
        "reason": reply.reason,
        "rule": reply.rule,
        "mode": reply.mode,
        "passages": [_passage_json(one) for one in reply.passages],
        "more_passages": reply.more_passages,
        "last_shown": None if reply.last_shown is None else msgspec.to_builtins(reply.last_shown),
        "total": reply.total,
        "lanes": {name: lane_json(lane) for name, lane in reply.lanes.items()},
        "notes": list(reply.notes),
        "took_ms": round(reply.took_ms, 2),
    }


def why_not_text(reply: WhyNotReply, catalogue: Catalogue, paint: Paint = PLAIN) -> str:
    """Give an examination as a person reads it: the verdict, then where each passage stands, then what to beat."""
    t = catalogue.text
    place = visible(reply.path + (f":{reply.line}" if reply.line else ""))
    verdict = t("is shown") if reply.outcome == "shown" else t("is not shown")
    lines = [f"{paint.place(place)} {verdict}"]
    lines += [visible(catalogue.sentence(sentence)) for sentence in reply.why]
    for one in reply.passages:
        lines += _passage_lines(one, reply.lanes, catalogue, paint)
    if reply.more_passages:
        lines.append(t("{count} more passages of it stand behind these", count=reply.more_passages))
    last = reply.last_shown
    if last is not None and reply.outcome != "shown":
        where = visible(f"{last.path}:{last.start_line}-{last.end_line}")
        lines.append(
            t(
                "the last result shown, {number}, is {place}: {score}",
                number=last.result,
                place=where,
                score=f"{last.score:.4f}",
            )
        )
        lines += _parts(last.parts)
    return "\n".join([*lines, *(paint.aside(visible(catalogue.sentence(note))) for note in reply.notes)])


def _passage_json(one: PassageStanding) -> dict[str, Any]:
    found: dict[str, Any] = {**msgspec.to_builtins(one), "missing_words": list(one.missing_words)}
    for name in ("fused", "rank", "result"):
        found[name] = found[name] or None
    if one.shown_as is not None and not one.shown_as.address:
        del found["shown_as"]["address"]  # there for documents alone, as in the results of a search
    return found


def _passage_lines(one: PassageStanding, lanes: dict[str, LaneReport], catalogue: Catalogue, paint: Paint) -> list[str]:
    t = catalogue.text
    lines = [paint.place(lines_title(one.start_line, one.end_line, catalogue))]
    for name, standing in (("lexical", one.lexical), ("vector", one.vector)):
        lines.append(f"  {t(name)}: {_lane_text(standing, lanes.get(name), catalogue)}")
    if one.missing_words:
        lines.append("  " + t("asked and not in it: {words}", words=visible(", ".join(one.missing_words))))
    if one.fused:
        lines.append("  " + t("by the ranks of both lanes alone: {rank}", rank=one.fused))
    if one.rank:
        score = t("ranked {rank} of all passages: {score}", rank=one.rank, score=f"{one.score:.4f}")
        lines.append(f"  {score}")
        lines += _parts(one.parts)
    return lines


def _lane_text(standing: LaneStanding | None, lane: LaneReport | None, catalogue: Catalogue) -> str:
    if standing is None:
        return catalogue.text("not found")
    score = f"{standing.score:.4f}"
    if standing.rank:
        return catalogue.text("rank {rank}, {score}", rank=standing.rank, score=score)
    count = 0 if lane is None else lane.considered
    return catalogue.text("beyond the {count} candidates, {score}", count=count, score=score)


def _parts(parts: dict[str, float]) -> list[str]:
    return ["    " + "  ".join(f"{name}={value:+.4f}" for name, value in parts.items())] if parts else []
