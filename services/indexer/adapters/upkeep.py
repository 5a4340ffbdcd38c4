"""Keep an index small and forgetful: erase without a trace, bound the cache of vectors, give space back.

Long work is a generator: each step is a short transaction of its own on the writer's thread, so that a live edit gets in
between. Every step can be lost to a crash; what is wanted stands in `meta` until it is done.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from services.indexer.core.cache_bound import CACHE_AGE_NS, kept_unused
from shared.index_files import wal_bytes
from shared.index_format import BUSY_TIMEOUT_MS, WAL_KEPT_BYTES, WAL_LIMIT_BYTES, Meta, for_epoch
from shared.index_open import translated

ROWS_A_STEP = 500
PAGES_A_STEP = 500
CHECKPOINT_WAIT_MS = 20  # a reader of ours is gone in milliseconds; a foreign one is not worth waiting for

_READ_META = "SELECT value FROM meta WHERE key = ?"
_WRITE_META = "INSERT OR REPLACE INTO meta VALUES(?, ?)"
_MERGE = "INSERT INTO chunk_fts{e}(chunk_fts{e}, rank) VALUES('merge', ?)"
_USED = "EXISTS (SELECT 1 FROM chunk{e} WHERE text_hash = embedding.text_hash AND embedding.model = "


class Upkeep:
    """Housekeeping of one index file; blocks, belongs on the writer's thread."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def want_erasure(self) -> None:
        """Remember that text was removed of which no trace may stay; inside the transaction that removes it."""
        self._set(Meta.ERASURE_WANTED, self._get(Meta.ERASURE_WANTED) + 1)

    @property
    def is_erasure_wanted(self) -> bool:
        """Tell whether traces of removed text may be in the file."""
        return self._get(Meta.ERASURE_WANTED) != self._get(Meta.ERASURE_DONE)

    def erase(self) -> Generator[bool]:
        """Remove every trace of deleted text from the database and its log.

        Gives True after each step, False when a reader holds the log: go on later. Deleting rows is not enough, and
        neither is giving free pages back: a page that was split keeps a copy of the rows that moved away, in the gap
        that nobody clears. Only writing the file anew is sure (measured: 2 of 12 random histories kept a trace).
        """
        wanted = self._get(Meta.ERASURE_WANTED)
        with self._securely():
            yield from self._drop_unused(keep=0)
            yield from self._merge_words()
            self.rewrite()
            yield True
        while not self.checkpoint():
            yield False
        with self._transaction():
            self._set(Meta.ERASURE_DONE, wanted)
        while not self.checkpoint():
            yield False

    def compact(self) -> Generator[bool]:
        """Merge the full-text index, drop vectors beyond the bound, give free pages back."""
        yield from self._merge_words()
        self.rewrite()
        yield True
        while not self.checkpoint():
            yield False

    def trim_cache(self, *, now_ns: int) -> Generator[bool]:
        """Drop vectors that no text uses: those unused for a month, and the longest unused beyond the bound."""
        used, unused = self._vector_counts()
        if not unused:
            return
        too_old = f"DELETE FROM embedding WHERE last_used_ns < ? AND NOT ({self._is_used()})"  # noqa: S608  # our own names
        with self._transaction():
            self._connection.execute(too_old, (now_ns - CACHE_AGE_NS,))
        yield True
        yield from self._drop_unused(keep=kept_unused(used))

    def rewrite(self) -> None:
        """Write the whole file anew, without gaps and free pages."""
        with translated(self._path):
            # A copy of the whole in memory could be too much; the temporary file holds live text only.
            self._connection.execute("PRAGMA temp_store=FILE").fetchall()
            try:
                self._connection.execute("VACUUM").fetchall()
            finally:
                self._connection.execute("PRAGMA temp_store=MEMORY").fetchall()

    def checkpoint(self) -> bool:
        """Write the log back and cut it; False if a reader holds it."""
        with translated(self._path):
            self._connection.execute(f"PRAGMA busy_timeout={CHECKPOINT_WAIT_MS}").fetchall()
            try:
                busy = next(iter(self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")))[0]
            except apsw.BusyError:
                busy = 1
            finally:
                self._connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}").fetchall()
        return not busy

    def has_room(self) -> bool:
        """Tell whether the log may grow; a long one is written back first."""
        return wal_bytes(self._path) < WAL_LIMIT_BYTES or self.checkpoint()

    def tidy_log(self) -> bool:
        """Cut the log while nothing else is to do; False if a reader holds it."""
        return wal_bytes(self._path) <= WAL_KEPT_BYTES or self.checkpoint()

    def _drop_unused(self, *, keep: int) -> Generator[bool]:
        chosen = (
            "DELETE FROM embedding WHERE id IN (SELECT id FROM embedding WHERE NOT "  # noqa: S608  # our own names
            f"({self._is_used()}) ORDER BY last_used_ns DESC, id LIMIT ? OFFSET ?)"
        )
        while True:
            before = self._connection.total_changes()
            with self._transaction():
                self._connection.execute(chosen, (ROWS_A_STEP, keep))
            if self._connection.total_changes() - before <= 1:  # `seq` alone
                return
            yield True

    def _merge_words(self) -> Generator[bool]:
        """Merge all segments into one: what a deletion only marked is gone then."""
        for epoch, _ in self._epoch_models():
            pages = -PAGES_A_STEP  # negative: whatever the segments' sizes; then go on until nothing is left
            while True:
                before = self._connection.total_changes()
                with self._transaction():
                    self._connection.execute(for_epoch(_MERGE, epoch), (pages,))
                is_done = self._connection.total_changes() - before <= 2 and pages > 0
                pages = PAGES_A_STEP
                yield True
                if is_done:
                    break

    def _vector_counts(self) -> tuple[int, int]:
        row = self._connection.execute(
            f"SELECT count(*), count(*) FILTER (WHERE {self._is_used()}) FROM embedding"  # noqa: S608  # our own names
        ).fetchone()
        total, used = (int(value) for value in row)  # type: ignore[union-attr]  # one row of integers
        return used, total - used

    def _is_used(self) -> str:
        """Give the condition that a vector belongs to a text of an epoch."""
        tests = [for_epoch(_USED, epoch) + f"{model})" for epoch, model in self._epoch_models()]
        return " OR ".join(tests) or "0"

    def _epoch_models(self) -> list[tuple[int, int]]:
        rows = self._connection.execute("SELECT id, model FROM epoch").fetchall()
        return [(int(str(row[0])), int(str(row[1]))) for row in rows]

    @contextmanager
    def _securely(self) -> Iterator[None]:
        self._connection.execute("PRAGMA secure_delete=ON").fetchall()
        try:
            yield
        finally:
            self._connection.execute("PRAGMA secure_delete=FAST").fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with translated(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'seq'")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def _get(self, key: Meta) -> int:
        row = self._connection.execute(_READ_META, (str(key),)).fetchone()
        return int(row[0]) if row is not None else 0

    def _set(self, key: Meta, value: int) -> None:
        self._connection.execute(_WRITE_META, (str(key), value))
