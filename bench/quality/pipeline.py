"""Ask questions of an index with the product's own lanes, fusion and evidence, in process and without a bus."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from bench.quality.corpora import INSTANCE, Corpus, Question
from services.query.adapters.evidence import SampleCache, evidence_of
from services.query.adapters.facts import FactsCache
from services.query.adapters.lanes import EVIDENCE_DEPTH, LANE_DEPTH
from services.query.adapters.lexical_lane import lexical_hits
from services.query.adapters.passages import Filters
from services.query.adapters.reader import IndexReaders, Snapshot
from services.query.adapters.vector_lane import ExactVectorLane
from services.query.core.dedup import fold_equal_texts
from services.query.core.evidence.measure import Evidence
from services.query.core.evidence.score import score
from services.query.core.evidence.weights import DEFAULT, Weights
from services.query.core.fusion import Parts, unite
from services.query.core.grouping import group
from services.query.core.passages import Candidate, Ranked
from services.query.core.question import Question as Asked
from services.query.core.question import question_of, with_counterparts
from services.query.core.ranking import RankingRule, best_first, rank
from services.query.core.recency import Recency
from shared.messages import Mode, SearchRequest

NO_RECENCY = Recency(epsilon=0.0, reference_ns=0)


class Found(Struct, frozen=True, kw_only=True):
    """What the lanes brought for one question, and the evidence on it."""

    question: Question
    candidates: tuple[Candidate, ...]  # as deep as mode `auto` looks
    deeper: tuple[Candidate, ...]  # as deep as the other modes do
    evidence: Evidence
    lanes_ms: float
    evidence_ms: float


def ask(corpus: Corpus, vectors: Mapping[str, bytes]) -> Iterator[Found]:
    """Ask every question of a corpus; a question without a vector is asked by words alone."""
    readers, facts_cache, samples = IndexReaders(), FactsCache(), SampleCache()
    with readers.snapshot(corpus.index, INSTANCE, limit_s=600.0) as snapshot:
        facts = facts_cache.of(INSTANCE, snapshot)
        sample = samples.of(INSTANCE, snapshot, facts.chunks)
        for judged in corpus.questions:
            question = question_of(SearchRequest(instance=INSTANCE, query=judged.query))
            question = with_counterparts(question, snapshot.chunks_with)
            vector = vectors.get(judged.query)
            started = time.perf_counter()
            candidates, deeper = _candidates(snapshot, question, vector)
            looked = time.perf_counter()
            evidence = evidence_of(snapshot, candidates, question, facts=facts, sample=sample, vector=vector)
            yield Found(
                question=judged,
                candidates=tuple(candidates),
                deeper=tuple(deeper),
                evidence=evidence,
                lanes_ms=(looked - started) * 1e3,
                evidence_ms=(time.perf_counter() - looked) * 1e3,
            )
    readers.close()


def by_evidence(found: Found, weights: Weights = DEFAULT) -> list[Ranked]:
    """Rank the candidates as mode `auto` does, without priors."""
    parts = score(found.evidence, weights)
    return sorted(map(_ranked, found.candidates, parts), key=best_first)


def by_mode(found: Found, mode: Mode) -> list[Ranked]:
    """Rank the candidates as another mode does, without priors."""
    return rank(found.deeper, RankingRule(mode=mode, recency=NO_RECENCY))


def files(ranked: Sequence[Ranked]) -> list[str]:
    """Give the distinct files of a ranking, best first."""
    return [result.path for result in group(fold_equal_texts(ranked), "file")]


def _candidates(snapshot: Snapshot, question: Asked, vector: bytes | None) -> tuple[list[Candidate], list[Candidate]]:
    lexical = lexical_hits(snapshot, question.lexical, Filters(), LANE_DEPTH)
    nearest = ExactVectorLane().nearest(snapshot, vector, Filters(), LANE_DEPTH) if vector else []
    return unite(lexical[:EVIDENCE_DEPTH], nearest[:EVIDENCE_DEPTH]), unite(lexical, nearest)


def _ranked(candidate: Candidate, parts: Parts) -> Ranked:
    return Ranked(candidate=candidate, score=sum(parts.values()), parts=parts)
