"""Measure every kind of evidence for the candidates of one question, and add it up by fixed weights (pure).

score = (content + names + vector) x demotions. Content is measured per passage and per document: a file counts with
the best of its passages for each kind of evidence, because an answer may be spread over several; a passage that is
worse than the best of its file loses a share of the difference, which puts the passages of one file in order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from services.query.core.evidence import demotion, naming, wording
from services.query.core.evidence.asked import BARELY, CERTAIN, MAYBE, Asked, Corpus
from services.query.core.evidence.documents import by_document, document_share
from services.query.core.evidence.sample import Sample
from services.query.core.evidence.tokens import Indices, analyse
from services.query.core.evidence.wording import Shares
from shared.messages import KindFilter

Parts = dict[str, float]


class Weights(Struct, frozen=True, kw_only=True):
    """What each kind of evidence counts. Chosen on public retrieval sets: docs/ranking.md says what each is worth."""

    stems: float = 0.3
    words: float = 0.2
    grams: float = 0.3
    pairs: float = 0.2
    window: float = 0.15
    vector: float = 0.5
    document: float = 0.5
    file_words: float = 0.2
    file_grams: float = 0.25
    file_pairs: float = 0.2
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

    @property
    def content(self) -> float:
        """What a text with all that was asked, in every way, would earn: scores are shares of it; names may add."""
        return float(sum(getattr(self, name) for name in (*BY_PASSAGE, *BY_FILE))) or 1.0


DEFAULT: Final = Weights()

# Fitted on 1,800 questions asked of the texts they are about, and of other texts: the score alone tells the two apart
# (AUC .94 to 1.0 a set). At .5 nine in ten of the first are above, one in seven of the second.
CONFIDENCE_MIDDLE: Final = 0.28
CONFIDENCE_WIDTH: Final = 0.07

BY_PASSAGE: Final = ("stems", "words", "grams", "pairs", "window", "vector")
_TOGETHER: Final = ("words", "grams", "pairs")
BY_FILE: Final = ("document", *(f"file_{name}" for name in _TOGETHER))
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
    symbols: tuple[str, ...]
    text: str
    cosine: float = 0.0  # 0 where it has no vector, or the question has none


class File(Struct, frozen=True, kw_only=True):
    """A file that candidates are of."""

    path: str
    kind: KindFilter
    size: int  # bytes


class Evidence(Struct, frozen=True, kw_only=True):
    """Every measure, 0..1 each: by passage or by file."""

    file_of: Indices
    by_passage: Mapping[str, Shares]
    by_file: Mapping[str, Shares]
    is_prose: Shares


def confidence(score_of_evidence: float) -> float:
    """Say how sure it is that a text with this score answers, 0..1; when the best is unsure, nothing good is there.

    >>> confidence(0.05) < 0.1 < 0.9 < confidence(0.6)
    True
    """
    return 1.0 / (1.0 + math.exp((CONFIDENCE_MIDDLE - score_of_evidence) / CONFIDENCE_WIDTH))


def measure(asked: Asked, corpus: Corpus, witnesses: Sequence[Witness], files: Sequence[File]) -> Evidence:
    """Measure the evidence of all candidates at once; a hundred of them take some milliseconds."""
    file_of = np.array([witness.file for witness in witnesses], dtype=np.intp)
    texts = _Texts(asked, corpus.sample, witnesses)
    names = _names(witnesses, files)
    lengths = np.array([corpus.relative_length(file.size) for file in files])
    together = {name: by_document(counts, file_of, len(files)) for name, counts in texts.counts.items()}
    cosines = np.array([max(0.0, witness.cosine) for witness in witnesses])
    return Evidence(
        file_of=file_of,
        by_passage={**texts.shares(), "vector": asked.known * cosines},
        by_file={
            "document": document_share(together["stems"], lengths, names, asked),
            **{f"file_{name}": wording.bm25(together[name], lengths, 1.0, texts.worth[name]) for name in _TOGETHER},
            **_naming(names, asked, corpus.documents),
            **_against(files, asked),
        },
        is_prose=np.array([float(demotion.is_prose(file.kind)) for file in files]),
    )


def score(evidence: Evidence, weights: Weights = DEFAULT) -> list[Parts]:
    """Give the named parts of each candidate's score, in order; they add up to it."""
    parts = {name: values / weights.content for name, values in _additions(evidence, weights).items()}
    factors = {name: _factor(evidence, name, weights) for name in DEMOTIONS}
    total = sum(parts.values(), np.zeros(len(evidence.file_of)))
    for name, factor in factors.items():
        parts[name] = -total * factor
        total = total * (1.0 - factor)
    columns = {name: values.tolist() for name, values in parts.items() if values.any()}
    return [{name: column[i] for name, column in columns.items() if column[i]} for i in range(len(evidence.file_of))]


class _Texts:
    """What was asked, counted in each candidate's text."""

    def __init__(self, asked: Asked, sample: Sample, witnesses: Sequence[Witness]) -> None:
        self.asked, self.sample = asked, sample
        self.tokens, self.grams = analyse([f"{witness.heading}\n{witness.text}" for witness in witnesses])
        texts = len(witnesses)
        self.counts = {
            "stems": wording.tally(self.tokens.stems, self.tokens.text, texts, asked.stems),
            "words": wording.tally(self.tokens.words, self.tokens.text, texts, asked.words),
            "grams": wording.tally(self.grams.keys, self.grams.text, texts, asked.grams),
            "pairs": wording.pair_counts(self.tokens, asked),
        }
        self.worth = {
            "stems": asked.stems.worth,
            "words": asked.words.worth,
            "grams": asked.grams.worth,
            "pairs": asked.pair_worth,
        }

    def shares(self) -> dict[str, Shares]:
        """Give the shares of each passage alone."""
        tokens, sample = self.tokens, self.sample
        telling = np.bincount(tokens.text[tokens.tells], minlength=len(tokens.lengths)).astype(np.float64)
        lengths = {
            "stems": (tokens.lengths, sample.mean_tokens),
            "words": (tokens.lengths, sample.mean_tokens),
            "grams": (self.grams.lengths, sample.mean_grams),
            "pairs": (telling, sample.mean_telling),
        }
        shares = {name: wording.bm25(self.counts[name], *lengths[name], self.worth[name]) for name in lengths}
        return {**shares, "window": wording.window_share(tokens, self.asked)}


def _names(witnesses: Sequence[Witness], files: Sequence[File]) -> naming.Names:
    defined: list[list[str]] = [[] for _ in files]
    for witness in witnesses:
        is_prose = demotion.is_prose(files[witness.file].kind)
        defined[witness.file] += naming.names_in(witness.heading, witness.symbols, witness.text, is_prose=is_prose)
    return naming.names_of([file.path for file in files], defined)


def _naming(names: naming.Names, asked: Asked, documents: int) -> dict[str, Shares]:
    return {
        "names": naming.name_overlap(names, asked),
        "file_name": naming.file_name_overlap(names, asked),
        "path": naming.path_overlap(names, asked),
        "file_name_asked": naming.file_name_asked(names, asked),
        "definition_certain": naming.definition_asked(names, asked, documents, CERTAIN),
        "definition_maybe": naming.definition_asked(names, asked, documents, MAYBE),
        "definition_barely": naming.definition_asked(names, asked, documents, BARELY),
        "joined_name": naming.joined_name(names, asked, documents),
    }


def _against(files: Sequence[File], asked: Asked) -> dict[str, Shares]:
    paths, kinds = [file.path for file in files], [file.kind for file in files]
    return {
        "tests": demotion.only_tests(paths, asked),
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
