"""Merge what the lanes found into one list of scored candidates (pure)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from services.query.core.passages import Candidate, LaneHit, Standing
from shared.identity import TextHash

RRF_K = 60
"""How flat the ranks count: 60 is the value of the paper; a request may bring its own."""

Parts = dict[str, float]
"""Named parts of one candidate's score; they add up to it."""

Scorer = Callable[[Candidate], Parts]


def unite(lexical: Sequence[LaneHit], vector: Sequence[LaneHit]) -> list[Candidate]:
    """Join the lanes by text: one candidate per distinct text, with its standing in each lane.

    Where both lanes return a text, the lexical lane says at which place it is shown: paths are words too. The result
    is in path order, so it does not depend on which lane came first.
    """
    found: dict[TextHash, Candidate] = {}
    for rank, hit in enumerate(lexical, start=1):
        standing = Standing(rank=rank, score=hit.score)
        found.setdefault(hit.passage.text_hash, Candidate(passage=hit.passage, lexical=standing))
    for rank, hit in enumerate(vector, start=1):
        standing = Standing(rank=rank, score=hit.score)
        known = found.get(hit.passage.text_hash)
        if known is None:
            found[hit.passage.text_hash] = Candidate(passage=hit.passage, vector=standing)
        elif known.vector is None:
            found[hit.passage.text_hash] = replace(known, vector=standing)
    return sorted(found.values(), key=lambda candidate: candidate.passage.at.order)


def reciprocal_rank(*, k: int = RRF_K) -> Scorer:
    """Score by reciprocal rank: the sum over lanes of 1 / (k + rank), rank 1-based.

    A lane that did not return the candidate adds nothing. Scales of distances and bm25 never meet.

    Source: Cormack, Clarke and Buettcher, SIGIR 2009.
    """

    def score(candidate: Candidate) -> Parts:
        standings = (("lexical", candidate.lexical), ("vector", candidate.vector))
        return {name: 1.0 / (k + standing.rank) for name, standing in standings if standing is not None}

    return score


def linear_mix(candidates: Sequence[Candidate], *, alpha: float) -> Scorer:
    """Score by alpha x lexical + (1 - alpha) x vector, each lane scaled so that its best candidate has 1.

    A candidate that a lane did not return, or a cosine below zero, counts 0 there.
    """
    best_lexical = max((c.lexical.score for c in candidates if c.lexical is not None), default=0.0)
    best_vector = max((c.vector.score for c in candidates if c.vector is not None), default=0.0)

    def score(candidate: Candidate) -> Parts:
        return {
            "lexical": alpha * _share(candidate.lexical, best_lexical),
            "vector": (1.0 - alpha) * _share(candidate.vector, best_vector),
        }

    return score


def vector_only(candidate: Candidate) -> Parts:
    """Score by cosine alone; the caller leaves out what the vector lane did not return."""
    return {} if candidate.vector is None else {"vector": candidate.vector.score}


def lexical_only(candidate: Candidate) -> Parts:
    """Score by bm25 alone; the caller leaves out what the lexical lane did not return."""
    return {} if candidate.lexical is None else {"lexical": candidate.lexical.score}


def _share(standing: Standing | None, best: float) -> float:
    return 0.0 if standing is None or best <= 0.0 else max(0.0, standing.score) / best
