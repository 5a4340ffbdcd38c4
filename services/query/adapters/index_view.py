"""What an index holds, told in counts and pages; each call is one snapshot and blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from msgspec import Struct

from services.query.adapters.reader import Row, Snapshot
from shared.index_format import CUT_TEXT, NO_STRUCTURE
from shared.messages import Failure, Listing, ListingPage, ListingRow, ManifestEntry, ManifestPage

T = TypeVar("T")

MAX_PAGE_BYTES = 200 * 1024  # of a bus message's 256 KiB
MAX_FAILURES = 500
"""Failures a status names; the rest is counted and listed by `kx status --failed`."""

_ROW_OVERHEAD_BYTES = 160

# A document one of whose texts could not be embedded is found by words, and counted as failed, not as a document: so
# documents, skipped and failed add up to what was walked.
_TEXT_FAILED = """
EXISTS (SELECT 1 FROM failure f JOIN chunk{e} c ON c.text_hash = f.subject WHERE f.next_try_ns = 0 AND c.document = d.id)
"""
_BY_KIND = """
SELECT kind, count(*) FROM document{e} d WHERE state = 'indexed' AND NOT {text_failed} GROUP BY kind ORDER BY kind
"""
_SKIPPED = "SELECT reason, count(*) FROM document{e} WHERE state = 'skipped' GROUP BY reason ORDER BY reason"
_FAILED = """
SELECT d.path, CASE WHEN d.detail = '' THEN d.reason ELSE d.reason || ': ' || d.detail END AS reason
FROM document{e} d WHERE d.state = 'failed' AND d.path > :after
UNION ALL
SELECT d.path, (SELECT min(CASE WHEN f.detail = '' THEN f.code ELSE f.code || ': ' || f.detail END)
                FROM failure f JOIN chunk{e} c ON c.text_hash = f.subject
                WHERE f.next_try_ns = 0 AND c.document = d.id)
FROM document{e} d WHERE d.state = 'indexed' AND d.path > :after AND {text_failed}
ORDER BY path LIMIT :limit
"""
_WITH_REASON = "SELECT path FROM document{e} WHERE state = 'indexed' AND reason = :reason ORDER BY path"
_TEXTS = "SELECT count(DISTINCT text_hash) FROM chunk{e}"
_WAITING = "SELECT code, count(*) FROM failure WHERE next_try_ns > 0 GROUP BY code ORDER BY code"
_DOCUMENTS = """
SELECT d.path, d.kind, (SELECT count(*) FROM chunk{e} c WHERE c.document = d.id), d.content_hash
FROM document{e} d WHERE d.state = 'indexed' AND d.path > :after AND NOT {text_failed} ORDER BY d.path LIMIT :limit
"""
_SKIPPED_ROWS = """
SELECT path, reason, detail FROM document{e} WHERE state = 'skipped' AND path > :after ORDER BY path LIMIT :limit
"""
_MANIFEST = "SELECT path, size, mtime_ns, ctime_ns FROM document{e} WHERE path > :after ORDER BY path LIMIT :limit"


class Counts(Struct, frozen=True, kw_only=True):
    """What one epoch holds."""

    by_kind: dict[str, int]
    skipped: dict[str, int]
    failed: tuple[Failure, ...]
    failures_not_named: int
    texts: int
    waiting: dict[str, int]  # texts that failed and are tried again, by error code
    without_structure: tuple[str, ...] = ()  # paths of documents whose parser died
    cut: tuple[str, ...] = ()  # paths of documents of which a part is missing


def counts_of(snapshot: Snapshot) -> Counts:
    """Count documents by kind, skipped entries by reason, and name what failed."""
    if snapshot.epoch == 0:
        return Counts(by_kind={}, skipped={}, failed=(), failures_not_named=0, texts=0, waiting={})
    failed = [
        Failure(path=str(row[0]), reason=str(row[1]))
        for row in snapshot.all(_with_texts(_FAILED), {"after": "", "limit": -1})
    ]
    named = tuple(_fitting(failed[:MAX_FAILURES], lambda failure: failure.path + failure.reason))
    return Counts(
        by_kind=_tally(snapshot.all(_with_texts(_BY_KIND))),
        skipped=_tally(snapshot.all(_SKIPPED)),
        failed=named,
        failures_not_named=len(failed) - len(named),
        texts=snapshot.number(_TEXTS),
        waiting=_tally(snapshot.all(_WAITING)),
        without_structure=_indexed_with(snapshot, NO_STRUCTURE),
        cut=_indexed_with(snapshot, CUT_TEXT),
    )


def _indexed_with(snapshot: Snapshot, reason: str) -> tuple[str, ...]:
    return tuple(str(row[0]) for row in snapshot.all(_WITH_REASON, {"reason": reason}))


def listing_page(snapshot: Snapshot, listing: Listing, *, after: str, limit: int) -> ListingPage:
    """Give a page of a listing in path order; it may be shorter than `limit` without being the last."""
    if snapshot.epoch == 0:
        return ListingPage(rows=(), complete=True)
    statement = {"documents": _DOCUMENTS, "skipped": _SKIPPED_ROWS, "failed": _FAILED}[listing]
    found = snapshot.all(_with_texts(statement), {"after": after, "limit": limit})
    make = _document_row if listing == "documents" else _reason_row
    rows = tuple(_fitting(map(make, found), lambda row: row.path + row.reason + row.content_hash))
    return ListingPage(rows=rows, complete=len(found) < limit and len(rows) == len(found))


def manifest_page(snapshot: Snapshot, *, after: str, limit: int) -> ManifestPage:
    """Give a page of the known entries: of the epoch being built while there is one, since a walk is compared with it.

    So a rebuild hears of every path that its epoch does not have yet.
    """
    epoch = snapshot.building or snapshot.epoch
    if epoch == 0:
        return ManifestPage(entries=(), complete=True)
    found = snapshot.all(_MANIFEST, {"after": after, "limit": limit}, epoch=epoch)
    entries = tuple(_fitting(map(_manifest_entry, found), lambda entry: entry.path))
    return ManifestPage(entries=entries, complete=len(found) < limit and len(entries) == len(found), epoch=epoch)


def _with_texts(statement: str) -> str:
    return statement.replace("{text_failed}", _TEXT_FAILED)


def _document_row(row: Row) -> ListingRow:
    path, kind, chunks, content_hash = row
    return ListingRow(
        path=str(path),
        kind=str(kind),
        chunks=int(chunks),  # type: ignore[arg-type]
        content_hash=bytes(content_hash).hex(),  # type: ignore[arg-type]
    )


def _reason_row(row: Row) -> ListingRow:
    reason, _, detail = str(row[1]).partition(": ")
    return ListingRow(path=str(row[0]), reason=reason, detail=str(row[2]) if len(row) > 2 else detail)


def _manifest_entry(row: Row) -> ManifestEntry:
    return ManifestEntry(str(row[0]), int(row[1]), int(row[2]), int(row[3]))  # type: ignore[arg-type]


def _tally(rows: Iterable[Row]) -> dict[str, int]:
    return {str(name): int(count) for name, count in rows}  # type: ignore[arg-type]


def _fitting(items: Iterable[T], text_of: Callable[[T], str]) -> Iterator[T]:
    """Give the first items as long as a message can hold them."""
    left = MAX_PAGE_BYTES
    for item in items:
        left -= _ROW_OVERHEAD_BYTES + len(text_of(item).encode("utf-8", "replace"))
        if left < 0:
            return
        yield item
