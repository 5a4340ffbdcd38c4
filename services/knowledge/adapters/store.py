"""The one file of knowledge: transactions, and deletion to the bytes.

One connection writes and one reads, each on a thread of its own choosing, one call at a time. The file is opened at the
first call and again when another one stands in its place, so that a copy put back is taken at once.
"""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import apsw
from msgspec import Struct

from services.knowledge.adapters.database import damaged, open_reader, open_writer, transaction, translated
from services.knowledge.adapters.item_rows import DamagedContentError, ItemRows
from services.knowledge.adapters.journal_rows import JournalRows
from services.knowledge.adapters.schema import APPLICATION_ID, HISTORY
from services.knowledge.adapters.space_rows import SpaceRows
from shared.errors import KxError
from shared.index_files import beside

T = TypeVar("T")

_WANTED = "erasure_wanted"
_WANT = "INSERT OR REPLACE INTO state VALUES(?, 1)"
_DONE = "DELETE FROM state WHERE key = ?"
_IS_WANTED = "SELECT 1 FROM state WHERE key = ?"


class Tables(Struct, frozen=True):
    """All rows, within one transaction."""

    spaces: SpaceRows
    items: ItemRows
    journal: JournalRows


class Store:
    """The database; every method blocks. `write` and `erase` on one thread at a time, `read` on one at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer = _Opened(self._open_writer, path)
        self._reader = _Opened(lambda: open_reader(path), path)
        self._opening = threading.Lock()

    def write(self, work: Callable[[Tables], T]) -> T:
        """Run `work` in one transaction: when it returns, all of it is on the disk, and when it raises, nothing.

        Raises:
            KxError: that of `work`; KNOWLEDGE_DAMAGED, DISK_FULL, INDEX_BUSY, INDEX_NEWER.
        """
        connection = self._for_writing()
        with transaction(connection, self.path, writes=True):
            return self._told(work, connection)

    def read(self, work: Callable[[Tables], T]) -> T:
        """Run `work` on one moment of the database; where there is none yet, an empty one is made.

        Raises:
            KxError: as `write`.
        """
        with self._opening:
            if not self._reader.is_current():
                self._writer.connection()  # makes it, brings it up to date, refuses what is damaged
            connection = self._reader.connection()
        with transaction(connection, self.path, writes=False):
            return self._told(work, connection)

    def want_erasure(self) -> None:
        """Remember that bytes must go; inside the transaction that deletes."""
        self._for_writing().execute(_WANT, (_WANTED,))

    def unshared(self, markers: Sequence[bytes]) -> list[bytes]:
        """Give the markers that nothing kept has as well: only these prove that a text is gone."""
        with transaction(self._for_writing(), self.path, writes=False):
            rows = ItemRows(self._for_writing())
            return [marker for marker in markers if not rows.holds(marker)]

    def erase(self, markers: Sequence[bytes] = ()) -> int:
        """Write the file anew without gaps and cut the log; count the files in which a marker still stands.

        The rows themselves were overwritten as they were deleted.
        """
        connection = self._for_writing()
        with suppress(
            KxError
        ):  # no space to write it anew, or somebody reads: the search for the bytes says what is left
            self._rewrite(connection)
        return sum(_holds_any(beside(self.path, suffix), markers) for suffix in ("", "-wal", "-journal"))

    def close(self) -> None:
        """Close both connections."""
        self._reader.close()
        self._writer.close()

    def _for_writing(self) -> apsw.Connection:
        with self._opening:
            return self._writer.connection()

    def _open_writer(self) -> apsw.Connection:
        connection = open_writer(self.path, application_id=APPLICATION_ID, history=HISTORY)
        if connection.execute(_IS_WANTED, (_WANTED,)).fetchone() is not None:  # it was cut off
            with suppress(KxError):
                self._rewrite(connection)
        return connection

    def _rewrite(self, connection: apsw.Connection) -> None:
        with translated(self.path):
            connection.execute("PRAGMA temp_store=FILE").fetchall()  # of living text alone; memory may be short
            try:
                connection.execute("VACUUM").fetchall()
            finally:
                connection.execute("PRAGMA temp_store=MEMORY").fetchall()
            connection.execute(_DONE, (_WANTED,))
            busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if busy is not None and busy[0]:
                connection.execute(_WANT, (_WANTED,))

    def _told(self, work: Callable[[Tables], T], connection: apsw.Connection) -> T:
        try:
            return work(Tables(SpaceRows(connection), ItemRows(connection), JournalRows(connection)))
        except DamagedContentError as error:
            raise damaged(self.path, f"the bytes of {error} are not those that were written") from error


class _Opened:
    """A connection that is opened when it is needed, and again when the file is another."""

    def __init__(self, open_it: Callable[[], apsw.Connection], path: Path) -> None:
        self._open = open_it
        self._path = path
        self._connection: apsw.Connection | None = None
        self._file: tuple[int, int] | None = None

    def is_current(self) -> bool:
        """Tell whether it is open on the file that stands at the path now."""
        return self._connection is not None and self._file == _file(self._path)

    def connection(self) -> apsw.Connection:
        """Give the connection."""
        if not self.is_current() or self._connection is None:
            self.close()
            self._connection = self._open()
            self._file = _file(self._path)
        return self._connection

    def close(self) -> None:
        """Close it; it may be opened again."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def _file(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _holds_any(path: Path, markers: Sequence[bytes]) -> bool:
    try:
        with path.open("rb") as file:
            if not markers or not os.fstat(file.fileno()).st_size:
                return False
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return any(data.find(marker) >= 0 for marker in markers)
    except FileNotFoundError:
        return False
