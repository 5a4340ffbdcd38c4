"""Replies as terminal text or as JSON that programs may rely on (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from kx.catalogue import Catalogue
from kx.terminal import visible
from shared.messages import Hit, LaneReport, Listing, ListingRow, SearchReply, ServiceStatus, StatusReply

JSON_SCHEMA = 1  # of `kx search --json` and `kx status --json`; a field may be added, never changed

_MIB = 1024 * 1024


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
        "lanes": {name: _lane_json(lane) for name, lane in reply.lanes.items()},
        "pending": {"text": reply.pending.text, "vectors": reply.pending.vectors},
        "notes": list(reply.notes),
        "took_ms": round(reply.took_ms, 2),
    }
    return answer


def search_text(reply: SearchReply, catalogue: Catalogue) -> str:
    """Give the answer as a person reads it: score, place, kind and origin, then the passage; a total at the end."""
    blocks = [_hit_text(hit, catalogue) for hit in reply.results]
    body = "\n---\n".join(blocks)
    lines = [body] if body else []
    lines.append(_total(reply, catalogue))
    lines.extend(_notes(reply, catalogue))
    return "\n".join(lines)


def status_json(
    reply: StatusReply,
    services: Mapping[str, ServiceStatus | None],
    listings: Mapping[Listing, Iterable[ListingRow]],
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
        "services": {name: _service_json(found) for name, found in services.items()},
        "notes": list(reply.notes),
    }
    if "documents" in listings:
        status["documents_list"] = [
            {"path": row.path, "kind": row.kind, "chunks": row.chunks, "content_hash": row.content_hash}
            for row in listings["documents"]
        ]
    if "skipped" in listings:
        status["skipped_list"] = [{"path": row.path, "reason": row.reason, "detail": row.detail} for row in listings["skipped"]]
    return status


def status_text(
    reply: StatusReply,
    services: Mapping[str, ServiceStatus | None],
    listings: Mapping[Listing, Iterable[ListingRow]],
    catalogue: Catalogue,
) -> str:
    """Give the status as a person reads it; walked = documents + skipped + failed."""
    t = catalogue.text
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(reply.by_kind.items()))
    skipped = ", ".join(f"{reason} {count}" for reason, count in sorted(reply.skipped.items()))
    total = reply.vectors_ready + reply.vectors_missing
    rows = [
        (t("project"), f"{reply.project} ({t(reply.state)})"),
        (t("root"), reply.root),
        (t("documents"), f"{reply.documents}" + (f" ({kinds})" if kinds else "")),
        (t("chunks"), str(reply.chunks)),
        (t("vectors"), t("{ready} of {total} ready", ready=reply.vectors_ready, total=total)),
        (t("skipped"), f"{sum(reply.skipped.values())}" + (f" ({skipped})" if skipped else "")),
        (t("failed"), str(len(reply.failed))),
        (t("model"), reply.model_id),
        (t("index"), f"{reply.index_bytes / _MIB:.1f} MiB"),
        (t("services"), ", ".join(_service_text(name, found, catalogue) for name, found in services.items())),
    ]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {visible(value)}" for name, value in rows]
    lines += [visible(f"  {failure.path}: {failure.reason}") for failure in reply.failed]
    for name, listing in listings.items():
        lines.append(f"{t(name)}:")
        lines += [visible(_row_text(row)) for row in listing]
    lines += [visible(note) for note in reply.notes]
    return "\n".join(lines)


def _hit_json(hit: Hit) -> dict[str, Any]:
    found: dict[str, Any] = {
        "path": hit.path,
        "kind": hit.kind,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "score": round(hit.score, 6),
        "origin": hit.origin,
        "heading": hit.heading,
        "text": hit.text,
        "keywords": list(hit.keywords),
        "spans": [
            {"start_line": span.start_line, "end_line": span.end_line, "score": round(span.score, 6)}
            for span in hit.spans
        ],
        "also": [
            {"path": place.path, "start_line": place.start_line, "end_line": place.end_line} for place in hit.also
        ],
    }
    if hit.parts:
        found["parts"] = {name: round(value, 6) for name, value in hit.parts.items()}
    return found


def _lane_json(lane: LaneReport) -> dict[str, Any]:
    found: dict[str, Any] = {
        "state": lane.state,
        "coverage": round(lane.coverage, 4),
        "took_ms": round(lane.took_ms, 2),
        "considered": lane.considered,
    }
    if lane.reason:
        found["reason"] = lane.reason
    return found


def _hit_text(hit: Hit, catalogue: Catalogue) -> str:
    place = f"{hit.path}:{hit.start_line}-{hit.end_line}"
    head = f"[{hit.score:.4f}] {place} [{hit.kind}|{catalogue.text(hit.origin)}]"
    lines = [visible(head), visible(hit.text)]
    if hit.spans:
        spans = ", ".join(f"{span.start_line}-{span.end_line}" for span in hit.spans)
        lines.append(catalogue.text("also in this file: lines {spans}", spans=spans))
    if hit.also:
        places = ", ".join(f"{place.path}:{place.start_line}-{place.end_line}" for place in hit.also)
        lines.append(visible(catalogue.text("same text: {places}", places=places)))
    if hit.parts:
        parts = "  ".join(f"{name}={value:+.4f}" for name, value in hit.parts.items())
        lines.append(parts)
    return "\n".join(lines)


def _total(reply: SearchReply, catalogue: Catalogue) -> str:
    if not reply.results:
        return catalogue.text("No results.")
    return catalogue.text("{count} results" if len(reply.results) != 1 else "1 result", count=len(reply.results))


def _notes(reply: SearchReply, catalogue: Catalogue) -> list[str]:
    notes = [visible(note) for note in reply.notes]
    for name, lane in reply.lanes.items():
        if lane.state in ("off", "failed"):
            notes.append(
                catalogue.text("the {lane} lane is {state}: {reason}", lane=name, state=lane.state, reason=lane.reason)
            )
    if reply.pending.text or reply.pending.vectors:
        notes.append(
            catalogue.text(
                "pending: {text} changed files not indexed yet, {vectors} passages without a vector",
                text=reply.pending.text,
                vectors=reply.pending.vectors,
            )
        )
    return notes


def _service_json(found: ServiceStatus | None) -> dict[str, Any]:
    if found is None:
        return {"state": "down", "pid": None, "rss_bytes": None}
    return {"state": found.state, "pid": found.pid, "rss_bytes": found.rss_bytes}


def _service_text(name: str, found: ServiceStatus | None, catalogue: Catalogue) -> str:
    if found is None:
        return f"{name} {catalogue.text('down')}"
    return f"{name} {catalogue.text(found.state)} ({found.rss_bytes // _MIB} MiB)"


def _row_text(row: ListingRow) -> str:
    if row.reason:
        return f"  {row.path}: {row.reason}" + (f" ({row.detail})" if row.detail else "")
    return f"  {row.path} [{row.kind}] {row.chunks}"


def _clean(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if not value.isascii() else value
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value
