"""Rows of one epoch's text lane: documents, chunks and their postings; written whole, inside a caller's transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw
from msgspec import Struct

from services.indexer.core.prepare import PreparedChunk, PreparedDocument
from shared.identity import TextHash
from shared.index_format import DocumentState, for_epoch

_KNOWN = "SELECT id, size, mtime_ns, ctime_ns, content_hash, state, kind, language FROM document{e} WHERE path = ?"
_INSERT_DOCUMENT = """
INSERT INTO document{e}(id, path, kind, language, size, mtime_ns, ctime_ns, content_hash, state, reason, detail)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_TOUCH = "UPDATE document{e} SET size = ?, mtime_ns = ?, ctime_ns = ? WHERE id = ?"
_DELETE_DOCUMENT = "DELETE FROM document{e} WHERE id = ?"
_INSERT_CHUNK = """
INSERT INTO chunk{e}(id, document, ordinal, start_line, end_line, heading, symbols, text, text_hash, tokens)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_POSTINGS = "INSERT INTO chunk_fts{e}(rowid, body, names, path) VALUES(?, ?, ?, ?)"
_CHUNKS_OF = "SELECT id, text_hash FROM chunk{e} WHERE document = ?"
_DELETE_CHUNKS = "DELETE FROM chunk{e} WHERE document = ?"
_DELETE_POSTINGS = "DELETE FROM chunk_fts{e} WHERE rowid = ?"
_BELOW = "SELECT path FROM document{e} WHERE path > ? AND path < ?"
_ALL = "SELECT path FROM document{e}"


class KnownDocument(Struct, frozen=True):
    """What the index knows of a path."""

    id: int
    size: int
    mtime_ns: int
    ctime_ns: int
    content_hash: bytes
    state: str
    kind: str
    language: str


class DocumentRows:
    """The documents of one epoch."""

    def __init__(self, connection: apsw.Connection, epoch: int) -> None:
        self._connection = connection
        self._epoch = epoch
        self._next_document = self._first_free("document")
        self._next_chunk = self._first_free("chunk")

    def known(self, path: str) -> KnownDocument | None:
        """Look a path up."""
        row = self._connection.execute(self._sql(_KNOWN), (path,)).fetchone()
        return None if row is None else KnownDocument(*row)

    def below(self, folder: str) -> list[str]:
        """List every known path below `folder` (which ends with "/"), itself not included."""
        rows = self._connection.execute(self._sql(_BELOW), (folder, folder[:-1] + "0"))  # "0" follows "/" in order
        return [str(row[0]) for row in rows]

    def all(self) -> list[str]:
        """List every known path."""
        return [str(row[0]) for row in self._connection.execute(self._sql(_ALL))]

    def touch(self, known: KnownDocument, *, size: int, mtime_ns: int, ctime_ns: int) -> None:
        """Record a new stat of a document whose bytes did not change."""
        if (known.size, known.mtime_ns, known.ctime_ns) != (size, mtime_ns, ctime_ns):
            self._connection.execute(self._sql(_TOUCH), (size, mtime_ns, ctime_ns, known.id))

    def write(self, document: PreparedDocument) -> tuple[list[TextHash], list[TextHash]]:
        """Replace a document's whole text lane; give the texts that went and the texts that came."""
        gone = self.delete(document.path)
        document_id = self._insert(document, DocumentState.INDEXED, document.reason, document.detail)
        self._insert_chunks(document_id, document.chunks, document.path_terms)
        return gone, [piece.text_hash for piece in document.chunks]

    def write_without_text(
        self, document: PreparedDocument, state: DocumentState, *, reason: str, detail: str
    ) -> list[TextHash]:
        """Record a path that was skipped or failed; give the texts that went."""
        gone = self.delete(document.path)
        self._insert(document, state, reason, detail)
        return gone

    def delete(self, path: str) -> list[TextHash]:
        """Remove a path and its text lane; give the texts that went. Removing an unknown path does nothing."""
        known = self.known(path)
        if known is None:
            return []
        chunks = self._connection.execute(self._sql(_CHUNKS_OF), (known.id,)).fetchall()
        self._connection.executemany(self._sql(_DELETE_POSTINGS), [(row[0],) for row in chunks])
        self._connection.execute(self._sql(_DELETE_CHUNKS), (known.id,))
        self._connection.execute(self._sql(_DELETE_DOCUMENT), (known.id,))
        return [TextHash(bytes(row[1])) for row in chunks]  # type: ignore[arg-type]  # a BLOB by the schema

    def _insert(self, document: PreparedDocument, state: DocumentState, reason: str, detail: str) -> int:
        document_id = self._next_document
        self._next_document += 1
        values = (
            document_id,
            document.path,
            document.kind,
            document.language,
            document.size,
            document.mtime_ns,
            document.ctime_ns,
            document.content_hash,
            str(state),
            reason,
            detail,
        )
        self._connection.execute(self._sql(_INSERT_DOCUMENT), values)
        return document_id

    def _insert_chunks(self, document_id: int, chunks: Sequence[PreparedChunk], path_terms: str) -> None:
        first = self._next_chunk
        self._next_chunk += len(chunks)
        numbered = list(enumerate(chunks))
        self._many(
            _INSERT_CHUNK,
            (
                (
                    first + ordinal,
                    document_id,
                    ordinal,
                    piece.start_line,
                    piece.end_line,
                    piece.heading,
                    piece.symbols,
                    piece.text,
                    piece.text_hash,
                    piece.tokens,
                )
                for ordinal, piece in numbered
            ),
        )
        self._many(
            _INSERT_POSTINGS,
            ((first + ordinal, piece.body_terms, piece.name_terms, path_terms) for ordinal, piece in numbered),
        )

    def _many(self, statement: str, rows: Iterable[tuple[apsw.SQLiteValue, ...]]) -> None:
        self._connection.executemany(self._sql(statement), rows)

    def _first_free(self, table: str) -> int:
        row = self._connection.execute(f"SELECT coalesce(max(id), 0) + 1 FROM {table}_e{self._epoch}").fetchone()  # noqa: S608  # our own names
        return int(row[0])  # type: ignore[index]

    def _sql(self, statement: str) -> str:
        return for_epoch(statement, self._epoch)
