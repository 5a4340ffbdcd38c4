"""The words of passages in memory: of those that were candidates and, once two questions were asked, of a whole index.

One memory is for all indexes, because projects share words, and for all threads, because reading holds the interpreter
for nearly all of its time anyway.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Final

import structlog
from msgspec import Struct
from structlog.typing import FilteringBoundLogger

from services.query.adapters.reader import FileIdentity, IndexReaders, Row, Snapshot
from services.query.core.evidence.demotion import is_prose
from services.query.core.evidence.memory import Excerpt, Memory
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId

MAX_BYTES: Final = 96 * 1024 * 1024
"""All is forgotten when that much is known; an index that would not fit is not read as a whole."""

BYTES_A_CHUNK: Final = 800
"""Expected of a whole index: 98 tokens a chunk, and two words that no other has."""

MIN_CHUNKS: Final = 1_000
"""Of a smaller index most is soon read by questions."""

IDLE_S: Final = 600.0
_ASKS_BEFORE: Final = 2
_BATCH: Final = 48  # chunks; for some three milliseconds a question may wait for them
_REST: Final = 1.0  # times as long as a batch took: questions come first

_NEXT_CHUNKS = """
SELECT c.id, c.heading, c.symbols, c.text, d.kind, d.path
FROM (SELECT id, heading, symbols, text, document FROM chunk{e} WHERE id > ? ORDER BY id LIMIT ?) c
CROSS JOIN document{e} d ON d.id = c.document
ORDER BY c.id
"""

_log: FilteringBoundLogger = structlog.get_logger()


class _Index(Struct):
    """How far an index was read."""

    asked: int = 0
    epoch: int = 0
    seq: int = -1  # all that this commit has was read
    chunks: int = 0  # read so far
    last: int = 0  # highest id of them
    is_loading: bool = False

    def begin(self, epoch: int) -> None:
        """Begin anew: the chunks of another epoch have other ids."""
        self.epoch, self.seq, self.chunks, self.last = epoch, -1, 0, 0


class WordMemory:
    """Lends the memory to one thread at a time, bounded; safe across threads."""

    def __init__(self, *, max_bytes: int = MAX_BYTES, min_chunks: int = MIN_CHUNKS) -> None:
        self._max_bytes = max_bytes
        self._min_chunks = min_chunks
        self._memory = Memory()
        self._lock = threading.Lock()  # of the memory
        self._state = threading.Lock()  # of `_indexes`, so that nobody waits for a measurement to see them
        self._used_at = self._full_at = -IDLE_S
        self._indexes: dict[FileIdentity, _Index] = {}
        self._loader = ThreadPoolExecutor(1, thread_name_prefix="words")
        self._loads: set[Future[None]] = set()

    @property
    def passages(self) -> int:
        """How many are in memory."""
        return self._memory.passages

    @contextmanager
    def memory(self) -> Iterator[Memory]:
        """Lend it for a question."""
        with self._lent() as memory:
            self._used_at = time.monotonic()
            yield memory

    def follow(self, readers: IndexReaders, snapshot: Snapshot, chunks: int) -> None:
        """Have an index of so many chunks read in the background, or what is new in it, if it was asked twice."""
        with self._state:
            index = self._indexes.setdefault(snapshot.file, _Index())
            index.asked += 1
            is_read = (index.epoch, index.seq) == (snapshot.epoch, snapshot.seq)
            is_loading = any(other.is_loading for other in self._indexes.values())  # there is room for one that fits
            if index.asked < _ASKS_BEFORE or is_loading or is_read or readers.is_closed:
                return
            left = chunks - (index.chunks if index.epoch == snapshot.epoch else 0)
            has_room = self._memory.bytes + max(0, left) * BYTES_A_CHUNK <= self._max_bytes
            # What filled it may fill it again: a memory that is read, forgotten and read again helps nobody.
            was_full = time.monotonic() - self._full_at < IDLE_S
            if chunks < self._min_chunks or not has_room or was_full:
                return
            index.is_loading = True
        load = self._loader.submit(self._load, readers, snapshot.file, snapshot.instance, index)
        self._loads.add(load)
        load.add_done_callback(self._loads.discard)

    def drop_idle(self, *, older_than_s: float = IDLE_S) -> None:
        """Give the memory back when nothing was weighed for a while."""
        if time.monotonic() - self._used_at >= older_than_s:
            with self._lock:
                self._forget()

    def settle(self) -> None:
        """Wait for what is being read; for whoever measures."""
        wait(list(self._loads))

    @contextmanager
    def _lent(self) -> Iterator[Memory]:
        with self._lock:
            if self._memory.bytes >= self._max_bytes:
                self._full_at = time.monotonic()
                self._forget()
            try:
                yield self._memory
            except BaseException:
                self._forget()  # numbers may have been given that nothing is known of
                raise

    def _forget(self) -> None:
        self._memory = Memory()
        self._indexes = {}

    def _load(self, readers: IndexReaders, file: FileIdentity, instance: InstanceId, index: _Index) -> None:
        try:
            while self._indexes.get(file) is index and not readers.is_closed:
                started = time.perf_counter()
                if not self._read_on(readers, file, instance, index):
                    return
                time.sleep(_REST * (time.perf_counter() - started))
        except KxError as error:  # a question meets it as well, and says so
            _log.warning("words.stopped", instance=instance, error_code=error.code)
        except Exception:  # noqa: BLE001 - a door of its own: nobody waits for this thread
            _log.exception("words.failed", instance=instance, error_code=ErrorCode.INTERNAL)
        finally:
            index.is_loading = False

    def _read_on(self, readers: IndexReaders, file: FileIdentity, instance: InstanceId, index: _Index) -> bool:
        """Read the next chunks; tell whether there may be more."""
        with readers.snapshot(file.path, instance) as snapshot:
            if snapshot.file != file:
                return False
            if snapshot.epoch != index.epoch:
                index.begin(snapshot.epoch)
            rows = snapshot.all(_NEXT_CHUNKS, (index.last, _BATCH))
            seq = snapshot.seq
        if rows:
            with self._lent() as memory:
                memory.paths.read([str(row[5]) for row in rows])
                memory.read([_excerpt(row) for row in rows], [is_prose(str(row[4])) for row in rows])  # type: ignore[arg-type]
            index.last, index.chunks = int(rows[-1][0]), index.chunks + len(rows)  # type: ignore[arg-type]
        if len(rows) == _BATCH:
            return True
        index.seq = seq
        return False


def _excerpt(row: Row) -> Excerpt:
    return Excerpt(
        heading=str(row[1]),
        symbols=tuple(str(row[2]).split("\n")) if row[2] else (),
        text=str(row[3]),
    )


WORDS: Final = WordMemory()
