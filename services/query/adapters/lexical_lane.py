"""The lexical lane: analysed terms through FTS5, best bm25 first, filtered inside."""

from __future__ import annotations

from services.query.adapters.passages import Filters, RowFilter, passages_of, row_filter
from services.query.adapters.reader import Row, Snapshot, Value
from services.query.core.match import joined_terms, match_expression, telling_terms
from services.query.core.passages import LaneHit
from shared.analyzer import QueryTerms
from shared.identity import ChunkId, DocumentId

# Columns of chunk_fts: what a passage is called tells more than what it mentions, where it lies a little more.
COLUMN_WEIGHTS = {"body_weight": 1.0, "names_weight": 2.0, "path_weight": 1.5}

MAX_DENIED_ROUNDS = 8
"""Each round leaves out the denied documents it met and looks again; what is left after the last is cut out."""

SLACK = 2
"""Times the depth that is looked at, so that ties and what is denied can be told apart."""

_CHUNKS = "SELECT count(*) FROM chunk{e}"

# d.path and c.ordinal end every tie the same way on every machine.
_BEST = """
SELECT c.id, d.id, d.path, -bm25(chunk_fts{e}, :body_weight, :names_weight, :path_weight) AS score
FROM chunk_fts{e} CROSS JOIN chunk{e} c ON c.id = chunk_fts{e}.rowid CROSS JOIN document{e} d ON d.id = c.document
WHERE chunk_fts{e} MATCH :match AND {filters}
ORDER BY score DESC, d.path, c.ordinal
LIMIT :depth
"""

# Reading the document of every match costs half as much again as scoring them.
_BEST_OF_ALL = """
SELECT c.id, d.id, d.path, best.score
FROM (SELECT rowid AS id, -bm25(chunk_fts{e}, :body_weight, :names_weight, :path_weight) AS score
      FROM chunk_fts{e} WHERE chunk_fts{e} MATCH :match ORDER BY score DESC LIMIT :looked_at) best
CROSS JOIN chunk{e} c ON c.id = best.id CROSS JOIN document{e} d ON d.id = c.document
WHERE {filters}
ORDER BY score DESC, d.path, c.ordinal
"""


def lexical_hits(snapshot: Snapshot, question: QueryTerms, filters: Filters, depth: int) -> list[LaneHit]:
    """Find up to `depth` chunks by their words, equal texts folded; blocks.

    Any of the terms is enough, quoted phrases are required. A chunk of a document that is denied now is never among
    them, even while the index still has it.
    """
    expression = _expression(snapshot, question)
    if not expression:
        return []
    allowed, rows = _best(snapshot, row_filter(snapshot, filters), filters, expression, depth)
    scores = {ChunkId(int(row[0])): float(row[3]) for row in rows}  # type: ignore[arg-type]
    passages = passages_of(snapshot, allowed, filters, list(scores))
    hits = [LaneHit(passage=passage, score=scores[passage.chunk]) for passage in passages]
    return sorted(hits, key=lambda hit: (-hit.score, *hit.passage.at.order))


def _expression(snapshot: Snapshot, question: QueryTerms) -> str:
    joined = joined_terms(question.words)
    chunks_with = {term: snapshot.chunks_with(term) for term in (*question.terms, *joined)}
    names = tuple(term for term in joined if chunks_with[term] and term not in question.terms)
    terms = telling_terms((*question.terms, *names), chunks_with, snapshot.number(_CHUNKS))
    return match_expression(terms, question.phrases)


def _best(
    snapshot: Snapshot, rows_wanted: RowFilter, filters: Filters, expression: str, depth: int
) -> tuple[RowFilter, list[Row]]:
    if rows_wanted.is_open:
        rows = _best_of_all(snapshot, rows_wanted, filters, expression, depth)
        if rows is not None:
            return rows_wanted, rows
    return _best_within(snapshot, rows_wanted, filters, expression, depth)


def _best_of_all(
    snapshot: Snapshot, rows_wanted: RowFilter, filters: Filters, expression: str, depth: int
) -> list[Row] | None:
    """Look at documents only of the best chunks; None where that cannot tell the best `depth` of them."""
    bindings: dict[str, Value] = {**COLUMN_WEIGHTS, "match": expression, "looked_at": depth * SLACK}
    rows = snapshot.all(rows_wanted.into(_BEST_OF_ALL), bindings)
    shown = [row for row in rows if not filters.is_denied(str(row[2]))]
    if len(rows) < depth * SLACK:
        return shown[:depth]
    # What ties with the last row looked at may stand before it in path order.
    is_told = len(shown) >= depth and shown[depth - 1][3] != rows[-1][3]
    return shown[:depth] if is_told else None


def _best_within(
    snapshot: Snapshot, rows_wanted: RowFilter, filters: Filters, expression: str, depth: int
) -> tuple[RowFilter, list[Row]]:
    left_out: set[DocumentId] = set()
    for _ in range(MAX_DENIED_ROUNDS):
        allowed = rows_wanted.without(sorted(left_out))
        bindings = {**allowed.bindings, **COLUMN_WEIGHTS, "match": expression, "depth": depth}
        rows = snapshot.all(allowed.into(_BEST), bindings)
        denied = {DocumentId(int(row[1])) for row in rows if filters.is_denied(str(row[2]))}  # type: ignore[arg-type]
        if not denied:
            break
        left_out |= denied
    return allowed, [row for row in rows if not filters.is_denied(str(row[2]))]
