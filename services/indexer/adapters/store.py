"""The one writer connection of an index: transactions, epochs, counts.

Every method blocks and belongs on the writer's thread. Rows of documents are in `documents`, of vectors in
`embeddings`; both work inside a transaction opened here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw
from msgspec import Struct

from services.indexer.adapters.documents import DocumentRows
from services.indexer.adapters.embeddings import EmbeddingRows
from services.indexer.adapters.soundness import flaw_of
from services.indexer.adapters.upkeep import Upkeep
from services.indexer.core.backoff import ATTEMPTS_ALONE, retry_after_s
from services.indexer.core.embedplan import MissingText
from services.indexer.core.versions import EpochVersions
from shared.errors import ErrorCode
from shared.identity import InstanceId, TextHash
from shared.index_files import clear
from shared.index_format import Meta, drop_epoch_ddl, epoch_ddl, for_epoch
from shared.index_open import damaged, open_writer, translated
from shared.messages import VectorItem

_READ_META = "SELECT value FROM meta WHERE key = ?"
_WRITE_META = "UPDATE meta SET value = ? WHERE key = ?"
_NEXT_SEQ = "UPDATE meta SET value = value + 1 WHERE key = 'seq'"
_INSERT_EPOCH = "INSERT INTO epoch(id, chunker, analyzer, model) VALUES(?, ?, ?, ?)"
_READ_EPOCH = """
SELECT e.chunker, e.analyzer, m.model_id FROM epoch e JOIN model m ON m.id = e.model WHERE e.id = ?
"""
_COUNTS = """
SELECT (SELECT count(*) FROM document{e} WHERE state = 'indexed'),
       (SELECT count(*) FROM chunk{e}),
       (SELECT count(DISTINCT text_hash) FROM chunk{e}),
       (SELECT count(*) FROM missing{e}),
       (SELECT count(*) FROM failure f WHERE f.next_try_ns = 0
          AND EXISTS (SELECT 1 FROM missing{e} m WHERE m.text_hash = f.subject))
"""
_UNUSED_FROM_NOW = """
UPDATE embedding SET last_used_ns = ?1
WHERE text_hash IN (SELECT text_hash FROM chunk{old})
  AND NOT (model = ?2 AND EXISTS (SELECT 1 FROM chunk{e} c WHERE c.text_hash = embedding.text_hash))
"""


class IndexCounts(Struct, frozen=True, kw_only=True):
    """How much one epoch holds."""

    documents: int
    chunks: int
    texts: int  # distinct texts of its chunks
    missing: int  # of those, without a vector
    failed: int  # of the missing, set aside


class IndexStore:
    """The write side of one index file; the caller holds the index lock."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: Path,
        versions: EpochVersions,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._now_ns = now_ns
        self._connection = connection
        self._path = path
        self._versions = versions
        self.upkeep = Upkeep(connection, path)
        self._documents: dict[int, DocumentRows] = {}
        self._embeddings: dict[int, EmbeddingRows] = {}

    @classmethod
    def open(
        cls,
        path: Path,
        instance: InstanceId,
        *,
        project: str,
        root: str,
        versions: EpochVersions,
        is_doubtful: bool = False,
    ) -> IndexStore:
        """Open or create the file and bring its epochs in line with `versions`; a doubtful one is read whole before.

        An index that answers with other versions goes on answering while a new epoch is built beside it.

        Raises:
            KxError: as `open_writer`; INDEX_DAMAGED also for what only a look at all of it shows.
        """
        store = cls(open_writer(path, instance, project=project, root=root), path, versions)
        try:
            store._begin(is_doubtful=is_doubtful)
        except BaseException:
            store._connection.close()
            raise
        return store

    def close(self) -> None:
        """Write the log back into the file and let go of it."""
        try:
            if self.upkeep.checkpoint():  # then the log is empty, and can go
                self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
        finally:
            self._connection.close()

    def require_sound(self) -> None:
        """Read the whole file and take the sign of damage away if it is sound.

        Raises:
            KxError: INDEX_DAMAGED.
        """
        flaw = flaw_of(self._connection)
        if flaw is not None:
            raise damaged(self._path, flaw)
        clear(self._path)

    def abandon(self) -> None:
        """Let go of a damaged file as it is."""
        self._connection.close()

    def _begin(self, *, is_doubtful: bool) -> None:
        with translated(self._path):
            if is_doubtful:
                self.require_sound()
            try:
                with self.transaction():
                    self._align_epochs()
            except apsw.SQLError as error:  # a table is missing
                raise damaged(self._path, str(error)) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold one write transaction; `seq` moves on when it commits."""
        with translated(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute(_NEXT_SEQ)
            except BaseException:
                if self._connection.in_transaction:  # a full disk ends it by itself
                    self._connection.execute("ROLLBACK")
                self._documents.clear()  # they count row ids that were never committed
                raise
            self._commit()

    def _commit(self) -> None:
        try:
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._documents.clear()
            raise

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def epoch(self) -> int:
        """The epoch that answers."""
        return self._meta(Meta.EPOCH)

    @property
    def building(self) -> int:
        """The epoch being built beside it; 0 when there is none."""
        return self._meta(Meta.BUILDING)

    @property
    def seq(self) -> int:
        """The number of commits so far."""
        return self._meta(Meta.SEQ)

    def epochs(self) -> tuple[int, ...]:
        """Every epoch an edit must reach, the answering one first."""
        building = self.building
        return (self.epoch, building) if building else (self.epoch,)

    def documents(self, epoch: int) -> DocumentRows:
        """Give the document rows of one epoch."""
        if epoch not in self._documents:
            self._documents[epoch] = DocumentRows(self._connection, epoch)
        return self._documents[epoch]

    def embeddings(self, epoch: int) -> EmbeddingRows:
        """Give the vectors and missing texts of one epoch."""
        if epoch not in self._embeddings:
            self._embeddings[epoch] = EmbeddingRows(self._connection, epoch, self._model_of(epoch), now_ns=self._now_ns)
        return self._embeddings[epoch]

    def counts(self, epoch: int) -> IndexCounts:
        """Count what one epoch holds."""
        row = self._connection.execute(for_epoch(_COUNTS, epoch)).fetchone()
        documents, chunks, texts, missing, failed = (int(value) for value in row)  # type: ignore[union-attr]  # one row of integers
        return IndexCounts(documents=documents, chunks=chunks, texts=texts, missing=missing, failed=failed)

    def begin_rebuild(self) -> int:
        """Start a new epoch beside the answering one, or go on with the one under way; inside a transaction."""
        building = self.building
        if building and self._versions_of(building) == self._versions:
            return building
        if building:
            self._drop(building)
        return self._start_building()

    def mark_announced(self, epoch: int) -> None:
        """Record that every path of the tree has reached the epoch's queue; inside a transaction."""
        if epoch == self.building:
            self._set_meta(Meta.BUILDING_ANNOUNCED, 1)

    def swap_if_complete(self) -> bool:
        """Let the built epoch answer, if every text is in and (for another model) every vector; inside a transaction.

        The caller has proven that its queue is empty.
        """
        old, new = self.epoch, self.building
        if not new or not self._meta(Meta.BUILDING_ANNOUNCED):
            return False
        if self._model_of(new) != self._model_of(old):
            counts = self.counts(new)
            if counts.missing > counts.failed:
                return False
        self._set_meta(Meta.EPOCH, new)
        self._set_meta(Meta.BUILDING, 0)
        self._set_meta(Meta.BUILDING_ANNOUNCED, 0)
        self._drop(old)
        return True

    def next_missing(self, limit: int, *, now_ns: int) -> list[MissingText]:
        """Give up to `limit` texts that this process can embed, those of the answering epoch first."""
        texts: dict[TextHash, MissingText] = {}
        for epoch in self._embeddable():
            for text in self.embeddings(epoch).next_missing(limit, now_ns=now_ns):
                texts.setdefault(text.text_hash, text)
        return sorted(texts.values(), key=lambda text: text.urgency)[:limit]

    def prioritise(self, texts: Iterable[TextHash]) -> None:
        """Put texts of the answering epoch first; nothing where another model's epoch answers. In a transaction."""
        if self.epoch in self._embeddable():
            self.embeddings(self.epoch).prioritise(texts)

    def asked_left(self) -> int:
        """Count the texts put first that still lack a vector and can get one: nobody waits for another model's."""
        return self.embeddings(self.epoch).asked_left() if self.epoch in self._embeddable() else 0

    def keep_vectors(
        self,
        good: Sequence[VectorItem],
        bad: Iterable[TextHash],
        *,
        now_ns: int,
        code: ErrorCode = ErrorCode.EMBEDDER_FAILED,
    ) -> None:
        """Store what came back sound and record what did not; inside a transaction."""
        for epoch in self._embeddable():
            self.embeddings(epoch).store(good, now_ns=now_ns)
        rows = self.embeddings(self.epoch)
        for text in bad:
            attempts = rows.attempts(text) + 1
            is_over = attempts >= ATTEMPTS_ALONE
            rows.record_failure(
                text,
                code=code,
                detail="",
                attempts=attempts,
                next_try_ns=0 if is_over else now_ns + int(retry_after_s(attempts) * 1e9),
            )

    def _align_epochs(self) -> None:
        if self.epoch == 0:
            self._create_epoch(1)
            self._set_meta(Meta.EPOCH, 1)
        elif self.building and self._versions_of(self.building) != self._versions:
            self.begin_rebuild()
        elif not self.building and self._versions_of(self.epoch) != self._versions:
            self._start_building()

    def _start_building(self) -> int:
        row = self._connection.execute("SELECT max(id) FROM epoch").fetchone()
        new = int(row[0]) + 1  # type: ignore[index]  # the answering epoch is there
        self._create_epoch(new)
        self._set_meta(Meta.BUILDING, new)
        self._set_meta(Meta.BUILDING_ANNOUNCED, 0)
        return new

    def _create_epoch(self, epoch: int) -> None:
        self._connection.execute(epoch_ddl(epoch))
        self._connection.execute("INSERT OR IGNORE INTO model(model_id) VALUES(?)", (self._versions.model_id,))
        row = self._connection.execute("SELECT id FROM model WHERE model_id = ?", (self._versions.model_id,)).fetchone()
        model = row[0]  # type: ignore[index]  # inserted above
        self._connection.execute(_INSERT_EPOCH, (epoch, self._versions.chunker, self._versions.analyzer, model))

    def _drop(self, epoch: int) -> None:
        """Drop an epoch's tables; what only it used is unused from now."""
        kept = self.epoch
        if kept != epoch:
            self._connection.execute(
                for_epoch(_UNUSED_FROM_NOW.replace("{old}", f"_e{epoch}"), kept), (self._now_ns(), self._model_of(kept))
            )
        self._connection.execute(drop_epoch_ddl(epoch))
        self._connection.execute("DELETE FROM epoch WHERE id = ?", (epoch,))
        self._documents.pop(epoch, None)
        self._embeddings.pop(epoch, None)

    def _model_of(self, epoch: int) -> int:
        row = self._connection.execute("SELECT model FROM epoch WHERE id = ?", (epoch,)).fetchone()
        return int(row[0]) if row is not None else 0

    def _versions_of(self, epoch: int) -> EpochVersions | None:
        row = self._connection.execute(_READ_EPOCH, (epoch,)).fetchone()
        if row is None:
            return None
        return EpochVersions(chunker=int(row[0]), analyzer=int(row[1]), model_id=str(row[2]))

    def _meta(self, key: Meta) -> int:
        row = self._connection.execute(_READ_META, (str(key),)).fetchone()
        return int(row[0])  # type: ignore[index]  # created with the file

    def _set_meta(self, key: Meta, value: int) -> None:
        self._connection.execute(_WRITE_META, (value, str(key)))

    def _embeddable(self) -> list[int]:
        """Epochs whose vectors come from the model at hand: another model's texts wait for the swap."""
        return [epoch for epoch in self.epochs() if self._model_id_of(epoch) == self._versions.model_id]

    def _model_id_of(self, epoch: int) -> str:
        versions = self._versions_of(epoch)
        return versions.model_id if versions is not None else ""
