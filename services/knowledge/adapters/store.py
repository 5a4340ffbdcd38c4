"""The one file of knowledge: transactions, and deletion to the bytes.

One connection writes and one reads. The file is opened at the first call, and again when another one stands in its
place, so that a copy put back is taken at once.
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


class _Connections(Struct, frozen=True):
    """Both connections, and the file they are open on."""

    writer: apsw.Connection
    reader: apsw.Connection
    file: tuple[int, int] | None  # device, inode
    log: tuple[int, int] | None  # the same of its log


class Store:
    """The database; every method blocks. One call writes at a time and one reads, each on any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._log = beside(path, "-wal")
        self._connections: _Connections | None = None
        self._writing = threading.RLock()  # taken before the other where both are
        self._reading = threading.Lock()

    def write(self, work: Callable[[Tables], T]) -> T:
        """Run `work` in one transaction: when it returns, all of it is on the disk, and when it raises, nothing.

        Raises:
            KxError: that of `work`; KNOWLEDGE_DAMAGED, DISK_FULL, INDEX_BUSY, INDEX_NEWER.
        """
        with self._writing:
            connection = self._current().writer
            with transaction(connection, self.path, writes=True):
                return self._told(work, connection)

    def read(self, work: Callable[[Tables], T]) -> T:
        """Run `work` on one moment of the database; where there is none yet, an empty one is made.

        Raises:
            KxError: as `write`.
        """
        self._current()
        with self._reading:
            assert self._connections is not None
            connection = self._connections.reader
            with transaction(connection, self.path, writes=False):
                return self._told(work, connection)

    def want_erasure(self) -> None:
        """Remember that bytes must go; inside the transaction that deletes."""
        with self._writing:
            assert self._connections is not None
            self._connections.writer.execute(_WANT, (_WANTED,))

    def unshared(self, markers: Sequence[bytes]) -> list[bytes]:
        """Give the markers that nothing kept has as well: only these prove that a text is gone."""
        return self.read(lambda rows: [marker for marker in markers if not rows.items.holds(marker)])

    def erase(self, markers: Sequence[bytes] = ()) -> int:
        """Write the file anew without gaps and cut the log; count the files in which a marker still stands.

        The rows themselves were overwritten as they were deleted.
        """
        with self._writing:
            connection = self._current().writer
            with suppress(KxError):  # no space, or somebody reads: the search for the bytes says what is left
                self._rewrite(connection)
        return sum(_holds_any(beside(self.path, suffix), markers) for suffix in ("", "-wal", "-journal"))

    def close(self) -> None:
        """Close both connections; the next call opens them again."""
        with self._writing, self._reading:
            self._close()

    def _current(self) -> _Connections:
        """Give the connections to the file that stands at the path now.

        Where it is another than before, both are closed first, and the log of the old file is removed: SQLite leaves it
        there when the file was moved, and would take it for that of the new one.
        """
        found = self._connections
        if found is not None and found.file == _file(self.path):
            return found
        with self._writing, self._reading:
            if self._connections is None or self._connections.file != _file(self.path):
                self._close()
                if found is not None and found.log == _file(self._log):
                    self._log.unlink(missing_ok=True)
                self._connections = self._opened()
            return self._connections

    def _opened(self) -> _Connections:
        writer = open_writer(self.path, application_id=APPLICATION_ID, history=HISTORY)
        try:
            with translated(self.path):
                is_cut_off = writer.execute(_IS_WANTED, (_WANTED,)).fetchone() is not None
            if is_cut_off:
                with suppress(KxError):
                    self._rewrite(writer)
            return _Connections(writer, open_reader(self.path), _file(self.path), _file(self._log))
        except BaseException:
            writer.close()
            raise

    def _close(self) -> None:
        if self._connections is not None:
            self._connections.reader.close()
            self._connections.writer.close()
        self._connections = None

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
