"""The memory of one project: a small database that is the truth, opened for each piece of work, closed after it.

Closing writes the log back and removes it. What is forgotten is overwritten, then the file is written anew without gaps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import apsw
import msgspec
from msgspec.structs import replace

from services.knowledge.adapters.database import open_writer, transaction, translated
from services.knowledge.core.memory import digest_of, owner_of
from shared.memory_messages import MemoryRecord

APPLICATION_ID = 0x6B786D65  # "kxme"
TABLES = """
CREATE TABLE state(key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE records(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,             -- whose it is: space:{id} or principal:{name}
  kind TEXT NOT NULL CHECK(kind IN ('knowledge', 'working')),
  digest TEXT NOT NULL,            -- sha256 of the text
  text TEXT NOT NULL,
  created TEXT NOT NULL,
  expires TEXT,
  principal TEXT NOT NULL,
  client TEXT NOT NULL,
  session TEXT NOT NULL,
  source TEXT NOT NULL,
  tags TEXT NOT NULL,              -- JSON
  space TEXT NOT NULL,
  UNIQUE(owner, kind, digest)
) STRICT;
"""
HISTORY = (TABLES,)

_COLUMNS = "id, kind, text, created, expires, principal, client, session, source, tags, space"
_ALL = f"SELECT {_COLUMNS} FROM records ORDER BY number DESC"  # noqa: S608  # our own names
_SAME = f"SELECT {_COLUMNS} FROM records WHERE owner = ? AND kind = ? AND digest = ?"  # noqa: S608  # our own names
_GET = f"SELECT {_COLUMNS} FROM records WHERE id = ?"  # noqa: S608  # our own names
_COUNT = "SELECT count(*) FROM records"
_ADD = f"INSERT INTO records(owner, digest, {_COLUMNS}) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_EXPIRE = "UPDATE records SET expires = ? WHERE id = ?"
_PROMOTE = "UPDATE records SET kind = 'knowledge', expires = NULL WHERE id = ?"
_DELETE = "DELETE FROM records WHERE id = ?"
_WANT = "INSERT OR REPLACE INTO state VALUES('erasure_wanted', 1)"
_DONE = "DELETE FROM state WHERE key = 'erasure_wanted'"
_IS_WANTED = "SELECT 1 FROM state WHERE key = 'erasure_wanted'"

T = TypeVar("T")


class MemoryStore:
    """One project's records; every method blocks, one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self) -> bool:
        """Tell whether anything was ever remembered."""
        return self.path.exists()

    def all(self) -> tuple[MemoryRecord, ...]:
        """Give every record, the newest first, expired ones too.

        Raises:
            KxError: KNOWLEDGE_DAMAGED, INDEX_BUSY, INDEX_NEWER, as every method.
        """
        if not self.exists():
            return ()
        return self._work(lambda rows: tuple(map(_record, rows.execute(_ALL))), writes=False)

    def count(self) -> int:
        """Count the records."""
        if not self.exists():
            return 0
        return self._work(lambda rows: int(str(next(rows.execute(_COUNT))[0])), writes=False)

    def get(self, record_id: str) -> MemoryRecord | None:
        """Give one record."""
        if not self.exists():
            return None
        return self._work(lambda rows: _found(rows, _GET, record_id), writes=False)

    def keep(self, record: MemoryRecord) -> tuple[MemoryRecord, bool]:
        """Keep a record, or of one that is there already move the expiry; the flag says that it is new."""

        def run(rows: apsw.Connection) -> tuple[MemoryRecord, bool]:
            known = _found(rows, _SAME, owner_of(record), record.kind, digest_of(record.text))
            if known is not None:
                rows.execute(_EXPIRE, (record.expires, known.id))
                return replace(known, expires=record.expires), False
            rows.execute(_ADD, (owner_of(record), digest_of(record.text), *_values(record)))
            return record, True

        return self._work(run)

    def promote(self, record: MemoryRecord) -> tuple[MemoryRecord, bool]:
        """Make a record durable; where the same text is durable already that one stays and this one goes (the flag)."""

        def run(rows: apsw.Connection) -> tuple[MemoryRecord, bool]:
            known = _found(rows, _SAME, owner_of(record), "knowledge", digest_of(record.text))
            if known is not None:
                rows.execute(_WANT)
                rows.execute(_DELETE, (record.id,))
                return known, True
            rows.execute(_PROMOTE, (record.id,))
            return replace(record, kind="knowledge", expires=None), False

        return self._work(run)

    def destroy(self, ids: Sequence[str]) -> None:
        """Remove records, and every byte of them from the file."""

        def run(rows: apsw.Connection) -> None:
            rows.execute(_WANT)
            for record_id in ids:
                rows.execute(_DELETE, (record_id,))

        self._work(run)
        self.erase()

    def erase(self) -> None:
        """Finish what is to be erased: the file is written anew, without gaps; cheap when there is nothing."""
        if not self.exists():
            return
        with self._opened() as rows, translated(self.path):
            if rows.execute(_IS_WANTED).fetchone() is None:
                return
            rows.execute("VACUUM").fetchall()
            rows.execute(_DONE)
            rows.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _work(self, work: Callable[[apsw.Connection], T], *, writes: bool = True) -> T:
        with self._opened() as rows, transaction(rows, self.path, writes=writes):
            return work(rows)

    @contextmanager
    def _opened(self) -> Iterator[apsw.Connection]:
        connection = open_writer(self.path, application_id=APPLICATION_ID, history=HISTORY)
        try:
            yield connection
        finally:
            connection.close()


def _found(rows: apsw.Connection, statement: str, *values: str) -> MemoryRecord | None:
    row = rows.execute(statement, values).fetchone()
    return _record(row) if row is not None else None


def _record(row: tuple[Any, ...]) -> MemoryRecord:
    names = _COLUMNS.split(", ")
    values = dict(zip(names, row, strict=True))
    return MemoryRecord(**{**values, "tags": msgspec.json.decode(values["tags"], type=tuple[str, ...])})


def _values(record: MemoryRecord) -> tuple[Any, ...]:
    values = [getattr(record, name) for name in _COLUMNS.split(", ")]
    return tuple(msgspec.json.encode(one).decode() if isinstance(one, tuple) else one for one in values)
