"""The exact vector lane: sqlite-vec's distance over the stored vectors, filtered inside.

The cold path, right for small projects and the oracle of any faster one; what replaces it keeps `VectorLane`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from services.query.adapters.passages import Filters, RowFilter, passages_of, row_filter
from services.query.adapters.reader import Snapshot, Value
from services.query.core.passages import LaneHit
from shared.identity import ChunkId, TextHash

SLACK = 4
"""Where the filters select much of the index, the nearest texts are looked at first and then whether a chunk within the
filters has them: four times the depth is fetched (30,000 vectors: 50 ms; asking for each row first: 135 ms)."""

MIN_SHARE_TO_LOOK_AFTER = 0.5

# Vectors of another width are not compared; what has no distance sorts last and is no neighbour.
_NEAREST = """
SELECT text_hash, vec_distance_L2(vector, :vector) AS distance FROM embedding
WHERE model = :model AND length(vector) = length(:vector)
ORDER BY distance NULLS LAST, text_hash LIMIT :depth
"""
_NEAREST_OF_FILTERED = """
SELECT text_hash, vec_distance_L2(vector, :vector) AS distance FROM embedding
WHERE model = :model AND length(vector) = length(:vector)
  AND text_hash IN (SELECT c.text_hash FROM document{e} d CROSS JOIN chunk{e} c ON c.document = d.id WHERE {filters})
ORDER BY distance NULLS LAST, text_hash LIMIT :depth
"""
_CHUNKS = "SELECT count(*) FROM chunk{e}"
_CHUNKS_WITHIN = "SELECT count(*) FROM document{e} d CROSS JOIN chunk{e} c ON c.document = d.id WHERE {filters}"
_CHUNKS_OF = """
SELECT c.id, c.text_hash, d.path FROM chunk{e} c CROSS JOIN document{e} d ON d.id = c.document
WHERE c.text_hash IN (SELECT unhex(value) FROM json_each(:texts)) AND {filters}
ORDER BY d.path, c.ordinal
"""


class VectorLane(Protocol):
    """Finds the texts nearest to a question."""

    def nearest(self, snapshot: Snapshot, vector: bytes, filters: Filters, depth: int) -> list[LaneHit]:
        """Find up to `depth` texts, best cosine first, each once; `vector` is checked and of length one. Blocks."""
        ...


class ExactVectorLane:
    """Compares the question with every vector of the epoch's model."""

    def nearest(self, snapshot: Snapshot, vector: bytes, filters: Filters, depth: int) -> list[LaneHit]:
        """Find the nearest texts; see `VectorLane`."""
        allowed = row_filter(snapshot, filters)
        found = self._found(snapshot, allowed, filters, vector, depth)
        passages = passages_of(snapshot, allowed, filters, [near.chunk for near in found[:depth]])
        cosines = {near.chunk: near.cosine for near in found}
        hits = [LaneHit(passage=passage, score=cosines[passage.chunk]) for passage in passages]
        return sorted(hits, key=lambda hit: (-hit.score, *hit.passage.at.order))

    def _found(
        self, snapshot: Snapshot, allowed: RowFilter, filters: Filters, vector: bytes, depth: int
    ) -> list[_Near]:
        if _is_broad(snapshot, allowed):
            found, is_all = _look(snapshot, _NEAREST, allowed, filters, vector, depth * SLACK)
            if is_all or len(found) >= depth:
                return found
        fetched = depth
        while True:
            found, is_all = _look(snapshot, _NEAREST_OF_FILTERED, allowed, filters, vector, fetched)
            if is_all or len(found) >= depth:
                return found
            fetched *= SLACK  # what is denied now took places


class _Near(Struct, frozen=True):
    chunk: ChunkId  # the first that has the text
    cosine: float


def _is_broad(snapshot: Snapshot, allowed: RowFilter) -> bool:
    if allowed.is_open:
        return True
    within = snapshot.number(allowed.into(_CHUNKS_WITHIN), allowed.bindings)
    return within >= MIN_SHARE_TO_LOOK_AFTER * snapshot.number(_CHUNKS)


def _look(
    snapshot: Snapshot, statement: str, allowed: RowFilter, filters: Filters, vector: bytes, depth: int
) -> tuple[list[_Near], bool]:
    """Give those of the `depth` nearest texts that may be shown, and whether there is nothing behind the `depth`.

    On unit vectors cosine is 1 - distance² / 2, so both give one order.
    """
    values = allowed.bindings if statement is _NEAREST_OF_FILTERED else {}
    bindings = {**values, "vector": vector, "model": snapshot.model, "depth": depth}
    rows = [row for row in snapshot.all(allowed.into(statement), bindings) if _is_distance(row[1])]
    first = _first_chunks(snapshot, allowed, filters, [TextHash(bytes(row[0])) for row in rows])  # type: ignore[arg-type]
    distances = {TextHash(bytes(row[0])): float(row[1]) for row in rows}  # type: ignore[arg-type]
    found = [_Near(first[text], 1.0 - distance**2 / 2.0) for text, distance in distances.items() if text in first]
    return found, len(rows) < depth


def _first_chunks(
    snapshot: Snapshot, allowed: RowFilter, filters: Filters, texts: Sequence[TextHash]
) -> dict[TextHash, ChunkId]:
    bindings = {**allowed.bindings, "texts": json.dumps([text.hex() for text in texts])}
    first: dict[TextHash, ChunkId] = {}
    for row in snapshot.all(allowed.into(_CHUNKS_OF), bindings):
        if not filters.is_denied(str(row[2])):
            first.setdefault(TextHash(bytes(row[1])), ChunkId(int(row[0])))  # type: ignore[arg-type]
    return first


def _is_distance(value: Value) -> bool:
    return isinstance(value, float) and math.isfinite(value)
