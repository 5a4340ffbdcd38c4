"""Measure every kind of evidence for the candidates of one question (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from services.query.core.evidence import demotion, naming, wording
from services.query.core.evidence.asked import BARELY, CERTAIN, MAYBE, Asked, Corpus
from services.query.core.evidence.documents import by_document, document_share
from services.query.core.evidence.gathered import many_passages
from services.query.core.evidence.hashed import Indices
from services.query.core.evidence.sample import Sample
from services.query.core.evidence.tokens import analyse
from services.query.core.evidence.weights import TOGETHER
from services.query.core.evidence.wording import Shares
from shared.messages import KindFilter


class Witness(Struct, frozen=True, kw_only=True):
    """A candidate passage."""

    file: int  # place of its file in the list of files
    heading: str
    symbols: tuple[str, ...]
    text: str
    cosine: float = 0.0  # 0 where it has no vector, or the question has none

    @property
    def wording(self) -> str:
        """What is read of it."""
        return wording_of(self.heading, self.text)


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


def wording_of(heading: str, text: str) -> str:
    """Give what is read of a passage."""
    return f"{heading}\n{text}"


def measure(asked: Asked, corpus: Corpus, witnesses: Sequence[Witness], files: Sequence[File]) -> Evidence:
    """Measure the evidence of all candidates at once; a hundred of them take some milliseconds."""
    file_of = np.array([witness.file for witness in witnesses], dtype=np.intp)
    texts = _Texts(asked, corpus.sample, witnesses)
    names = _names(witnesses, files)
    lengths = np.array([corpus.relative_length(file.size) for file in files])
    together = {name: by_document(counts, file_of, len(files)) for name, counts in texts.counts.items()}
    is_prose = np.array([float(demotion.is_prose(file.kind)) for file in files])
    cosines = np.array([max(0.0, witness.cosine) for witness in witnesses])
    return Evidence(
        file_of=file_of,
        by_passage={**texts.shares(), "vector": asked.trust * cosines},
        by_file={
            "document": document_share(together["stems"], lengths, names, asked),
            **{f"file_{name}": wording.bm25(together[name], lengths, 1.0, texts.worth[name]) for name in TOGETHER},
            **_naming(names, asked, corpus.documents, 1.0 - is_prose),
            "many_passages": many_passages(file_of, is_prose, asked),
            **_against(files, asked),
        },
        is_prose=is_prose,
    )


class _Texts:
    """What was asked, counted in each candidate's text."""

    def __init__(self, asked: Asked, sample: Sample, witnesses: Sequence[Witness]) -> None:
        self.asked, self.sample = asked, sample
        self.tokens = analyse([witness.wording for witness in witnesses])
        self.texts = len(witnesses)
        self.found = wording.telling(self.tokens, asked)
        self.counts = {
            "stems": wording.stem_counts(self.tokens, asked.stems),
            "words": wording.word_counts(self.tokens, asked.words),
            "grams": wording.gram_counts(self.tokens, asked.grams),
            "pairs": wording.pair_counts(self.found, self.texts, asked),
        }
        self.worth = {"words": asked.words.worth, "grams": asked.grams.worth, "pairs": asked.pair_worth}

    def shares(self) -> dict[str, Shares]:
        """Give the shares of each passage alone."""
        tokens, sample = self.tokens, self.sample
        lengths = {
            "words": (tokens.lengths, sample.mean_tokens),
            "grams": (tokens.gram_lengths, sample.mean_grams),
            "pairs": (tokens.telling, sample.mean_telling),
        }
        shares = {name: wording.bm25(self.counts[name], *lengths[name], self.worth[name]) for name in lengths}
        return {**shares, "window": wording.window_share(self.found, self.texts, self.asked)}


def _names(witnesses: Sequence[Witness], files: Sequence[File]) -> naming.Names:
    defined: list[list[str]] = [[] for _ in files]
    for witness in witnesses:
        is_prose = demotion.is_prose(files[witness.file].kind)
        defined[witness.file] += naming.names_in(witness.heading, witness.symbols, witness.text, is_prose=is_prose)
    return naming.names_of([file.path for file in files], defined)


def _naming(names: naming.Names, asked: Asked, documents: int, is_code: Shares) -> dict[str, Shares]:
    # A heading of one word, or a page that is called so, defines nothing.
    return {
        "names": naming.name_overlap(names, asked),
        "file_name": naming.file_name_overlap(names, asked),
        "path": naming.path_overlap(names, asked),
        "file_name_asked": is_code * naming.file_name_asked(names, asked),
        "definition": naming.definition_asked(names, asked, documents, {CERTAIN, MAYBE}),
        "plain_definition": is_code * naming.definition_asked(names, asked, documents, {BARELY}),
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
