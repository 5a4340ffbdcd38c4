"""Builders of what evidence is measured on: a corpus by its texts, a question, candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from services.query.core.evidence.asked import Asked, Corpus, asked_of
from services.query.core.evidence.measure import Evidence, File, Witnesses, measure
from services.query.core.evidence.memory import Excerpt, Memory
from services.query.core.evidence.sample import sample_of
from services.query.core.evidence.score import score
from services.query.core.evidence.weights import Weights
from services.query.core.synonyms import SynonymTable, synonyms_of
from shared.analyzer import query_terms, terms
from shared.messages import KindFilter


def make_corpus(*texts: str, documents: int | None = None) -> Corpus:
    """Make a corpus of one chunk a text, all of them sampled."""
    having = Counter(term for text in texts for term in set(terms(text)))
    return Corpus(
        chunks=len(texts), documents=documents or len(texts), chunks_with=having, sample=sample_of(list(texts))
    )


def make_asked(query: str, corpus: Corpus, synonyms: SynonymTable | None = None) -> Asked:
    """Analyse a question asked of a corpus."""
    question = query_terms(query)
    return asked_of(query, question, corpus, synonyms_of(question, synonyms or SynonymTable()))


class Candidate:
    """One candidate passage as a test says it."""

    def __init__(
        self,
        path: str,
        text: str,
        *,
        kind: KindFilter = "code",
        symbols: Sequence[str] = (),
        heading: str = "",
        cosine: float = 0.0,
    ) -> None:
        self.path, self.text, self.kind = path, text, kind
        self.symbols, self.heading, self.cosine = tuple(symbols), heading, cosine


def evidence_on(query: str, candidates: Sequence[Candidate], *, others: Sequence[str] = ()) -> Evidence:
    """Measure candidates in a corpus of their texts and some others."""
    corpus = make_corpus(*(candidate.text for candidate in candidates), *others)
    paths = list(dict.fromkeys(candidate.path for candidate in candidates))
    kinds: Mapping[str, KindFilter] = {candidate.path: candidate.kind for candidate in candidates}
    sizes = Counter[str]()
    for candidate in candidates:
        sizes[candidate.path] += len(candidate.text.encode())
    files = [File(path=path, kind=kinds[path], size=sizes[path]) for path in paths]
    witnesses = Witnesses(
        passages=[excerpt_of(candidate) for candidate in candidates],
        cosines=np.array([candidate.cosine for candidate in candidates]),
        file_of=np.array([paths.index(candidate.path) for candidate in candidates], dtype=np.intp),
        files=files,
    )
    return measure(make_asked(query, corpus), corpus, witnesses, Memory())


def excerpt_of(candidate: Candidate) -> Excerpt:
    """Make what is read of a candidate."""
    return Excerpt(heading=candidate.heading, symbols=candidate.symbols, text=candidate.text)


def scores_of(evidence: Evidence, **changed: float) -> list[float]:
    """Give the score of each candidate with some weights changed."""
    return [sum(parts.values()) for parts in score(evidence, replace(Weights(), **changed))]
