"""Write a small real index by SQL, for tests of the read side; the indexer is not involved."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from msgspec import Struct

from shared.analyzer import ANALYZER_VERSION, index_terms
from shared.identity import InstanceId, TextHash, text_hash
from shared.index_format import Meta, epoch_ddl, for_epoch
from shared.index_open import open_writer
from tests.support.fake_encoder import FakeEncoder

NOON_NS = 1_790_000_000 * 1_000_000_000
BULK = 2


class BuiltChunk(Struct, frozen=True, kw_only=True):
    """One chunk as a test says it; lines follow from the text and the chunk before."""

    text: str
    heading: str = ""
    symbols: tuple[str, ...] = ()
    is_embedded: bool = True
    vector: bytes | None = None  # instead of the encoder's


class IndexBuilder:
    """One index being written: `with IndexBuilder(path, instance, root) as index`; each `commit` is one seq."""

    def __init__(
        self, path: Path, instance: InstanceId, root: Path, *, epoch: int = 1, encoder: FakeEncoder | None = None
    ) -> None:
        self.path = path
        self.encoder = encoder or FakeEncoder()
        self.epoch = epoch
        self._connection = open_writer(path, instance, project="demo", root=str(root))
        self._root = root
        self._vectors: dict[TextHash, bytes] = {}
        self._connection.execute("BEGIN")
        self.begin_epoch(epoch)
        self.set_meta(Meta.EPOCH, epoch)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.commit()
        self._connection.execute("COMMIT")
        self._connection.close()

    def begin_epoch(self, epoch: int) -> None:
        """Create the tables of an epoch, unless it has them; what is added from here on goes there."""
        self.epoch = epoch
        if self._connection.execute("SELECT 1 FROM epoch WHERE id = ?", (epoch,)).fetchall():
            return
        self._connection.execute(epoch_ddl(epoch))
        self._connection.execute("INSERT OR IGNORE INTO model VALUES(1, ?)", (self.encoder.model_id,))
        self._connection.execute("INSERT INTO epoch VALUES(?, 1, ?, 1)", (epoch, ANALYZER_VERSION))

    def set_meta(self, key: Meta, value: int) -> None:
        """Set one value of the `meta` table."""
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (str(key), value))

    def add(
        self,
        path: str,
        *chunks: str | BuiltChunk,
        kind: str = "docs",
        mtime_ns: int | None = None,
        is_on_disk: bool = True,
    ) -> Self:
        """Add an indexed document made of these chunks, one below the other, and write its file."""
        parts = [chunk if isinstance(chunk, BuiltChunk) else BuiltChunk(text=chunk) for chunk in chunks]
        data = "".join(part.text + "\n" for part in parts).encode()
        file = self._root / path
        if is_on_disk:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        found = file.stat() if is_on_disk else None
        stamp = mtime_ns if mtime_ns is not None else (found.st_mtime_ns if found else NOON_NS)
        values = (path, kind, "text", len(data), stamp, hashlib.sha256(data).digest(), "indexed", "", "")
        self._add_chunks(self._insert_document(values), path, parts)
        return self

    def skip(self, path: str, reason: str) -> Self:
        """Add a path that was not read."""
        self._insert_document((path, "", "", 1, NOON_NS, b"", "skipped", reason, ""))
        return self

    def fail(self, path: str, code: str, detail: str = "") -> Self:
        """Add a path that could not be read."""
        self._insert_document((path, "", "", 1, NOON_NS, b"", "failed", code, detail))
        return self

    def fail_text(self, text: str, code: str, *, next_try_ns: int = 0) -> Self:
        """Record that a text could not be embedded."""
        self._connection.execute("INSERT INTO failure VALUES(?, ?, '', 3, ?)", (text_hash(text), code, next_try_ns))
        return self

    def remove(self, path: str) -> Self:
        """Delete a document with its chunks and postings; vectors stay, as they do in an index."""
        document = self._rows("SELECT id FROM document{e} WHERE path = ?", path)[0][0]
        self._rows("DELETE FROM chunk_fts{e} WHERE rowid IN (SELECT id FROM chunk{e} WHERE document = ?)", document)
        self._rows("DELETE FROM chunk{e} WHERE document = ?", document)
        self._rows("DELETE FROM document{e} WHERE id = ?", document)
        return self

    def answer_with_epoch(self) -> Self:
        """Swap: the epoch that was begun last answers."""
        self.set_meta(Meta.EPOCH, self.epoch)
        return self

    def execute(self, statement: str) -> None:
        """Run a statement of a test's own, such as one that damages something."""
        self._connection.execute(statement).fetchall()

    def commit(self) -> Self:
        """Make what was added visible and count it as one commit."""
        self._connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'seq'")
        self._connection.execute("COMMIT")
        self._connection.execute("BEGIN")
        return self

    def _insert_document(self, values: tuple[str | int | bytes, ...]) -> int:
        self._rows(
            "INSERT INTO document{e}(path, kind, language, size, mtime_ns, content_hash, state, reason, detail)"
            " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *values,
        )
        return self._connection.last_insert_rowid()

    def _add_chunks(self, document: int, path: str, parts: Sequence[BuiltChunk]) -> None:
        line = 1
        for ordinal, part in enumerate(parts):
            embedded = f"{part.heading}\n{part.text}" if part.heading else part.text
            key = text_hash(embedded)
            last = line + part.text.count("\n")
            self._rows(
                "INSERT INTO chunk{e}(document, ordinal, start_line, end_line, heading, symbols, text, text_hash, tokens)"
                " VALUES(?, ?, ?, ?, ?, ?, ?, ?, 9)",
                *(document, ordinal, line, last, part.heading, "\n".join(part.symbols), part.text, key),
            )
            names = index_terms(" ".join((part.heading, *part.symbols)))
            postings = (self._connection.last_insert_rowid(), index_terms(part.text), names, index_terms(path))
            self._rows("INSERT INTO chunk_fts{e}(rowid, body, names, path) VALUES(?, ?, ?, ?)", *postings)
            self._add_vector(key, embedded, part)
            line = last + 1

    def _add_vector(self, key: TextHash, embedded: str, part: BuiltChunk) -> None:
        if not part.is_embedded:
            self._rows("INSERT OR IGNORE INTO missing{e} VALUES(?, ?, 0)", key, BULK)
            return
        vector = part.vector
        if vector is None:
            vector = np.asarray(self.encoder.encode([embedded])[0], dtype="<f4").tobytes()
        self._rows(
            "INSERT OR IGNORE INTO embedding(text_hash, model, vector, last_used_ns) VALUES(?, 1, ?, 0)", key, vector
        )

    def _rows(self, statement: str, *bindings: str | int | bytes) -> list[tuple[int, ...]]:
        return self._connection.execute(for_epoch(statement, self.epoch), bindings).fetchall()  # type: ignore[return-value]
