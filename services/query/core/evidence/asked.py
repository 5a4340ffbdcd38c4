"""A question as the evidence compares it: keys with their weights, and what its wording says (pure)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from services.query.core.evidence.aim import Aim, aim_of
from services.query.core.evidence.hashed import Hashes, hash_of
from services.query.core.evidence.lexicon import Keys, gram_bytes, term_key, word_key
from services.query.core.evidence.sample import Sample
from services.query.core.evidence.tokens import Weights
from services.query.core.synonyms import Synonym
from shared.analyzer import QueryTerms, fold, stem, words
from shared.stopwords import STOP_WORDS

MAX_JOINED_TERMS: Final = 4

# A name in code is written like one: inner capital, underscore, qualified or called.
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*(?:(?:::|\.|#|->)[A-Za-z_$][\w$]*)*\(?\)?")
_QUALIFIER: Final = re.compile(r"::|\.|#|->")
_CODE_LIKE: Final = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_+[A-Za-z0-9]|^[A-Z]+[a-z]+[A-Z]|\w\(\)?$|\w(?:::|\.|#|->)\w")
_ABOUT_TESTS: Final = frozenset(
    map(stem, ("test", "spec", "mock", "fixture", "benchmark", "example", "teste", "exemplo"))
)

_ABOUT_RECORDS: Final = frozenset(
    map(
        stem,
        (
            *("change", "changelog", "history", "release", "new", "version", "upgrade", "migrate", "deprecated"),
            *("license", "copyright", "author", "security", "vulnerability", "conduct"),
            *("mudanca", "historico", "novidade", "versao", "versoes", "atualizar", "licenca", "autor", "seguranca"),
        ),
    )
)


class Corpus(Struct, frozen=True, kw_only=True):
    """What the whole index says about words: how many texts, how long, and how many hold each."""

    chunks: int
    documents: int
    chunks_with: Mapping[str, int]  # term → chunks; a term that is not there is in none
    sample: Sample

    def relative_length(self, size: int) -> float:
        """Give the length of a document of `size` bytes, 1 for the mean of the index."""
        mean = self.sample.mean_bytes * self.chunks / max(1, self.documents)
        return size / max(mean, 1.0)

    def idf(self, term: str) -> float:
        """Say how much a term tells: ln(1 + (N - n + .5) / (n + .5)), its best at n = 0."""
        return rarity(self.chunks, self.chunks_with.get(term, 0))


class NameAsked(Struct, frozen=True):
    """A word of the question that may be the name of something."""

    text: str
    certainty: float  # 1 written like code or asked alone; MAYBE a proper noun; BARELY any word


CERTAIN: Final = 1.0
MAYBE: Final = 0.7
BARELY: Final = 0.3

NAMED_TRUST: Final = 0.25  # 0 to 0.3 rank alike
LEAST_TRUST: Final = 0.1
"""Where the index has none of the words asked, meaning is all there is to put texts in order by; .2 and .3 cost Portuguese
questions of English texts .001 and .002."""


class Keyed(Struct, frozen=True):
    """What is asked of one kind of evidence: keys, which item each stands for, and the items' worth."""

    keys: Keys  # ascending
    item: npt.NDArray[np.intp]  # which item each key stands for
    share: Weights  # what a hit of each key counts: 1, less for a synonym
    worth: Weights  # idf of each item times how often it is asked

    @property
    def total(self) -> float:
        """The worth of all items."""
        return float(self.worth.sum()) or 1.0


class Asked(Struct, frozen=True, kw_only=True):
    """One question, ready to be compared."""

    stems: Keyed
    words: Keyed
    grams: Keyed
    pairs: tuple[tuple[int, int], ...]  # items of `stems` asked side by side
    pair_worth: Weights
    joined: Hashes  # neighbouring terms as one name, ascending
    joined_terms: npt.NDArray[np.intp]  # of how many terms each is
    names: tuple[NameAsked, ...]
    known: float  # share of the worth whose terms the index has
    is_about_tests: bool
    is_about_records: bool
    is_literal: bool  # quoted, or a single word: what stands so is wanted, wherever
    aim: Aim

    @property
    def trust(self) -> float:
        """What the model's word counts: it knows nothing of words the index has not, and little of names in code."""
        is_named = len(self.names) > 1 and any(name.certainty == CERTAIN for name in self.names)
        return max(self.known, LEAST_TRUST) * (NAMED_TRUST if is_named and self.aim is Aim.THING else 1.0)


def rarity(texts: float, having: float) -> float:
    """Give the inverse document frequency, never below 0."""
    return math.log(1.0 + max(0.0, texts - having + 0.5) / (having + 0.5))


def asked_of(text: str, question: QueryTerms, corpus: Corpus, synonyms: Sequence[Synonym] = ()) -> Asked:
    """Weigh a question against the corpus it is asked of."""
    terms = question.terms
    place = {term: i for i, term in enumerate(terms)}
    worth = _worth(terms, corpus, synonyms)
    pairs = tuple(dict.fromkeys((place[a], place[b]) for a, b in pairwise(question.stems) if a != b))
    joined = _joined(terms)
    asked = set(map(stem, words(text)))
    known = sum(worth[i] for i, term in enumerate(terms) if corpus.chunks_with.get(term, 0))
    return Asked(
        stems=_stems(terms, worth, synonyms),
        words=_words(question, corpus),
        grams=_grams(question, corpus),
        pairs=pairs,
        pair_worth=np.array([min(worth[a], worth[b]) for a, b in pairs], dtype=np.float64),
        joined=np.array(sorted(joined), dtype=np.uint64),
        joined_terms=np.array([joined[key] for key in sorted(joined)], dtype=np.intp),
        names=names_asked(text),
        known=known / (float(worth.sum()) or 1.0),
        is_about_tests=bool(_ABOUT_TESTS & asked),
        is_about_records=bool(_ABOUT_RECORDS & asked),
        is_literal=bool(question.phrases) or len(text.split()) == 1,
        aim=aim_of(text),
    )


def names_asked(text: str) -> tuple[NameAsked, ...]:
    """Find the words of a question that may name something, each once, the most certain reading kept."""
    written = [found.group() for found in _NAME.finditer(text)]
    certain: dict[str, float] = {}
    for i, name in enumerate(written):
        if len(written) == 1 or _CODE_LIKE.search(name):
            certainty = CERTAIN
        else:
            certainty = MAYBE if name[:1].isupper() and (i > 0 or len(written) <= 2) else BARELY
        for part in _QUALIFIER.split(name.rstrip("()")):
            if part and fold(part) not in STOP_WORDS:
                certain[part] = max(certainty, certain.get(part, 0.0))
    return tuple(NameAsked(name, certainty) for name, certainty in certain.items())


def _worth(terms: Sequence[str], corpus: Corpus, synonyms: Sequence[Synonym]) -> Weights:
    """Weigh each term; one that stands for a commoner word tells no more than that."""
    chunks = [corpus.chunks_with.get(term, 0) for term in terms]
    for synonym in synonyms:
        chunks[synonym.item] = max(chunks[synonym.item], synonym.chunks)
    return np.array([rarity(corpus.chunks, having) for having in chunks], dtype=np.float64)


def _keyed(keys: Mapping[int, tuple[int, float]], worth: Sequence[float] | Weights) -> Keyed:
    order = sorted(keys)
    return Keyed(
        keys=np.array(order, dtype=np.uint32),
        item=np.array([keys[key][0] for key in order], dtype=np.intp),
        share=np.array([keys[key][1] for key in order], dtype=np.float64),
        worth=np.asarray(worth, dtype=np.float64),
    )


def _stems(terms: Sequence[str], worth: Weights, synonyms: Sequence[Synonym]) -> Keyed:
    keys = {term_key(synonym.term): (synonym.item, synonym.share) for synonym in synonyms}
    keys |= {term_key(term): (i, 1.0) for i, term in enumerate(terms)}
    return _keyed(keys, worth)


def _words(question: QueryTerms, corpus: Corpus) -> Keyed:
    distinct = dict(zip(question.words, question.stems, strict=True))
    keys = {word_key(word): (i, 1.0) for i, word in enumerate(distinct)}
    return _keyed(keys, [corpus.idf(term) for term in distinct.values()])


def _grams(question: QueryTerms, corpus: Corpus) -> Keyed:
    asked = b"".join(map(gram_bytes, question.words))
    counts = Counter(np.frombuffer(asked, dtype="<u4").tolist())
    keys = np.array(sorted(counts), dtype=np.uint32)
    shares = corpus.sample.shares_of(keys)
    sampled = corpus.sample.sampled
    worth = [counts[int(key)] * rarity(sampled, share * sampled) for key, share in zip(keys, shares, strict=True)]
    return _keyed({int(key): (i, 1.0) for i, key in enumerate(keys)}, worth)


def _joined(terms: Sequence[str]) -> dict[int, int]:
    """Give the hashes of two to four neighbouring terms written as one."""
    return {
        hash_of("".join(terms[start : start + size])): size
        for size in range(2, MAX_JOINED_TERMS + 1)
        for start in range(len(terms) - size + 1)
    }
