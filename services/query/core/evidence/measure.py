"""Measure every kind of evidence for the candidates of one question (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from services.query.core.evidence import demotion, naming, wording
from services.query.core.evidence.asked import BARELY, CERTAIN, MAYBE, Asked, Corpus
from services.query.core.evidence.documents import by_document, document_share
from services.query.core.evidence.gathered import many_passages
from services.query.core.evidence.hashed import Indices
from services.query.core.evidence.memory import Memory, Readable
from services.query.core.evidence.sample import Sample
from services.query.core.evidence.tokens import Tokens, Weights
from services.query.core.evidence.weights import TOGETHER
from services.query.core.evidence.wording import Shares
from shared.messages import KindFilter


class File(Struct, frozen=True, kw_only=True):
    """A file that candidates are of."""

    path: str
    kind: KindFilter
    size: int  # bytes


class Witnesses(Struct, frozen=True, kw_only=True):
    """The candidates of one question."""

    passages: Sequence[Readable]
    cosines: Weights  # of each; 0 where it has no vector, or the question has none
    file_of: Indices  # of each: place of its file in `files`
    files: Sequence[File]


class Evidence(Struct, frozen=True, kw_only=True):
    """Every measure, 0..1 each: by passage or by file."""

    file_of: Indices
    by_passage: Mapping[str, Shares]
    by_file: Mapping[str, Shares]
    is_prose: Shares


def measure(asked: Asked, corpus: Corpus, witnesses: Witnesses, memory: Memory) -> Evidence:
    """Measure the evidence of all candidates at once; a hundred of them take two milliseconds."""
    file_of, files = witnesses.file_of, witnesses.files
    prose = [demotion.is_prose(file.kind) for file in files]
    recalled = memory.recall(witnesses.passages, [prose[file] for file in file_of.tolist()])
    path = memory.paths.read([file.path for file in files])
    names = naming.names_of(memory.names, recalled.names, file_of[recalled.passage], memory.paths, path)
    texts = _Texts(asked, corpus.sample, recalled.tokens)
    lengths = np.array([corpus.relative_length(file.size) for file in files])
    together = {name: by_document(counts, file_of, len(files)) for name, counts in texts.counts.items()}
    is_prose = np.array(prose, dtype=np.float64)
    return Evidence(
        file_of=file_of,
        by_passage={**texts.shares(), "vector": asked.trust * np.maximum(0.0, witnesses.cosines)},
        by_file={
            "document": document_share(together["stems"], lengths, names, asked),
            **{f"file_{name}": wording.bm25(together[name], lengths, 1.0, texts.worth[name]) for name in TOGETHER},
            **_naming(names, asked, corpus.documents, 1.0 - is_prose),
            "many_passages": many_passages(file_of, is_prose, asked),
            **_against(files, asked, np.asarray((together["stems"] > 0.0).all(axis=1), dtype=np.bool_)),
        },
        is_prose=is_prose,
    )


class _Texts:
    """What was asked, counted in each candidate's text."""

    def __init__(self, asked: Asked, sample: Sample, tokens: Tokens) -> None:
        self.asked, self.sample, self.tokens = asked, sample, tokens
        stems = wording.found_among(tokens, tokens.stems, asked.stems)
        words = wording.found_among(tokens, tokens.words, asked.words)
        self.found = wording.telling(tokens, stems)
        self.counts = {
            "stems": wording.counts(stems, tokens.texts, len(asked.stems.worth)),
            "words": wording.counts(words, tokens.texts, len(asked.words.worth)),
            "grams": wording.gram_counts(tokens, asked.grams),
            "pairs": wording.pair_counts(self.found, tokens.texts, asked),
        }
        self.worth = {"words": asked.words.worth, "grams": asked.grams.worth, "pairs": asked.pair_worth}

    def shares(self) -> dict[str, Shares]:
        """Give the shares of each passage alone."""
        sizes, sample = self.tokens.sizes, self.sample
        lengths = {
            "words": (sizes.tokens, sample.mean_tokens),
            "grams": (sizes.grams, sample.mean_grams),
            "pairs": (sizes.telling, sample.mean_telling),
        }
        shares = {
            name: wording.bm25(self.counts[name], size.astype(np.float64), mean, self.worth[name])
            for name, (size, mean) in lengths.items()
        }
        return {**shares, "window": wording.window_share(self.found, self.tokens.texts, self.asked)}


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


def _against(files: Sequence[File], asked: Asked, has_all: npt.NDArray[np.bool_]) -> dict[str, Shares]:
    paths, kinds = [file.path for file in files], [file.kind for file in files]
    return {
        "tests": demotion.only_tests(paths, asked),
        "asides": demotion.asides(paths, kinds, asked),
        "misplaced_prose": demotion.misplaced_prose(kinds, asked, has_all),
        "misplaced_code": demotion.misplaced_code(kinds, asked),
    }
