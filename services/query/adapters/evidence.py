"""Load what evidence ranking needs beyond the candidates' texts: word counts, a sample, missing cosines."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence

import numpy as np
import structlog
from structlog.typing import FilteringBoundLogger

from services.query.adapters.facts import IndexFacts
from services.query.adapters.lanes import Outcomes
from services.query.adapters.projects import SearchProject
from services.query.adapters.reader import IndexReaders, Snapshot
from services.query.adapters.word_memory import WORDS
from services.query.core.evidence.asked import Corpus, asked_of
from services.query.core.evidence.demotion import is_prose
from services.query.core.evidence.measure import Evidence, File, Witnesses, measure
from services.query.core.evidence.sample import SAMPLED_CHUNKS, Sample, sample_of
from services.query.core.evidence.score import score
from services.query.core.fusion import Scorer
from services.query.core.passages import Candidate, Passage
from services.query.core.question import Question
from shared.errors import ErrorCode
from shared.identity import InstanceId, TextHash

RESAMPLE_GROWTH = 1.25
"""An index that grew or shrank by more is sampled again."""

_FIRST_CHUNK, _LAST_CHUNK = "SELECT coalesce(min(id), 0) FROM chunk{e}", "SELECT coalesce(max(id), 0) FROM chunk{e}"
_NEXT_CHUNK = "SELECT heading, text FROM chunk{e} WHERE id >= ? ORDER BY id LIMIT 1"
_VECTORS = """
SELECT text_hash, vector FROM embedding
WHERE model = ? AND text_hash IN (SELECT unhex(value) FROM json_each(?)) AND length(vector) = ?
"""

_log: FilteringBoundLogger = structlog.get_logger()


class SampleCache:
    """One sample an index; safe across threads."""

    def __init__(self) -> None:
        self._samples: dict[tuple[InstanceId, int], tuple[int, Sample]] = {}
        self._lock = threading.Lock()

    def of(self, instance: InstanceId, snapshot: Snapshot, chunks: int) -> Sample:
        """Give the sample of the answering epoch, taken anew when the index has become another size."""
        known = self._samples.get((instance, snapshot.epoch))
        if known is not None and max(known[0], 1) / RESAMPLE_GROWTH <= chunks <= known[0] * RESAMPLE_GROWTH:
            return known[1]
        texts = _sampled_texts(snapshot)
        sample = sample_of(texts)
        with self._lock:
            self._samples = {key: value for key, value in self._samples.items() if key[0] != instance}
            self._samples[instance, snapshot.epoch] = (chunks, sample)
        return sample


class Judge:
    """Weighs the candidates of questions; safe across threads."""

    def __init__(self, readers: IndexReaders) -> None:
        self._readers = readers
        self._samples = SampleCache()

    def scorer(
        self,
        project: SearchProject,
        question: Question,
        candidates: Sequence[Candidate],
        facts: IndexFacts,
        outcomes: Outcomes,
    ) -> Scorer | None:
        """Give the scorer of mode `auto` for these candidates; blocks.

        None when the epoch they were found in no longer answers, or the evidence cannot be read: like a failing lane,
        that never kills the answer.
        """
        try:
            evidence = self._evidence(project, question, candidates, facts, outcomes)
        except Exception:  # noqa: BLE001 - a door, as the lanes are
            _log.exception("evidence.failed", error_code=ErrorCode.INTERNAL)
            return None
        if evidence is None:
            return None
        parts = {c.passage.text_hash: found for c, found in zip(candidates, score(evidence), strict=True)}
        return lambda candidate: parts[candidate.passage.text_hash]

    def _evidence(
        self,
        project: SearchProject,
        question: Question,
        candidates: Sequence[Candidate],
        facts: IndexFacts,
        outcomes: Outcomes,
    ) -> Evidence | None:
        epochs = {outcomes.lexical.epoch, outcomes.vector.epoch} - {0}
        with self._readers.snapshot(project.index, project.instance) as snapshot:
            if not candidates or epochs != {snapshot.epoch}:
                return None
            sample = self._samples.of(project.instance, snapshot, facts.chunks)
            WORDS.follow(self._readers, snapshot, facts.chunks)
            vector = outcomes.vector.question
            return evidence_of(snapshot, candidates, question, facts=facts, sample=sample, vector=vector)


def evidence_of(
    snapshot: Snapshot,
    candidates: Sequence[Candidate],
    question: Question,
    *,
    facts: IndexFacts,
    sample: Sample,
    vector: bytes | None = None,
) -> Evidence:
    """Measure the candidates of one question, in their order; blocks.

    Args:
        snapshot: of the epoch the candidates were found in.
        candidates: of both lanes, at least one.
        question: as it was asked.
        facts: sizes of the index.
        sample: of the same epoch.
        vector: of the question, where the vector lane answered.
    """
    corpus = corpus_of(snapshot, question.terms.terms, facts, sample)
    witnesses = witnesses_of(snapshot, candidates, vector)
    asked = asked_of(question.text, question.terms, corpus, question.synonyms)
    with WORDS.memory() as memory:
        return measure(asked, corpus, witnesses, memory)


def read_ahead(passages: Iterable[Passage]) -> None:
    """Read the texts of passages that will be weighed while there is something else to wait for; blocks, never raises.

    They are remembered, so that less is to be done when the other lane has answered.
    """
    try:
        found = list(passages)
        with WORDS.memory() as memory:
            memory.read(found, [is_prose(passage.at.kind) for passage in found])
    except Exception:  # noqa: BLE001 - a door: what fails here fails again where it is weighed, and the answer says so
        _log.exception("evidence.failed", error_code=ErrorCode.INTERNAL)


def corpus_of(snapshot: Snapshot, terms: Sequence[str], facts: IndexFacts, sample: Sample) -> Corpus:
    """Count the chunks with each of the terms asked."""
    return Corpus(
        chunks=facts.chunks,
        documents=facts.documents,
        chunks_with={term: snapshot.chunks_with(term) for term in terms},
        sample=sample,
    )


def witnesses_of(snapshot: Snapshot, candidates: Sequence[Candidate], question: bytes | None) -> Witnesses:
    """Make the witnesses; what only the lexical lane found gets its cosine from its stored vector."""
    passages = [candidate.passage for candidate in candidates]
    at = {passage.at.document: passage.at for passage in passages}
    places = {document: place for place, document in enumerate(at)}
    cosines = _cosines(snapshot, candidates, question) if question is not None else {}
    return Witnesses(
        passages=passages,
        cosines=np.array([cosines.get(passage.text_hash, 0.0) for passage in passages], dtype=np.float64),
        file_of=np.array([places[passage.at.document] for passage in passages], dtype=np.intp),
        files=[File(path=location.path, kind=location.kind, size=location.size) for location in at.values()],
    )


def _cosines(snapshot: Snapshot, candidates: Sequence[Candidate], question: bytes) -> dict[TextHash, float]:
    known = {c.passage.text_hash: c.vector.score for c in candidates if c.vector is not None}
    asked = [c.passage.text_hash.hex() for c in candidates if c.vector is None]
    rows = snapshot.all(_VECTORS, (snapshot.model, json.dumps(asked), len(question))) if asked else []
    if rows:
        stored = b"".join(bytes(row[1]) for row in rows)  # type: ignore[arg-type]
        cosines = np.frombuffer(stored, dtype="<f4").reshape(len(rows), -1) @ np.frombuffer(question, dtype="<f4")
        texts = [TextHash(bytes(row[0])) for row in rows]  # type: ignore[arg-type]
        known |= dict(zip(texts, cosines.tolist(), strict=True))
    return known


def _sampled_texts(snapshot: Snapshot) -> list[str]:
    first, last = snapshot.number(_FIRST_CHUNK), snapshot.number(_LAST_CHUNK)
    starts = sorted({first + (last - first) * i // SAMPLED_CHUNKS for i in range(SAMPLED_CHUNKS)})
    rows = [row for start in starts for row in snapshot.all(_NEXT_CHUNK, (start,))]
    return [f"{row[0]!s}\n{row[1]!s}" for row in rows]
