"""Measure every kind of evidence for the candidates of one question, and add it up by fixed weights (pure).

score = (content + names + vector) x demotions. Content is measured per passage and per document: a file counts with
the best of its passages for each kind of evidence, because an answer may be spread over several; a passage that is
worse than the best of its file loses a share of the difference, which puts the passages of one file in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from services.query.core.evidence import demotion, naming, wording
from services.query.core.evidence.asked import BARELY, CERTAIN, MAYBE, Asked, Corpus
from services.query.core.evidence.documents import document_share
from services.query.core.evidence.tokens import Indices, analyse
from services.query.core.evidence.wording import Shares
from shared.messages import KindFilter

Parts = dict[str, float]


class Weights(Struct, frozen=True, kw_only=True):
    """What each kind of evidence counts. Chosen on public retrieval sets: docs/ranking.md says what each is worth."""

    stems: float = 0.3
    words: float = 0.4
    grams: float = 0.5
    pairs: float = 0.4
    window: float = 0.15
    vector: float = 0.5
    document: float = 0.5
    names: float = 0.45
    file_name: float = 0.45
    path: float = 0.22
    file_name_asked: float = 0.3
    definition_certain: float = 0.15
    definition_maybe: float = 0.3
    definition_barely: float = 0.15
    joined_name: float = 0.3
    prose_names: float = 0.9  # names of prose are headings: by how much they count beside names of code
    tests: float = 0.5
    asides: float = 0.4
    misplaced_prose: float = 0.1
    misplaced_code: float = 0.12
    worse_passage: float = 0.5


DEFAULT: Final = Weights()
BY_PASSAGE: Final = ("stems", "words", "grams", "pairs", "window", "vector")
BY_FILE: Final = ("document",)
NAMES: Final = (
    "names",
    "file_name",
    "path",
    "file_name_asked",
    "definition_certain",
    "definition_maybe",
    "definition_barely",
    "joined_name",
)
DEMOTIONS: Final = ("tests", "asides", "misplaced_prose", "misplaced_code")


class Witness(Struct, frozen=True, kw_only=True):
    """A candidate passage."""

    file: int  # place of its file in the list of files
    heading: str
    text: str
    cosine: float = 0.0  # 0 where it has no vector, or the question has none


class File(Struct, frozen=True, kw_only=True):
    """A file that candidates are of."""

    path: str
    kind: KindFilter
    length: int  # terms; with `terms` and `names` of shared.profile
    terms: bytes
    names: str


class Evidence(Struct, frozen=True, kw_only=True):
    """Every measure, 0..1 each: by passage or by file."""

    file_of: Indices
    by_passage: Mapping[str, Shares]
    by_file: Mapping[str, Shares]
    is_prose: Shares


def measure(asked: Asked, corpus: Corpus, witnesses: Sequence[Witness], files: Sequence[File]) -> Evidence:
    """Measure the evidence of all candidates at once; a hundred of them take some milliseconds."""
    tokens, grams = analyse([f"{witness.heading}\n{witness.text}" for witness in witnesses])
    sample = corpus.sample
    cosines = np.array([max(0.0, witness.cosine) for witness in witnesses])
    return Evidence(
        file_of=np.array([witness.file for witness in witnesses], dtype=np.intp),
        by_passage={
            "stems": wording.stem_share(tokens, asked, sample.mean_tokens),
            "words": wording.word_share(tokens, asked, sample.mean_tokens),
            "grams": wording.gram_share(grams, asked, sample.mean_grams),
            "pairs": wording.pair_share(tokens, asked, sample.mean_telling),
            "window": wording.window_share(tokens, asked),
            "vector": asked.known * cosines,
        },
        by_file=_by_file(asked, corpus, files),
        is_prose=np.array([float(demotion.is_prose(file.kind)) for file in files]),
    )


def score(evidence: Evidence, weights: Weights = DEFAULT) -> list[Parts]:
    """Give the named parts of each candidate's score, in order; they add up to it."""
    parts = _additions(evidence, weights)
    factors = {name: _factor(evidence, name, weights) for name in DEMOTIONS}
    total = sum(parts.values(), np.zeros(len(evidence.file_of)))
    for name, factor in factors.items():
        parts[name] = -total * factor
        total = total * (1.0 - factor)
    columns = {name: values.tolist() for name, values in parts.items() if values.any()}
    return [{name: column[i] for name, column in columns.items() if column[i]} for i in range(len(evidence.file_of))]


def _by_file(asked: Asked, corpus: Corpus, files: Sequence[File]) -> dict[str, Shares]:
    named = [naming.file_names(file.path, file.names) for file in files]
    paths, kinds = [file.path for file in files], [file.kind for file in files]
    terms, lengths = [file.terms for file in files], [file.length for file in files]
    definition = {
        name: naming.definition_asked(named, asked, corpus.documents, certainty)
        for name, certainty in (
            ("definition_certain", CERTAIN),
            ("definition_maybe", MAYBE),
            ("definition_barely", BARELY),
        )
    }
    return {
        "document": document_share(terms, lengths, named, asked, corpus.mean_length),
        "names": naming.name_overlap(named, asked),
        "file_name": naming.file_name_overlap(named, asked),
        "path": naming.path_overlap(named, asked),
        "file_name_asked": naming.file_name_asked(named, asked),
        **definition,
        "joined_name": naming.joined_name(named, asked, corpus.documents),
        "tests": demotion.tests(paths, asked),
        "asides": demotion.asides(paths, asked),
        "misplaced_prose": demotion.misplaced_prose(kinds, asked),
        "misplaced_code": demotion.misplaced_code(kinds, asked),
    }


def _additions(evidence: Evidence, weights: Weights) -> dict[str, Shares]:
    file_of, files = evidence.file_of, len(evidence.is_prose)
    parts: dict[str, Shares] = {}
    lost = np.zeros(len(file_of))
    for name in BY_PASSAGE:
        weight, own = getattr(weights, name), evidence.by_passage[name]
        best = np.zeros(files)
        np.maximum.at(best, file_of, own)
        parts[name] = weight * best[file_of]
        lost += weight * (best[file_of] - own)
    scale = 1.0 + evidence.is_prose * (weights.prose_names - 1.0)
    for name in (*BY_FILE, *NAMES):
        by_file = getattr(weights, name) * evidence.by_file[name]
        parts[name] = (by_file * scale if name in NAMES else by_file)[file_of]
    least = np.full(files, np.inf)
    np.minimum.at(least, file_of, lost)
    parts["worse_passage"] = -weights.worse_passage * (lost - least[file_of])
    return parts


def _factor(evidence: Evidence, name: str, weights: Weights) -> Shares:
    factor = getattr(weights, name) * evidence.by_file[name]
    if name == "asides":  # an example among the tests is a test
        factor = np.where(evidence.by_file["tests"] > 0.0, 0.0, factor)
    return np.asarray(factor[evidence.file_of], dtype=np.float64)
