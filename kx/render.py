"""Replies as terminal text or as JSON that programs may rely on (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from kx.catalogue import Catalogue
from kx.paint import PLAIN, Paint
from kx.terminal import visible
from shared.excerpts import Excerpt, lines_text, place_text
from shared.messages import Hit, LaneReport, Listing, ListingRow, SearchReply, ServiceStatus, StatusReply

JSON_SCHEMA = 1  # of `kx search --json` and `kx status --json`; a field may be added, never changed

Absent = Literal["down", "not_running"]  # a service nobody answers for: a fault in a stack, nothing without one

NOTHING_FOUND = (
    "Try other words, or leave out --type and --path; after changes bring the index up to date with: kx index"
)
NOTHING_GOOD = "nothing here answers it well: the confidence is {percent} % at best"
# Asked by hand, 50 questions of three trees: none of the five without an answer came to more than 0.16, no first result
# that was any help to less than 0.48.
POOR_CONFIDENCE = 0.2
_MIB = 1024 * 1024
_SURROGATES = re.compile("[\ud800-\udfff]")


def as_json(value: object) -> str:
    """Give indented JSON, non-ASCII as it is; a lone surrogate becomes U+FFFD, because JSON is UTF-8."""
    encoded = msgspec.json.format(msgspec.json.encode(_clean(value)), indent=2)
    return encoded.decode()


def search_json(reply: SearchReply) -> dict[str, Any]:
    """Give the documented form of a search answer."""
    answer: dict[str, Any] = {
        "schema": JSON_SCHEMA,
        "query": reply.query,
        "mode": reply.mode,
        "project": reply.project,
        "state": reply.state,
        "results": [_hit_json(hit) for hit in reply.results],
        "total": reply.total,
        "lanes": {name: lane_json(lane) for name, lane in reply.lanes.items()},
        "pending": {"text": reply.pending.text, "vectors": reply.pending.vectors},
        "notes": list(reply.notes),
        "next_offset": reply.next_offset,
        "took_ms": round(reply.took_ms, 2),
    }
    return answer


def search_text(reply: SearchReply, catalogue: Catalogue, paint: Paint = PLAIN) -> str:
    """Give the answer as a person reads it: score, place, kind and origin, then the passage; a total at the end."""
    blocks = [_hit_text(hit, catalogue, paint) for hit in reply.results]
    body = f"\n{paint.aside('---')}\n".join(blocks)
    lines = [body] if body else []
    lines.append(_total(reply, catalogue))
    lines.extend(paint.aside(note) for note in _notes(reply, catalogue))
    return "\n".join(lines)


def status_json(
    reply: StatusReply,
    services: Mapping[str, ServiceStatus | None],
    listings: Mapping[Listing, Iterable[ListingRow]],
    absent: Absent = "down",
) -> dict[str, Any]:
    """Give the documented form of a status; `listings` holds the lists that were asked for."""
    status: dict[str, Any] = {
        "schema": JSON_SCHEMA,
        "project": reply.project,
        "root": reply.root,
        "state": reply.state,
        "documents": reply.documents,
        "chunks": reply.chunks,
        "by_kind": reply.by_kind,
        "vectors": {"ready": reply.vectors_ready, "missing": reply.vectors_missing},
        "skipped": reply.skipped,
        "failed": [{"path": failure.path, "reason": failure.reason} for failure in reply.failed],
        "model": reply.model_id,
        "index_bytes": reply.index_bytes,
        "services": {name: _service_json(found, absent) for name, found in services.items()},
        "notes": list(reply.notes),
    }
    if "documents" in listings:
        status["documents_list"] = [
            {"path": row.path, "kind": row.kind, "chunks": row.chunks, "content_hash": row.content_hash}
            for row in listings["documents"]
        ]
    if "skipped" in listings:
        status["skipped_list"] = [
            {"path": row.path, "reason": row.reason, "detail": row.detail} for row in listings["skipped"]
        ]
    return status


def status_text(
    reply: StatusReply,
    services: Mapping[str, ServiceStatus | None],
    listings: Mapping[Listing, Iterable[ListingRow]],
    catalogue: Catalogue,
    absent: Absent = "down",
) -> str:
    """Give the status as a person reads it; walked = documents + skipped + failed."""
    t = catalogue.text
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(reply.by_kind.items()))
    skipped = ", ".join(f"{reason} {count}" for reason, count in sorted(reply.skipped.items()))
    total = reply.vectors_ready + reply.vectors_missing
    is_left = reply.state == "indexing" and absent == "not_running"  # the index is behind, and no service brings it up
    state = "incomplete" if is_left else reply.state
    rows = [
        (t("project"), f"{reply.project} ({_state(state, catalogue)})"),
        (t("root"), reply.root),
        (t("documents"), f"{reply.documents}" + (f" ({kinds})" if kinds else "")),
        (t("chunks"), str(reply.chunks)),
        (t("vectors"), t("{ready} of {total} ready", ready=reply.vectors_ready, total=total)),
        (t("skipped"), f"{sum(reply.skipped.values())}" + (f" ({skipped})" if skipped else "")),
        (t("failed"), str(len(reply.failed))),
        (t("model"), reply.model_id),
        (t("index"), f"{reply.index_bytes / _MIB:.1f} MiB"),
        (t("services"), ", ".join(_service_text(name, found, absent, catalogue) for name, found in services.items())),
    ]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {visible(value)}" for name, value in rows]
    lines += [visible(f"  {failure.path}: {failure.reason}") for failure in reply.failed]
    for name, listing in listings.items():
        lines.append(f"{t(name)}:")
        lines += [visible(_row_text(row, catalogue)) for row in listing]
    lines += [visible(catalogue.sentence(note)) for note in reply.notes]
    if is_left:
        lines.append(visible(t("to complete it: kx index {root}", root=reply.root)))
    return "\n".join(lines)


def _hit_json(hit: Hit) -> dict[str, Any]:
    found: dict[str, Any] = {
        "path": hit.path,
        "kind": hit.kind,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        **_address_json(hit.address),
        "score": round(hit.score, 6),
        "confidence": hit.confidence,
        "origin": hit.origin,
        "heading": hit.heading,
        "text": hit.text,
        "excerpt": _excerpt_json(hit.excerpt),
        "keywords": list(hit.keywords),
        "spans": [
            {
                "start_line": span.start_line,
                "end_line": span.end_line,
                **_address_json(span.address),
                "score": round(span.score, 6),
            }
            for span in hit.spans
        ],
        "also": [
            {
                "path": place.path,
                "start_line": place.start_line,
                "end_line": place.end_line,
                **_address_json(place.address),
            }
            for place in hit.also
        ],
    }
    if hit.parts:
        found["parts"] = {name: round(value, 6) for name, value in hit.parts.items()}
    return found


def _address_json(address: str) -> dict[str, str]:
    return {"address": address} if address else {}


def _excerpt_json(excerpt: Excerpt | None) -> dict[str, Any] | None:
    if excerpt is None:
        return None
    found = {"start_line": excerpt.start_line, "end_line": excerpt.end_line, "text": excerpt.text}
    return found | {"is_part": True} if excerpt.is_part else found


def lane_json(lane: LaneReport) -> dict[str, Any]:
    """Give the documented form of a lane."""
    found: dict[str, Any] = {
        "state": lane.state,
        "coverage": round(lane.coverage, 4),
        "took_ms": round(lane.took_ms, 2),
        "considered": lane.considered,
    }
    if lane.reason:
        found["reason"] = lane.reason
    return found


def _hit_text(hit: Hit, catalogue: Catalogue, paint: Paint) -> str:
    score = paint.score(f"[{hit.score:.4f}]")
    place = paint.place(visible(place_text(hit.path, hit.start_line, hit.end_line, catalogue.sentence(hit.address))))
    lines = [f"{score} {place} {paint.aside(f'[{hit.kind}|{catalogue.text(hit.origin)}]')}"]
    lines += _excerpt_lines(hit, catalogue, paint)
    if hit.spans:
        told = (lines_text(span.start_line, span.end_line, catalogue.sentence(span.address)) for span in hit.spans)
        spans = ", ".join(dict.fromkeys(told))  # a page may have two
        if hit.address:
            lines.append(visible(catalogue.text("also in this document: {spans}", spans=spans)))
        else:
            lines.append(catalogue.text("also in this file: lines {spans}", spans=spans))
    if hit.also:
        places = ", ".join(
            place_text(place.path, place.start_line, place.end_line, catalogue.sentence(place.address))
            for place in hit.also
        )
        lines.append(visible(catalogue.text("same text: {places}", places=places)))
    if hit.parts:
        lines.append("  ".join(f"{name}={value:+.4f}" for name, value in hit.parts.items()))
    return "\n".join(lines)


def _excerpt_lines(hit: Hit, catalogue: Catalogue, paint: Paint) -> list[str]:
    """Give the lines that answer; where only the place is shown, the heading says what stands there."""
    shown = hit.excerpt
    if shown is None:
        return [visible(" ".join(hit.heading.split()))] if hit.heading else []
    lines = visible(shown.text).split("\n")
    if shown.is_part:
        return [paint.aside(_part_title(shown, catalogue)), *lines]
    if hit.address or (shown.start_line, shown.end_line) == (hit.start_line, hit.end_line):
        return lines
    return [paint.aside(lines_title(shown.start_line, shown.end_line, catalogue)), *lines]


def _part_title(shown: Excerpt, catalogue: Catalogue) -> str:
    if shown.start_line == shown.end_line:
        return catalogue.text("line {line}, in part:", line=shown.start_line)
    return catalogue.text("lines {start}-{end}, in part:", start=shown.start_line, end=shown.end_line)


def lines_title(start: int, end: int, catalogue: Catalogue) -> str:
    """Name the lines that follow, or are spoken of."""
    if start == end:
        return catalogue.text("line {line}:", line=start)
    return catalogue.text("lines {start}-{end}:", start=start, end=end)


def _total(reply: SearchReply, catalogue: Catalogue) -> str:
    if not reply.results:
        return catalogue.text("No results.")
    count = catalogue.text("{count} results" if len(reply.results) != 1 else "1 result", count=len(reply.results))
    if reply.next_offset is None:
        return count
    return f"{count}\n" + catalogue.text("more: --offset {offset}", offset=reply.next_offset)


def _notes(reply: SearchReply, catalogue: Catalogue) -> list[str]:
    notes = [visible(catalogue.sentence(note)) for note in reply.notes]
    if not reply.results and not notes:
        notes.append(catalogue.text(NOTHING_FOUND))
    told = [hit.confidence for hit in reply.results if hit.confidence is not None]
    if told and max(told) < POOR_CONFIDENCE:
        notes.append(catalogue.text(NOTHING_GOOD, percent=round(100 * max(told))))
    for name, lane in reply.lanes.items():
        is_wanted = name != "vector" or reply.mode != "lexical"
        if is_wanted and lane.state in ("off", "failed") and lane.reason not in reply.notes:
            notes.append(visible(lane_text(name, lane, catalogue)))
    if reply.pending.text or reply.pending.vectors:
        notes.append(
            catalogue.text(
                "pending: {text} changed files not indexed yet, {vectors} passages without a vector",
                text=reply.pending.text,
                vectors=reply.pending.vectors,
            )
        )
    return notes


def lane_text(name: str, lane: LaneReport, catalogue: Catalogue) -> str:
    """Say how a lane is, and why."""
    return catalogue.text(
        "the {lane} lane is {state}: {reason}",
        lane=catalogue.text(name),
        state=_state(lane.state, catalogue),
        reason=catalogue.sentence(lane.reason),
    )


def _state(state: str, catalogue: Catalogue) -> str:
    return catalogue.text(state.replace("_", " "))


def _service_json(found: ServiceStatus | None, absent: Absent) -> dict[str, Any]:
    if found is None:
        return {"state": absent, "pid": None, "rss_bytes": None}
    return {"state": found.state, "pid": found.pid, "rss_bytes": found.rss_bytes}


def _service_text(name: str, found: ServiceStatus | None, absent: Absent, catalogue: Catalogue) -> str:
    if found is None:
        return f"{name} {_state(absent, catalogue)}"
    return f"{name} {_state(found.state, catalogue)} ({found.rss_bytes // _MIB} MiB)"


def _row_text(row: ListingRow, catalogue: Catalogue) -> str:
    if row.reason:
        return f"  {row.path}: {row.reason}" + (f" ({catalogue.sentence(row.detail)})" if row.detail else "")
    return f"  {row.path} [{row.kind}] {row.chunks}"


def _clean(value: object) -> object:
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATES.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value
