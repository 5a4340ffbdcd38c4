"""Read-only connections to index files: kept, lent to one thread at a time, and never asked longer than a limit.

A connection belongs to (path, device, inode): a file that was replaced is opened anew. Each use is one read
transaction that looks up the answering epoch first, so that all it reads is of one state of the index.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw
from msgspec import Struct

from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.index_format import Meta, for_epoch
from shared.index_open import open_reader, translated

QUERY_LIMIT_S = 1.0
"""A reader that stays longer would pin the write-ahead log."""

IDLE_S = 60.0
MAX_IDLE_CONNECTIONS = 16
MAX_TERM_COUNTS = 20_000
_OPS_BETWEEN_CHECKS = 4_000  # virtual machine steps; some hundred microseconds

_META = "SELECT key, value FROM meta WHERE key IN ('epoch', 'seq', 'building', 'building_announced')"
_EPOCH = (
    "SELECT epoch.analyzer, model.id, model.model_id FROM epoch JOIN model ON model.id = epoch.model WHERE epoch.id = ?"
)

Value = None | int | float | str | bytes
Bindings = Sequence[Value] | Mapping[str, Value]
Row = tuple[Value, ...]


class FileIdentity(Struct, frozen=True):
    """Which file on disk a connection reads."""

    path: Path
    device: int
    inode: int


class Snapshot:
    """One state of an index: valid while its read transaction is open, on the thread that opened it."""

    def __init__(
        self, connection: apsw.Connection, file: FileIdentity, instance: InstanceId, counts: TermCounts
    ) -> None:
        self._connection = connection
        self.file = file
        self.instance = instance
        meta = {str(key): int(value) for key, value in self._all(_META)}  # type: ignore[arg-type]
        self.epoch = meta[Meta.EPOCH]  # 0: nothing was ever indexed
        self.seq = meta[Meta.SEQ]
        self.building = meta[Meta.BUILDING]
        self.is_building_announced = bool(meta[Meta.BUILDING_ANNOUNCED])
        row = next(iter(self._all(_EPOCH, (self.epoch,))), (0, 0, ""))
        self.analyzer, self.model, self.model_id = int(row[0]), int(row[1]), str(row[2])  # type: ignore[arg-type]
        self._counts = counts.of(file, (self.epoch, self.seq))

    def all(self, statement: str, bindings: Bindings = (), *, epoch: int | None = None) -> list[Row]:
        """Run a statement written with `{e}` suffixes against the answering epoch, or the one given."""
        return self._all(for_epoch(statement, self.epoch if epoch is None else epoch), bindings)

    def number(self, statement: str, bindings: Bindings = (), *, epoch: int | None = None) -> int:
        """Run a statement that gives one number."""
        return int(self.all(statement, bindings, epoch=epoch)[0][0])  # type: ignore[arg-type]

    def chunks_with(self, term: str) -> int:
        """Count the chunks that have an analysed term; remembered until the next commit.

        0.2 ms a term: the index adds its postings up.
        """
        known = self._counts.get(term)
        if known is None:
            statement = f"SELECT doc FROM temp.{self.define_vocabulary()} WHERE term = ?"  # noqa: S608  # our own name
            known = int(next(iter(self._all(statement, (term,))), (0,))[0])  # type: ignore[arg-type]
            self._counts[term] = known
        return known

    def define_vocabulary(self) -> str:
        """Make the temporary view of the epoch's full-text terms and name it; nothing is written to the file."""
        name = f"vocabulary_e{self.epoch}"
        if not self._all("SELECT 1 FROM temp.sqlite_schema WHERE name = ?", (name,)):
            self._all("PRAGMA query_only=OFF")
            try:
                self._all(f"CREATE VIRTUAL TABLE temp.{name} USING fts5vocab(main, chunk_fts_e{self.epoch}, row)")
            finally:
                self._all("PRAGMA query_only=ON")
        return name

    def _all(self, statement: str, bindings: Bindings = ()) -> list[Row]:
        return self._connection.execute(statement, bindings).fetchall()


class TermCounts:
    """How many chunks have a term, as of one commit of each index; both the lexical lane and the evidence ask."""

    def __init__(self) -> None:
        self._counts: dict[FileIdentity, tuple[tuple[int, int], dict[str, int]]] = {}

    def of(self, file: FileIdentity, state: tuple[int, int]) -> dict[str, int]:
        """Give what is known of the epoch and seq in `state`, to be added to; safe across threads."""
        known = self._counts.get(file)
        if known is None or known[0] != state or len(known[1]) > MAX_TERM_COUNTS:
            known = self._counts[file] = (state, {})
        return known[1]

    def forget(self, file: FileIdentity) -> None:
        """Drop what is known of a file."""
        self._counts.pop(file, None)


class IndexReaders:
    """Lends connections; safe to use from any thread."""

    def __init__(self) -> None:
        self._counts = TermCounts()
        self._idle: dict[FileIdentity, list[tuple[float, apsw.Connection]]] = {}
        self._lock = threading.Lock()
        self._is_closed = False

    @contextmanager
    def snapshot(self, path: Path, instance: InstanceId, *, limit_s: float = QUERY_LIMIT_S) -> Iterator[Snapshot]:
        """Open a read transaction for at most `limit_s`; blocks, so it belongs in a worker thread.

        Raises:
            KxError: as `open_reader`; TIMEOUT when a statement was cut off at the limit.
        """
        identity = _identity_of(path)
        with translated(path):
            connection = self._take(identity, instance)
            deadline = time.monotonic() + limit_s
            connection.set_progress_handler(lambda: time.monotonic() > deadline, _OPS_BETWEEN_CHECKS)
            try:
                connection.execute("BEGIN")
                yield Snapshot(connection, identity, instance, self._counts)
            except apsw.InterruptError as error:
                raise _cut_off(path, limit_s) from error
            finally:
                connection.set_progress_handler(None)
                self._give_back(identity, connection)

    def close_idle(self, *, older_than_s: float = IDLE_S) -> None:
        """Close what was not used for a while, and what reads a file that is no longer there."""
        now = time.monotonic()
        with self._lock:
            for identity, pool in list(self._idle.items()):
                keep = [item for item in pool if now - item[0] < older_than_s and _is_current(identity)]
                _close([item for item in pool if item not in keep])
                self._idle[identity] = keep
                if not keep:
                    del self._idle[identity]
                    self._counts.forget(identity)

    @property
    def is_closed(self) -> bool:
        """Whether nobody is to begin anything any more."""
        return self._is_closed

    def close(self) -> None:
        """Close everything; a connection still lent closes when it comes back."""
        self._is_closed = True
        self.close_idle(older_than_s=0.0)

    def _take(self, identity: FileIdentity, instance: InstanceId) -> apsw.Connection:
        with self._lock:
            pool = self._idle.get(identity)
            if pool:
                return pool.pop()[1]
        return open_reader(identity.path, instance)

    def _give_back(self, identity: FileIdentity, connection: apsw.Connection) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        with self._lock:
            pool = self._idle.setdefault(identity, [])
            if not self._is_closed and len(pool) < MAX_IDLE_CONNECTIONS:
                pool.append((time.monotonic(), connection))
                return
        connection.close()


def index_bytes(path: Path) -> int:
    """Give the size of an index with its write-ahead log; 0 where there is none."""
    sizes = []
    for name in (path.name, path.name + "-wal"):
        try:
            sizes.append(path.with_name(name).stat().st_size)
        except FileNotFoundError:
            continue
    return sum(sizes)


def _identity_of(path: Path) -> FileIdentity:
    try:
        found = path.stat()
    except OSError:
        return FileIdentity(path, 0, 0)  # opening it says what is wrong
    return FileIdentity(path, found.st_dev, found.st_ino)


def _is_current(identity: FileIdentity) -> bool:
    return _identity_of(identity.path) == identity


def _close(pool: list[tuple[float, apsw.Connection]]) -> None:
    for _, connection in pool:
        connection.close()


def _cut_off(path: Path, limit_s: float) -> KxError:
    return KxError(
        ErrorCode.TIMEOUT,
        "a query on the index {path} was cut off after {limit_s} s",
        hint="ask with rarer words, or with fewer",
        retryable=True,
        path=path,
        limit_s=limit_s,
    )
