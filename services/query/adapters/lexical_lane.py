"""The lexical lane: analysed terms through FTS5, best bm25 first, filtered inside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from services.query.adapters.passages import Filters, RowFilter, every_passage_of, passages_of, row_filter
from services.query.adapters.reader import Row, Snapshot, Value
from services.query.adapters.term_memory import Bm25s, TermScores
from services.query.core.match import joined_terms, match_expression, telling_terms
from services.query.core.passages import LaneHit, Passage
from shared.analyzer import QueryTerms
from shared.identity import ChunkId, DocumentId

# Columns of chunk_fts: what a passage is called tells more than what it mentions, where it lies a little more.
COLUMN_WEIGHTS = {"body_weight": 1.0, "names_weight": 2.0, "path_weight": 1.5}

MAX_DENIED_ROUNDS = 8
"""Each round leaves out the denied documents it met and looks again; what is left after the last is cut out."""

SLACK = 2
"""Times the depth that is looked at, so that ties and what is denied can be told apart."""

MAX_MATCHES_BY_TERM = 20_000
"""Beyond, the index scores all terms at once: a term of half an index is asked alone when nothing else was asked."""

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

_OF_TERM = """
SELECT rowid, -bm25(chunk_fts{e}, :body_weight, :names_weight, :path_weight)
FROM chunk_fts{e} WHERE chunk_fts{e} MATCH :match
"""


def lexical_hits(snapshot: Snapshot, question: QueryTerms, filters: Filters, depth: int) -> list[LaneHit]:
    """Find up to `depth` chunks by their words, equal texts folded; blocks.

    Any of the terms is enough, quoted phrases are required. A chunk of a document that is denied now is never among
    them, even while the index still has it.
    """
    terms = _terms(snapshot, question)
    expression = match_expression(terms, question.phrases)
    if not expression:
        return []
    rows_wanted = row_filter(snapshot, filters)
    if rows_wanted.is_open and not question.phrases:
        hits = _best_by_terms(snapshot, filters, terms, depth)
        if hits is not None:
            return hits
    allowed, rows = _best(snapshot, rows_wanted, filters, expression, depth)
    scores = {ChunkId(int(row[0])): float(row[3]) for row in rows}  # type: ignore[arg-type]
    return _hits(passages_of(snapshot, allowed, filters, list(scores)), scores)


def _hits(passages: Iterable[Passage], scores: Mapping[ChunkId, float]) -> list[LaneHit]:
    hits = [LaneHit(passage=passage, score=scores[passage.chunk]) for passage in passages]
    return sorted(hits, key=lambda hit: (-hit.score, *hit.passage.at.order))


def _terms(snapshot: Snapshot, question: QueryTerms) -> tuple[str, ...]:
    joined = joined_terms(question.words)
    chunks_with = {term: snapshot.chunks_with(term) for term in (*question.terms, *joined)}
    names = tuple(term for term in joined if chunks_with[term] and term not in question.terms)
    return telling_terms((*question.terms, *names), chunks_with, snapshot.number(_CHUNKS))


def _best_by_terms(snapshot: Snapshot, filters: Filters, terms: Sequence[str], depth: int) -> list[LaneHit] | None:
    """Add up what is known of each term; None where that does not tell the best `depth`, or would be too much.

    The sums are those of bm25 over all terms to the last bit: it adds term by term as well, in this order.
    """
    if sum(snapshot.chunks_with(term) for term in terms) > MAX_MATCHES_BY_TERM:
        return None
    known = [_scores_of(snapshot, term) for term in terms if term]
    sums = np.zeros(1 + max((int(of.chunks[-1]) for of in known if len(of.chunks)), default=0))
    for of in known:
        sums[of.chunks] += of.bm25s
    matches = np.flatnonzero(sums)
    best = _best_of(matches, sums[matches], depth)
    if best is None:
        return None
    scores = {ChunkId(chunk): score for chunk, score in zip(best.tolist(), sums[best].tolist(), strict=True)}
    found = every_passage_of(snapshot, filters, scores)
    return None if found is None else _hits(found, scores)


def _best_of(matches: NDArray[np.intp], values: Bm25s, depth: int) -> NDArray[np.intp] | None:
    """Give the best `depth` in any order; None where others tie with the last of them."""
    if len(matches) <= depth:
        return matches
    places = np.argpartition(-values, depth)
    return None if values[places[depth]] == values[places[:depth]].min() else matches[places[:depth]]


def _scores_of(snapshot: Snapshot, term: str) -> TermScores:
    known = snapshot.terms.scores(term)
    if known is None:
        rows = snapshot.all(_OF_TERM, {**COLUMN_WEIGHTS, "match": match_expression((term,), ())})
        chunks, bm25s = zip(*rows, strict=True) if rows else ((), ())
        known = TermScores(chunks=np.array(chunks, dtype=np.int64), bm25s=np.array(bm25s, dtype=np.float64))
        snapshot.terms.keep(term, known)
    return known


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
