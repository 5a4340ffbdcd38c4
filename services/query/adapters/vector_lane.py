"""The exact vector lane: sqlite-vec's distance over the stored vectors, filtered inside.

The cold path, right for small projects and the oracle of any faster one; what replaces it keeps `VectorLane`.
"""

from __future__ import annotations

import json
from typing import Protocol

from services.query.adapters.passages import Filters, RowFilter, passages_of, row_filter
from services.query.adapters.reader import Row, Snapshot
from services.query.core.passages import LaneHit
from shared.identity import ChunkId, TextHash

SLACK = 2
"""Without filters the nearest texts are looked at first and then whether a chunk still has them: vectors nobody points
to are kept for a while, so twice the depth is fetched (30,000 vectors: 55 ms; asking each row first: 135 ms)."""

# Vectors of another width are not compared, and what has no distance is no neighbour.
_NEAREST = """
SELECT * FROM (SELECT text_hash, vec_distance_L2(vector, :vector) AS distance FROM embedding
               WHERE model = :model AND length(vector) = length(:vector))
WHERE distance IS NOT NULL ORDER BY distance, text_hash LIMIT :depth
"""
_NEAREST_OF_FILTERED = """
SELECT * FROM (SELECT text_hash, vec_distance_L2(vector, :vector) AS distance FROM embedding
               WHERE model = :model AND length(vector) = length(:vector)
                 AND text_hash IN (SELECT c.text_hash FROM document{e} d JOIN chunk{e} c ON c.document = d.id
                                   WHERE {filters}))
WHERE distance IS NOT NULL ORDER BY distance, text_hash LIMIT :depth
"""
_CHUNKS_OF = """
SELECT c.id, c.text_hash, d.path FROM chunk{e} c JOIN document{e} d ON d.id = c.document
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
        if allowed.is_open:
            rows = self._rows(snapshot, _NEAREST, allowed, vector, depth * SLACK)
            hits = self._hits(snapshot, allowed, filters, rows)
            if len(hits) >= depth or len(rows) < depth * SLACK:
                return hits[:depth]
        for factor in (1, SLACK, SLACK * SLACK):
            rows = self._rows(snapshot, _NEAREST_OF_FILTERED, allowed, vector, depth * factor)
            hits = self._hits(snapshot, allowed, filters, rows)
            if len(hits) >= depth or len(rows) < depth * factor:
                break
        return hits[:depth]

    @staticmethod
    def _rows(snapshot: Snapshot, statement: str, allowed: RowFilter, vector: bytes, depth: int) -> list[Row]:
        filters = allowed.bindings if statement is _NEAREST_OF_FILTERED else {}
        bindings = {**filters, "vector": vector, "model": snapshot.model, "depth": depth}
        return snapshot.all(allowed.into(statement), bindings)

    @staticmethod
    def _hits(snapshot: Snapshot, allowed: RowFilter, filters: Filters, rows: list[Row]) -> list[LaneHit]:
        """Give the texts that a chunk within the filters still has; on unit vectors cosine is 1 - distance² / 2."""
        cosines = {TextHash(bytes(row[0])): 1.0 - float(row[1]) ** 2 / 2.0 for row in rows}  # type: ignore[arg-type]
        bindings = {**allowed.bindings, "texts": json.dumps([text.hex() for text in cosines])}
        first: dict[TextHash, ChunkId] = {}
        for row in snapshot.all(allowed.into(_CHUNKS_OF), bindings):
            if not filters.is_denied(str(row[2])):
                first.setdefault(TextHash(bytes(row[1])), ChunkId(int(row[0])))  # type: ignore[arg-type]
        chunks = [first[text] for text in cosines if text in first]
        passages = passages_of(snapshot, allowed, filters, chunks)
        hits = [LaneHit(passage=passage, score=cosines[passage.text_hash]) for passage in passages]
        return sorted(hits, key=lambda hit: (-hit.score, *hit.passage.at.order))
