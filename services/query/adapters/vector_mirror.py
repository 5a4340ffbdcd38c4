"""The vectors of one model in memory as sketches, following the index file they are of.

Vectors are content-addressed and never change, and the table's ids grow, so following is reading what came since. What
is gone is noticed by counting and makes the mirror start anew. A mirror holds what no chunk points to any more as well,
as the table does: whether a text may be shown is asked of the snapshot, when its passage is loaded.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from services.query.adapters.reader import Row, Snapshot
from services.query.core.sketch import Positions, Sketches, nearest, sketch
from shared.identity import TextHash
from shared.model import DIM
from shared.vectors import Vector

BYTES_A_VECTOR: Final = 2 * DIM // 8 + 16  # sketch, id and key

TextKeys: TypeAlias = NDArray[np.uint64]
"""Shape (texts,), the first eight bytes of each text hash."""

_WORDS: Final = 2 * DIM // 64
_FIRST_CAPACITY: Final = 4_096
_GROWTH: Final = 1.5
_NEW = """
SELECT id, text_hash, CASE WHEN model = :model AND length(vector) = :bytes THEN vector END FROM embedding
WHERE id > :last ORDER BY id LIMIT :limit
"""
_COUNT = "SELECT count(*) FROM embedding"
_TEXT_OF = "SELECT text_hash FROM embedding WHERE id = ?"
_STORED = """
SELECT text_hash, vector FROM embedding WHERE id IN (SELECT value FROM json_each(?)) AND model = ? AND length(vector) = ?
"""


class Nearest:
    """Texts compared with a question, best first."""

    def __init__(self, rows: list[Row], question: Vector, *, is_all: bool) -> None:
        self.is_all: Final = is_all  # no vector was left out
        self._rows = rows
        # Not by @: for so few rows waking a second thread of the matrix library costs more than the product.
        self._cosines = np.einsum("ij,j->i", _matrix(rows, column=1), question) if rows else np.empty(0, np.float32)
        self._order = np.argsort(-self._cosines, kind="stable")[: int(np.isfinite(self._cosines).sum())]

    def __len__(self) -> int:
        return len(self._order)

    def part(self, start: int, stop: int) -> dict[TextHash, float]:
        """Give some of the texts with their cosines; equal cosines in the order of the rows."""
        places = self._order[start:stop].tolist()
        return {TextHash(bytes(self._rows[i][0])): float(self._cosines[i]) for i in places}


class Held(Struct, frozen=True, kw_only=True):
    """The vectors of one moment; the arrays may hold more than `count`, which is not of it."""

    model: int
    count: int
    seq: int  # complete as of this commit; -1: never
    ids: NDArray[np.int64]  # of `embedding`
    keys: TextKeys
    sketches: Sketches

    def nearest(self, snapshot: Snapshot, question: Vector, count: int, among: Positions | None = None) -> Nearest:
        """Compare the `count` likeliest texts exactly; those that `snapshot` has no vector of are left out.

        3 microseconds for each of the `count`, beside the scan.
        """
        chosen: Positions = nearest(self.sketches[:, : self.count], question, count, among)
        ids = json.dumps(np.sort(self.ids[chosen]).tolist())
        rows = snapshot.all(_STORED, (ids, self.model, question.nbytes))
        return Nearest(rows, question, is_all=len(chosen) == (self.count if among is None else len(among)))

    def among(self, keys: TextKeys) -> Positions:
        """Give the positions of the texts with these keys, which are sorted; 4 ms for 75,000."""
        if not len(keys):
            return np.empty(0, dtype=np.intp)
        own = self.keys[: self.count]
        places = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
        return np.flatnonzero(keys[places] == own)


class VectorMirror:
    """Sketches of all vectors of one model in one index file; safe across threads."""

    def __init__(self, model: int) -> None:
        self.model: Final = model
        self._lock = threading.Lock()
        self._held = _nothing(model)
        self.starts = 0  # how often vectors were gone and all had to be read again
        self._others = 0  # rows of other models, or of another width
        self._last = 0  # highest id taken in
        self._last_text = b""

    @property
    def count(self) -> int:
        """How many vectors it holds."""
        return self._held.count

    def complete(self, snapshot: Snapshot) -> Held | None:
        """Give what it holds if that is every vector that `snapshot` has; reads nothing."""
        held = self._held
        return held if snapshot.seq <= held.seq else None

    def following(self, snapshot: Snapshot, limit: int) -> Held | None:
        """Take in up to `limit` new vectors; give what it holds if that is every one that `snapshot` has. Blocks.

        5 microseconds a vector; nothing while no commit was made.
        """
        held = self.complete(snapshot)
        if held is not None:
            return held
        with self._lock:
            if snapshot.seq > self._held.seq and not self._catches_up(snapshot, limit):
                return None
            return self._held

    def _catches_up(self, snapshot: Snapshot, limit: int) -> bool:
        if self._last and not self._knows_its_last(snapshot):
            self._start_anew()
        asked = {"model": self.model, "bytes": DIM * 4, "last": self._last, "limit": limit}
        rows = snapshot.all(_NEW, asked)
        self._take_in(rows)
        if len(rows) == limit:
            return False
        if self._held.count + self._others != snapshot.number(_COUNT):
            self._start_anew()
            return False
        self._held = replace(self._held, seq=snapshot.seq)
        return True

    def _knows_its_last(self, snapshot: Snapshot) -> bool:
        """An id that is free again may be given to another vector; only those above all that are left can be."""
        return [row[0] for row in snapshot.all(_TEXT_OF, (self._last,))] == [self._last_text]

    def _take_in(self, rows: list[Row]) -> None:
        if not rows:
            return
        ours = [row for row in rows if row[2] is not None]
        self._others += len(rows) - len(ours)
        self._last, self._last_text = int(rows[-1][0]), bytes(rows[-1][1])  # type: ignore[arg-type]
        if ours:
            ids = np.array([row[0] for row in ours], dtype=np.int64)
            keys = text_keys(bytes(row[1]) for row in ours)  # type: ignore[arg-type]
            self._held = _grown(self._held, ids, keys, sketch(_matrix(ours, column=2)))

    def _start_anew(self) -> None:
        self.starts += 1
        self._held, self._others, self._last, self._last_text = _nothing(self.model), 0, 0, b""


def text_keys(texts: Iterable[bytes]) -> TextKeys:
    """Shorten text hashes to one number each: half of their bytes tell half a million texts apart, too."""
    return np.frombuffer(b"".join(text[:8] for text in texts), dtype=np.uint64)


def _nothing(model: int, capacity: int = _FIRST_CAPACITY) -> Held:
    return Held(
        model=model,
        count=0,
        seq=-1,
        ids=np.empty(capacity, dtype=np.int64),
        keys=np.empty(capacity, dtype=np.uint64),
        sketches=np.empty((_WORDS, capacity), dtype=np.uint64),
    )


def _grown(held: Held, ids: NDArray[np.int64], keys: TextKeys, sketches: Sketches) -> Held:
    """Write behind what others see, in larger arrays if need be."""
    before, count = held.count, held.count + len(ids)
    if count > len(held.ids):
        wider = _nothing(held.model, max(count, int(len(held.ids) * _GROWTH)))
        wider.ids[:before], wider.keys[:before] = held.ids[:before], held.keys[:before]
        wider.sketches[:, :before] = held.sketches[:, :before]
        held = replace(wider, seq=held.seq)
    held.ids[before:count], held.keys[before:count] = ids, keys
    held.sketches[:, before:count] = sketches
    return replace(held, count=count)


def _matrix(rows: list[Row], *, column: int) -> NDArray[np.float32]:
    stored = b"".join(row[column] for row in rows)  # type: ignore[misc]
    return np.frombuffer(stored, dtype="<f4").reshape(len(rows), -1).astype(np.float32, copy=False)
