"""Write what touched paths have become: the text lane of one tree, one transaction at a time.

What a path was touched for does not matter: the disk decides when it is handled, so duplicates, losses and any order
of touches are harmless. A transaction is bounded, so that a live edit never waits long behind bulk work.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from services.indexer.adapters.files import Gone, Skipped, Unstable
from services.indexer.adapters.reading import NO_TIME_NS, Content, Failed, Outcome, Prepared, Reader, Unchanged
from services.indexer.adapters.store import IndexStore
from services.indexer.core.embedplan import BULK, LIVE, bulk_order_ns
from services.indexer.core.prepare import PreparedDocument
from shared.deny import DenyList
from shared.identity import TextHash
from shared.index_format import DocumentState
from shared.messages import Urgency
from shared.pathgate import PathGate
from shared.treerules import RulesConfig, SkipReason

# A bulk transaction ends at whichever comes first: readers see progress, the log stays short, live edits get in.
BATCH_DOCUMENTS = 200
BATCH_BYTES = 8 * 1024 * 1024
BATCH_S = 0.1


# Nobody may read these: text that got in earlier is removed without a trace, not only deleted.
_ERASED = frozenset({SkipReason.DENIED, SkipReason.HARD_LINK, SkipReason.SYMLINK_OUT})


class Purged(Struct, frozen=True):
    """What a purge removed."""

    documents: int


class Handled(Struct, frozen=True, kw_only=True):
    """What one call got through."""

    paths: int  # of those given, from the front
    source_bytes: int
    unstable: tuple[str, ...]  # changed meanwhile: handle them again


class TextLane:
    """The text lane of one tree; blocks, belongs on the writer's thread but for `read`."""

    def __init__(
        self, root: Path, store: IndexStore, *, rules: Callable[[], RulesConfig], reader: Callable[[], Reader]
    ) -> None:
        self._root = root
        self._store = store
        self._rules = rules
        self._readers: dict[Urgency, Reader] = {"live": reader(), "bulk": reader()}
        self._denylist: tuple[RulesConfig, DenyList] | None = None
        self.touched_s = -math.inf  # monotonic time of the last touch of any path
        self._is_erasing = False  # what is being written keeps text out that was in

    def handle(self, paths: Sequence[str], urgency: Urgency) -> Handled:
        """Read and write as many of `paths` as fit one transaction, at least one."""
        config, known = self.known(paths)
        outcomes = self.read(paths, config, known, urgency)
        return self.write(paths[: len(outcomes)], outcomes, urgency)

    def read(
        self, paths: Sequence[str], config: RulesConfig, known: Sequence[Content | None], urgency: Urgency
    ) -> list[Outcome]:
        """Read as many of `paths` as fit one transaction, at least one; needs no database, so any thread may call it.

        One call at a time for each urgency.
        """
        started = time.monotonic()
        reader = self._readers[urgency]
        gate, rules = reader.begin(paths, config, touched_s=self.touched_s)
        outcomes: list[Outcome] = []
        source_bytes = 0
        for path, content in zip(paths[:BATCH_DOCUMENTS], known, strict=False):
            outcomes.append(reader.read(gate, rules, path, content))
            source_bytes += _size(outcomes[-1])
            if source_bytes >= BATCH_BYTES or time.monotonic() - started >= BATCH_S:
                break
        return outcomes

    def known(self, paths: Sequence[str]) -> tuple[RulesConfig, tuple[Content | None, ...]]:
        """Give what a reading process needs: the rules, and for each path what all epochs have of it."""
        return self._rules(), tuple(map(self._known, paths))

    def write(self, paths: Sequence[str], outcomes: Sequence[Outcome], urgency: Urgency) -> Handled:
        """Write what was read elsewhere, except of files that changed since."""
        gate = PathGate(self._root)
        source_bytes = 0
        unstable: list[str] = []
        with self._store.transaction():
            for path, outcome in zip(paths, outcomes, strict=True):
                if isinstance(outcome, Unstable) or not _still_stands(gate, path, outcome):
                    unstable.append(path)
                else:
                    source_bytes += self._write(path, outcome, urgency)
        return Handled(paths=len(paths), source_bytes=source_bytes, unstable=tuple(unstable))

    def _known(self, path: str) -> Content | None:
        """What every epoch has of a path; None when one has none, or they differ."""
        found: set[Content | None] = set()
        for epoch in self._store.epochs():
            known = self._store.documents(epoch).known(path)
            is_indexed = known is not None and known.state == DocumentState.INDEXED
            found.add(Content(known.content_hash, known.kind, known.language) if known and is_indexed else None)
        return found.pop() if len(found) == 1 else None

    def purge(self, paths: Sequence[str]) -> Purged:
        """Remove paths and all below them, without looking at the disk; their traces are erased by the upkeep."""
        documents: set[str] = set()
        with self._store.transaction():
            for epoch in self._store.epochs():
                rows = self._store.documents(epoch)
                for path in paths:
                    folder = path.rstrip("/") + "/" if path.strip("/") else ""
                    found = [path.rstrip("/"), folder, *rows.below(folder)] if folder else rows.all()
                    for below in found:
                        if rows.known(below) is not None:
                            documents.add(below)
                            self._drop(epoch, rows.delete(below))
            self._store.upkeep.want_erasure()  # also for what was removed earlier and left its traces
        return Purged(documents=len(documents))

    def _write(self, path: str, outcome: Outcome, urgency: Urgency) -> int:
        self._is_erasing = self._leaves_no_trace(path, outcome)
        if _is_no_folder(outcome):
            self._forget_below(path.rstrip("/") + "/")  # a folder that is moved away makes no event for what was in it
        if isinstance(outcome, Prepared):
            document = outcome.document
            self._index(replace(document, ctime_ns=NO_TIME_NS) if outcome.is_young else document, urgency)
            return outcome.document.size
        if isinstance(outcome, Unchanged):
            self._touch(path, outcome)
            return outcome.size
        if isinstance(outcome, Failed):
            self._record(outcome.document, DocumentState.FAILED, outcome.code, outcome.detail)
        elif isinstance(outcome, Skipped) and not outcome.below_pruned:
            self._record(_bare(path, outcome), DocumentState.SKIPPED, outcome.reason, outcome.detail)
            if path.endswith("/"):
                self._forget_below(path)
        elif not isinstance(outcome, Unstable):
            # Where a folder is now, its files come by themselves and may be here already.
            self._forget(path, is_folder=isinstance(outcome, Gone) and outcome.is_folder)
        return 0

    def _leaves_no_trace(self, path: str, outcome: Outcome) -> bool:
        if isinstance(outcome, Skipped):
            return outcome.reason in _ERASED
        return isinstance(outcome, Gone) and self._deny().denies(path) is not None  # denied, and deleted since

    def _deny(self) -> DenyList:
        rules = self._rules()
        if self._denylist is None or self._denylist[0] != rules:
            self._denylist = (rules, DenyList(rules.deny, rules.allow_denied))
        return self._denylist[1]

    def _index(self, document: PreparedDocument, urgency: Urgency) -> None:
        is_live = urgency == "live"
        order_ns = document.mtime_ns if is_live else bulk_order_ns(document.path, document.mtime_ns)
        for epoch in self._store.epochs():
            gone, came = self._store.documents(epoch).write(document)
            embeddings = self._store.embeddings(epoch)
            embeddings.add_missing(came, urgency=LIVE if is_live else BULK, touched_ns=order_ns)
            kept = set(came)
            embeddings.drop_unused(text for text in gone if text not in kept)

    def _touch(self, path: str, unchanged: Unchanged) -> None:
        ctime_ns = NO_TIME_NS if unchanged.is_young else unchanged.ctime_ns
        for epoch in self._store.epochs():
            rows = self._store.documents(epoch)
            known = rows.known(path)
            if known is not None:
                rows.touch(known, size=unchanged.size, mtime_ns=unchanged.mtime_ns, ctime_ns=ctime_ns)

    def _record(self, row: PreparedDocument, state: DocumentState, reason: str, detail: str) -> None:
        for epoch in self._store.epochs():
            gone = self._store.documents(epoch).write_without_text(row, state, reason=reason, detail=detail)
            self._drop(epoch, gone)

    def _forget(self, path: str, *, is_folder: bool) -> None:
        for epoch in self._store.epochs():
            self._drop(epoch, self._store.documents(epoch).delete(path))
        if not is_folder:
            self._forget_below(path.rstrip("/") + "/")

    def _forget_below(self, folder: str) -> None:
        for epoch in self._store.epochs():
            rows = self._store.documents(epoch)
            for path in rows.below(folder):
                self._drop(epoch, rows.delete(path))

    def _drop(self, epoch: int, gone: list[TextHash]) -> None:
        if gone:
            self._store.embeddings(epoch).drop_unused(gone)
        if gone and self._is_erasing:
            self._store.upkeep.want_erasure()


def _is_no_folder(outcome: Outcome) -> bool:
    """Tell whether something stands there that holds nothing; of what cannot be read nothing is known."""
    if isinstance(outcome, Skipped):
        return outcome.reason is not SkipReason.UNREADABLE
    return isinstance(outcome, Prepared | Unchanged | Failed)


def _size(outcome: Outcome) -> int:
    if isinstance(outcome, Prepared):
        return outcome.document.size
    return outcome.size if isinstance(outcome, Unchanged) else 0


def _still_stands(gate: PathGate, path: str, outcome: Outcome) -> bool:
    """Tell whether the file is as it was read: a live edit may have been written meanwhile, and must not be undone."""
    if isinstance(outcome, Prepared):
        read = outcome.document.size, outcome.document.mtime_ns, outcome.document.ctime_ns
    elif isinstance(outcome, Unchanged):
        read = outcome.size, outcome.mtime_ns, outcome.ctime_ns
    else:
        return True
    try:
        now = gate.status(path)
    except (OSError, ValueError):
        return False
    return (now.st_size, now.st_mtime_ns, now.st_ctime_ns) == read


def _bare(path: str, skipped: Skipped) -> PreparedDocument:
    return PreparedDocument(
        path=path,
        kind="",
        language="",
        size=skipped.size,
        mtime_ns=skipped.mtime_ns,
        ctime_ns=skipped.ctime_ns,
        content_hash=b"",
        path_terms="",
        chunks=(),
    )
