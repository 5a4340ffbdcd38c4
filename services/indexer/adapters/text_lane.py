"""Handle touched paths: look at the disk, do what it says, write the text lane.

One call is one transaction, bounded in documents, bytes and time, so that a live edit never waits long behind bulk
work. What a path was touched for does not matter: the disk decides when it is handled, so duplicates, losses and any
order of touches are harmless.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import structlog
from msgspec import Struct
from structlog.typing import FilteringBoundLogger

from services.indexer.adapters.documents import KnownDocument
from services.indexer.adapters.files import Gone, ReadDocument, Skipped, Unstable, read_document, read_folder
from services.indexer.adapters.store import IndexStore
from services.indexer.core.embedplan import BULK, LIVE
from services.indexer.core.prepare import PreparedChunk, PreparedDocument, prepare_chunks
from shared.analyzer import index_terms
from shared.errors import ErrorCode, KxError
from shared.identity import TextHash
from shared.index_format import DocumentState
from shared.messages import Urgency
from shared.pathgate import PathGate
from shared.relpath import RelPath
from shared.treerules import RulesConfig, TreeRules

# A bulk transaction ends at whichever comes first: readers see progress, the log stays short, live edits get in.
BATCH_DOCUMENTS = 200
BATCH_BYTES = 8 * 1024 * 1024
BATCH_S = 0.1
# Reading the rules costs some milliseconds, a twentieth of a batch. A changed ignore file is a touched path itself and
# renews them at once; this bounds how long a lost event could matter.
RULES_KEPT_S = 2.0

_log: FilteringBoundLogger = structlog.get_logger()


class Handled(Struct, frozen=True, kw_only=True):
    """What one call got through."""

    paths: int  # of those given, from the front
    source_bytes: int
    unstable: tuple[str, ...]  # changed while being read: handle them again


class TextLane:
    """The text lane of one tree; blocks, belongs on the writer's thread."""

    def __init__(
        self, root: Path, store: IndexStore, *, rules: Callable[[], RulesConfig], count: Callable[[str], int]
    ) -> None:
        self._root = root
        self._store = store
        self._rules = rules
        self._count = count
        self._kept: TreeRules | None = None
        self._kept_since = 0.0

    def handle(self, paths: Sequence[str], urgency: Urgency) -> Handled:
        """Bring the index in line with the disk for as many of `paths` as fit one transaction, at least one."""
        started = time.monotonic()
        gate, rules = PathGate(self._root), self._current_rules(paths, started)
        done = source_bytes = 0
        unstable: list[str] = []
        with self._store.transaction():
            for path in paths[:BATCH_DOCUMENTS]:
                outcome = self._outcome(gate, rules, path)
                if isinstance(outcome, Unstable):
                    unstable.append(path)
                else:
                    source_bytes += self._apply(path, outcome, urgency)
                done += 1
                if source_bytes >= BATCH_BYTES or time.monotonic() - started >= BATCH_S:
                    break
        return Handled(paths=done, source_bytes=source_bytes, unstable=tuple(unstable))

    def _current_rules(self, paths: Sequence[str], now: float) -> TreeRules:
        config = self._rules()
        kept = self._kept
        if (
            kept is None
            or kept.config != config
            or now - self._kept_since > RULES_KEPT_S
            or any(map(TreeRules.governs, paths))
        ):
            kept, self._kept_since = TreeRules(self._root, config), now
            self._kept = kept
        return kept

    def _outcome(self, gate: PathGate, rules: TreeRules, path: str) -> ReadDocument | Skipped | Gone | Unstable:
        if path.endswith("/"):
            return read_folder(gate, rules, RelPath(path))
        return read_document(gate, rules, RelPath(path))

    def _apply(self, path: str, outcome: ReadDocument | Skipped | Gone, urgency: Urgency) -> int:
        if isinstance(outcome, ReadDocument):
            self._index(outcome, urgency)
            return outcome.size
        if isinstance(outcome, Skipped) and not outcome.below_pruned:
            self._skip(path, outcome)
        else:
            # Where a folder is now, its files come by themselves and may be here already.
            self._forget(path, is_folder=isinstance(outcome, Gone) and outcome.is_folder)
        return 0

    def _index(self, document: ReadDocument, urgency: Urgency) -> None:
        prepared: PreparedDocument | None = None
        for epoch in self._store.epochs():
            rows = self._store.documents(epoch)
            known = rows.known(document.path)
            if known is not None and known.state == DocumentState.INDEXED and _is_same(known, document):
                rows.touch(known, size=document.size, mtime_ns=document.mtime_ns)
                continue
            if prepared is None:
                try:
                    prepared = self._prepare(document)
                except KxError:
                    raise  # of the environment, such as a damaged vocabulary: no document's fault
                except Exception as error:  # noqa: BLE001  # one poisonous text must not stop the indexer
                    self._fail(document, error)
                    return
            gone, came = rows.write(prepared)
            self._requeue(epoch, gone, came, urgency, document.mtime_ns)

    def _prepare(self, document: ReadDocument) -> PreparedDocument:
        chunks = prepare_chunks(
            document.text, kind=document.file_type.kind, language=document.file_type.language, count=self._count
        )
        return _row(document, chunks=chunks, path_terms=index_terms(document.path))

    def _requeue(self, epoch: int, gone: list[TextHash], came: list[TextHash], urgency: Urgency, mtime_ns: int) -> None:
        embeddings = self._store.embeddings(epoch)
        embeddings.add_missing(came, urgency=LIVE if urgency == "live" else BULK, touched_ns=mtime_ns)
        kept = set(came)
        embeddings.drop_unused(text for text in gone if text not in kept)

    def _fail(self, document: ReadDocument, error: Exception) -> None:
        _log.exception("document.failed", path=document.path, error_code=ErrorCode.INTERNAL)
        for epoch in self._store.epochs():
            gone = self._store.documents(epoch).write_without_text(
                _row(document),
                DocumentState.FAILED,
                reason=ErrorCode.INTERNAL,
                detail=type(error).__name__,
            )
            self._store.embeddings(epoch).drop_unused(gone)

    def _skip(self, path: str, skipped: Skipped) -> None:
        row = PreparedDocument(
            path=path,
            kind="",
            language="",
            size=skipped.size,
            mtime_ns=skipped.mtime_ns,
            content_hash=b"",
            path_terms="",
            chunks=(),
        )
        for epoch in self._store.epochs():
            gone = self._store.documents(epoch).write_without_text(
                row, DocumentState.SKIPPED, reason=skipped.reason, detail=skipped.detail
            )
            self._store.embeddings(epoch).drop_unused(gone)
        if path.endswith("/"):
            self._forget_below(path)

    def _forget(self, path: str, *, is_folder: bool) -> None:
        for epoch in self._store.epochs():
            gone = self._store.documents(epoch).delete(path)
            self._store.embeddings(epoch).drop_unused(gone)
        if not is_folder:
            self._forget_below(path.rstrip("/") + "/")

    def _forget_below(self, folder: str) -> None:
        for epoch in self._store.epochs():
            rows = self._store.documents(epoch)
            for path in rows.below(folder):
                self._store.embeddings(epoch).drop_unused(rows.delete(path))


def _is_same(known: KnownDocument, document: ReadDocument) -> bool:
    return (
        known.content_hash == document.content_hash
        and known.kind == document.file_type.kind
        and known.language == document.file_type.language
    )


def _row(document: ReadDocument, *, chunks: tuple[PreparedChunk, ...] = (), path_terms: str = "") -> PreparedDocument:
    return PreparedDocument(
        path=document.path,
        kind=document.file_type.kind,
        language=document.file_type.language,
        size=document.size,
        mtime_ns=document.mtime_ns,
        content_hash=document.content_hash,
        path_terms=path_terms,
        chunks=chunks,
    )
