"""Replies of the services to the answers of the tools (pure): bounded, every foreign character visible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from services.mcp_gateway.core.answers import (
    FailedEntry,
    FoundPassage,
    IngestAnswer,
    ReindexAnswer,
    SearchAnswer,
    SkippedEntry,
    StatusAnswer,
)
from services.mcp_gateway.core.budget import fitting
from services.mcp_gateway.core.inputs import SearchInput
from shared.excerpts import Snippets, lines_text, place_text
from shared.messages import (
    Hit,
    IndexProgress,
    LaneReport,
    ListingRow,
    SearchReply,
    ServiceStatus,
    StatusReply,
    TreeReconciled,
)
from shared.visible import visible

MAX_ENTRIES = 20  # of a list that is there to be glanced at; `kx status --skipped` has all of them
MAX_PLACES = 10
MAX_NOTES = 20
MAX_NAME_CHARS = 300  # of a heading, a reason, a detail


def search_answer(reply: SearchReply, asked: SearchInput, progress: IndexProgress | None) -> SearchAnswer:
    """Write a search reply within the tokens that were asked for."""
    found = [_found(hit) for hit in reply.results]
    notes = _notes(reply.notes, reply.lanes)
    kept = fitting(found, asked.max_tokens, notes)
    is_cut = len(kept) < len(found)
    return SearchAnswer(
        results=tuple(kept),
        total=reply.total,
        mode=reply.mode,
        state=reply.state,
        truncated=is_cut or len(found) < min(asked.top, reply.total - asked.offset),
        next_offset=asked.offset + len(kept) if is_cut else reply.next_offset,
        indexing=search_indexing(reply, progress),
        notes=notes,
    )


def snippets_of(asked: SearchInput, configured: Snippets) -> Snippets:
    """Say how much source an agent is shown: what the call says, else what the project's file sets, else all of it."""
    lines, results = asked.max_snippet_lines, asked.max_snippet_results
    return Snippets(
        lines=configured.lines if lines is None else lines, results=configured.results if results is None else results
    )


def status_answer(
    reply: StatusReply, progress: IndexProgress | None, services: Mapping[str, ServiceStatus | None]
) -> StatusAnswer:
    """Write a status; the root is left out, because who asks knows its own."""
    return StatusAnswer(
        project=visible(reply.project),
        state=reply.state,
        documents=reply.documents,
        passages=reply.chunks,
        by_kind=reply.by_kind,
        vectors_ready=reply.vectors_ready,
        vectors_missing=reply.vectors_missing,
        skipped=reply.skipped,
        failed=tuple(FailedEntry(path=_name(one.path), reason=_name(one.reason)) for one in reply.failed[:MAX_ENTRIES]),
        failed_total=len(reply.failed),
        truncated=len(reply.failed) > MAX_ENTRIES,
        services={name: "down" if found is None else found.state for name, found in services.items()},
        indexing=indexing_of(progress) or _of_vectors(reply.vectors_ready, reply.vectors_missing),
        notes=tuple(_name(note) for note in reply.notes[:MAX_NOTES]),
    )


def ingest_answer(
    path: str, tree: TreeReconciled | None, progress: IndexProgress | None, skipped: Sequence[ListingRow]
) -> IngestAnswer:
    """Write what became of a file or folder; without `tree` the walk is still going on."""
    is_searchable = tree is not None and progress is not None and not progress.text_pending
    return IngestAnswer(
        path=_name(path) or ".",
        files=0 if tree is None else tree.walked,
        searchable=is_searchable,
        skipped=tuple(
            SkippedEntry(path=_name(row.path), reason=row.reason, detail=_name(row.detail))
            for row in skipped[:MAX_ENTRIES]
        ),
        indexing=indexing_of(progress) if tree is not None else "the tree is being walked",
        notes=("more entries are skipped; see: kx status --skipped",) if len(skipped) > MAX_ENTRIES else (),
    )


def reindex_answer(*, full: bool, tree: TreeReconciled | None, progress: IndexProgress | None) -> ReindexAnswer:
    """Write how a reindex began; without `tree` the walk is still going on."""
    return ReindexAnswer(
        full=full,
        complete=tree is not None,
        files=0 if tree is None else tree.walked,
        changed=0 if tree is None else tree.announced,
        indexing=indexing_of(progress) if tree is not None else "the tree is being walked",
    )


def indexing_of(progress: IndexProgress | None) -> str:
    """Say how far the indexer is; nothing when it is done or nobody knows.

    Files come first, because a passage is searchable by its words as soon as its file was read.
    """
    if progress is None:
        return ""
    if progress.stalled is not None:
        return f"stopped: {progress.stalled.code}"
    if progress.text_pending:
        done = progress.documents
        return f"{done} of {done + progress.text_pending} files read"
    return _of_vectors(progress.vectors_ready, max(progress.vectors_missing - progress.texts_failed, 0))


def search_indexing(reply: SearchReply, progress: IndexProgress | None) -> str:
    """Say what the search could not see yet."""
    told = indexing_of(progress)
    if told:
        return told
    if reply.pending.text:
        return f"{reply.pending.text} changed files not read yet"
    if reply.pending.vectors:
        return f"{reply.pending.vectors} passages not findable by meaning yet"
    return {"not_indexed": "0 files read yet", "indexing": "in progress", "rebuilding": "being built anew"}.get(
        reply.state, ""
    )


def _of_vectors(ready: int, missing: int) -> str:
    return f"{ready} of {ready + missing} passages findable by meaning" if missing else ""


def _found(hit: Hit) -> FoundPassage:
    shown = hit.excerpt
    height = hit.end_line - hit.start_line + 1
    is_whole = shown is not None and (shown.start_line, shown.end_line) == (hit.start_line, hit.end_line)
    lines = "" if shown is None or is_whole or hit.address else f"{shown.start_line}-{shown.end_line}"
    if shown is not None and shown.is_part:
        lines = f"{shown.start_line}-{shown.end_line}, in part"
    return FoundPassage(
        path=visible(hit.path),
        start_line=hit.start_line,
        end_line=hit.end_line,
        address=_name(hit.address),
        kind=hit.kind,
        origin=hit.origin,
        score=round(hit.score, 4),
        confidence=hit.confidence,
        heading=_name(hit.heading),
        text="" if shown is None else visible(shown.text.replace("\r\n", "\n")),
        text_lines=lines,
        cut_lines=height if shown is None else max(height - (shown.end_line - shown.start_line + 1), 0),
        keywords=tuple(_name(word) for word in hit.keywords),
        also_lines=tuple(dict.fromkeys(_name(lines_text(s.start_line, s.end_line, s.address)) for s in hit.spans)),
        same_text=tuple(
            visible(place_text(place.path, place.start_line, place.end_line, place.address))
            for place in hit.also[:MAX_PLACES]
        ),
        parts={name: round(value, 4) for name, value in hit.parts.items()},
    )


def _notes(notes: Sequence[str], lanes: Mapping[str, LaneReport]) -> tuple[str, ...]:
    """Give the notes, and why a lane is down where they do not say it already."""
    down = [
        f"the {name} lane is {lane.state}: {lane.reason}"
        for name, lane in lanes.items()
        if lane.state in {"off", "failed"} and lane.reason not in notes
    ]
    return tuple(_name(note) for note in (*notes, *down)[:MAX_NOTES])


def _name(text: str) -> str:
    """Write a name or reason on one line of bounded length."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= MAX_NAME_CHARS else line[: MAX_NAME_CHARS - 1] + "…"
