"""Counts of one index that every answer needs, computed once for each commit."""

from __future__ import annotations

import threading

from msgspec import Struct

from services.query.adapters.reader import FileIdentity, Snapshot
from services.query.core.recency import ONE_AGE_HIGH, ONE_AGE_LOW
from shared.identity import InstanceId

_DOCUMENTS = "SELECT count(*) FROM document{e} WHERE state = 'indexed'"
_CHUNKS = "SELECT count(*) FROM chunk{e}"
_MISSING = "SELECT count(*) FROM missing{e}"
_SET_ASIDE = "SELECT count(*) FROM missing{e} m JOIN failure f ON f.subject = m.text_hash WHERE f.next_try_ns = 0"
_CHUNKS_WITHOUT_VECTOR = "SELECT count(*) FROM missing{e} m JOIN chunk{e} c ON c.text_hash = m.text_hash"
_AGES = """
SELECT mtime_ns FROM (SELECT mtime_ns, row_number() OVER (ORDER BY mtime_ns) - 1 AS place FROM document{e}
                      WHERE state = 'indexed') WHERE place IN (?, ?) ORDER BY mtime_ns
"""


class IndexFacts(Struct, frozen=True, kw_only=True):
    """What one state of an index holds."""

    epoch: int  # 0: nothing was ever indexed
    seq: int
    building: int
    model_id: str
    documents: int
    chunks: int
    missing: int  # texts without a vector, those set aside after failing included
    set_aside: int  # of them, texts that failed alone and are not tried again
    chunks_without_vector: int
    oldest_ns: int  # 5th percentile of the documents' mtimes
    newest_ns: int  # 95th
    file: FileIdentity | None = None  # the index file

    @property
    def pending(self) -> int:
        """Texts that will get a vector."""
        return self.missing - self.set_aside

    @property
    def coverage(self) -> float:
        """Share of the chunks whose text has a vector, 0..1."""
        return 1.0 - self.chunks_without_vector / self.chunks if self.chunks else 1.0


class FactsCache:
    """The facts of every index asked about; safe across threads."""

    def __init__(self) -> None:
        self._facts: dict[InstanceId, IndexFacts] = {}
        self._lock = threading.Lock()

    def of(self, instance: InstanceId, snapshot: Snapshot) -> IndexFacts:
        """Give the facts of a snapshot, counted anew only after a commit."""
        known = self._facts.get(instance)
        if known is not None and known.file == snapshot.file and _is_of(known, snapshot):
            return known
        facts = _count(snapshot)
        with self._lock:
            self._facts[instance] = facts
        return facts

    def drop(self, instance: InstanceId) -> None:
        """Forget the facts of an index."""
        with self._lock:
            self._facts.pop(instance, None)


def _is_of(facts: IndexFacts, snapshot: Snapshot) -> bool:
    return (facts.epoch, facts.seq, facts.building) == (snapshot.epoch, snapshot.seq, snapshot.building)


def _count(snapshot: Snapshot) -> IndexFacts:
    has_tables = snapshot.epoch > 0
    documents = snapshot.number(_DOCUMENTS) if has_tables else 0
    places = (round(ONE_AGE_LOW * (documents - 1)), round(ONE_AGE_HIGH * (documents - 1)))
    ages = [int(row[0]) for row in snapshot.all(_AGES, places)] if documents else [0]  # type: ignore[arg-type]
    missing = snapshot.number(_MISSING) if has_tables else 0
    return IndexFacts(
        epoch=snapshot.epoch,
        seq=snapshot.seq,
        building=snapshot.building,
        model_id=snapshot.model_id,
        documents=documents,
        chunks=snapshot.number(_CHUNKS) if has_tables else 0,
        missing=missing,
        set_aside=snapshot.number(_SET_ASIDE) if missing else 0,
        chunks_without_vector=snapshot.number(_CHUNKS_WITHOUT_VECTOR) if missing else 0,
        oldest_ns=ages[0],
        newest_ns=ages[-1],
        file=snapshot.file,
    )
