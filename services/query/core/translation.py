"""What the words of a question are called in the other of our two languages, English and Portuguese (pure).

Who asks in Portuguese of English code means `file` by "arquivo" and `option` by "opção". Some words are listed
(`vocabulary`), others differ by their ending alone. A Portuguese word is known by how it is written, not by its stem:
stems are short, and that of "fila" (queue) is that of `file`. English has few endings, so there the stem is enough; but
more words are guessed wrong, so that it is only looked for where the index does not have the word that was asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from services.query.core.synonyms import MAX_SYNONYMS, SYNONYM_SHARE, Synonym
from services.query.core.vocabulary import PAIRS
from shared.analyzer import QueryTerms, stem, words
from shared.stopwords import STOP_WORDS

Phrase = tuple[str, ...]

MAX_PHRASE_WORDS: Final = 3


class _Ending(Struct, frozen=True):
    """An ending of Latin origin in both languages, folded: how it is recognised, and how the other writes it."""

    least: int  # letters before it in Portuguese
    ours: str
    english: str
    theirs: str = ""  # how English writes it, where that may be turned back
    portuguese: str = ""


LEAST_IN_ENGLISH: Final = 2

_ENDINGS: Final = (
    _Ending(1, "cao|coes", "tion", "tions?", "cao"),
    _Ending(2, "[sx]ao|[sx]oes", "sion", "sions?", "sao"),
    _Ending(3, "idades?", "ity", "it(?:y|ies)", "idade"),
    _Ending(4, "avel", "able", "ables?", "avel"),
    _Ending(2, "aveis", "able"),
    _Ending(4, "ivel", "ible", "ibles?", "ivel"),
    _Ending(2, "iveis", "ible"),
    _Ending(2, "encias?", "ence", "enc(?:e|es|y|ies)", "encia"),
    _Ending(2, "ancias?", "ance", "anc(?:e|es|y|ies)", "ancia"),
    _Ending(4, "amente", "ally", "ally", "almente"),
)


class Counterpart(Struct, frozen=True):
    """A term that may stand for one that was asked."""

    term: str
    item: int  # place in the question's `terms`
    is_guess: bool  # only looked for where the index does not have the term that was asked


def counterparts_of(question: QueryTerms) -> tuple[Counterpart, ...]:
    """Give the terms of the other language for those asked, each once."""
    place = {term: i for i, term in enumerate(question.terms)}
    found: dict[str, Counterpart] = {}
    for start, asked in enumerate(question.stems):
        for word, is_guess in _renderings(question, start):
            term = stem(word)
            if term not in place:
                found.setdefault(term, Counterpart(term, place[asked], is_guess))
    return tuple(found.values())


def better_known(
    counterparts: Iterable[Counterpart], question: QueryTerms, chunks_with: Callable[[str], int]
) -> tuple[Synonym, ...]:
    """Keep the counterparts that the index has in more chunks than the term that was asked."""
    found = []
    for one in counterparts:
        asked, there = chunks_with(question.terms[one.item]), chunks_with(one.term)
        if there > asked and not (asked and one.is_guess):
            found.append(Synonym(one.term, one.item, SYNONYM_SHARE, chunks=there))
    return tuple(found)[:MAX_SYNONYMS]


def respelt(word: str) -> str:
    """Give how English would end a folded Portuguese word, or the word itself.

    >>> respelt("configuracoes"), respelt("variaveis"), respelt("senha")
    ('configuration', 'variable', 'senha')
    """
    ending = _PORTUGUESE_ENDING.search(word)
    return word if ending is None else word[: ending.start()] + _rule(ending).english


def _respelt_back(word: str) -> str:
    ending = _ENGLISH_ENDING.search(word)
    return word if ending is None else word[: ending.start()] + _rule(ending).portuguese


def _renderings(question: QueryTerms, start: int) -> Iterable[tuple[str, bool]]:
    """Give what the words from here on are called, and whether that is a guess."""
    table = _table()
    for size in range(min(MAX_PHRASE_WORDS, len(question.words) - start), 0, -1):
        yield from ((word, False) for word in table.english.get(question.words[start : start + size], ()))
        yield from ((word, True) for word in table.portuguese.get(question.stems[start : start + size], ()))
    word = question.words[start]
    yield from ((other, False) for other in (respelt(word),) if other != word)
    yield from ((other, True) for other in (_respelt_back(word),) if other != word)


class _Table(Struct, frozen=True):
    english: Mapping[Phrase, Sequence[str]]  # by Portuguese words as they are written, folded
    portuguese: Mapping[Phrase, Sequence[str]]  # by English terms


@lru_cache(maxsize=1)
def _table() -> _Table:
    english: dict[Phrase, dict[str, None]] = {}
    portuguese: dict[Phrase, dict[str, None]] = {}
    for entry in PAIRS.split(";"):
        ours, _, theirs = (part.split(",") for part in entry.partition(":"))
        for one in map(_phrase, ours):
            for other in map(_phrase, theirs):
                for form in _forms(one):
                    english.setdefault(form, {})[other[0]] = None
                if len(one) == 1:
                    portuguese.setdefault(tuple(map(stem, other)), {})[one[0]] = None
    return _Table(_listed(english), _listed(portuguese))


def _listed(table: Mapping[Phrase, Mapping[str, None]]) -> dict[Phrase, Sequence[str]]:
    return {phrase: tuple(others) for phrase, others in table.items()}


def _phrase(text: str) -> Phrase:
    return tuple(word for word in words(text) if word not in STOP_WORDS)


def _forms(phrase: Phrase) -> Iterable[Phrase]:
    """Give a phrase as it is, a single word also in its plural, and in the commonest forms of a verb or an adjective."""
    return ((form,) for form in forms(phrase[0])) if len(phrase) == 1 else (phrase,)


def forms(word: str) -> frozenset[str]:
    """Give the commonest forms of a folded Portuguese word; some of them do not exist, which does no harm.

    >>> sorted(forms("opcao")), sorted(forms("valor"))
    (['opcao', 'opcoes'], ['valor', 'valores'])
    """
    for ending, others in _FORMS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            stemmed = word[: len(word) - len(ending)]
            return frozenset({word, *(stemmed + other for other in others.split())})
    return frozenset({word, word + "s"} if word[-1] in "aeiou" else {word, word + "es"})


# The first that fits; the endings of a verb are those one asks with: what is done, was done, does it.
_FORMS: Final = (
    ("ao", "oes aos"),
    ("m", "ns"),
    ("vel", "veis"),
    ("al", "ais"),
    ("el", "eis"),
    ("ar", "am ando aram ado ada ados adas a ou"),
    ("er", "em endo eram ido ida idos idas e eu"),
    ("ir", "em indo iram ido ida idos idas e iu"),
    ("o", "os a as"),
)


def _endings(patterns: Iterable[tuple[int, str]]) -> re.Pattern[str]:
    """Compile endings to one expression in which the group that matched tells the rule."""
    groups = "|".join(f"(?<={'.' * least})(?P<r{i}>{p})" for i, (least, p) in enumerate(patterns) if p)
    return re.compile(f"(?:{groups})$")


def _rule(found: re.Match[str]) -> _Ending:
    return _ENDINGS[int((found.lastgroup or "r0")[1:])]


_PORTUGUESE_ENDING: Final = _endings((ending.least, ending.ours) for ending in _ENDINGS)
_ENGLISH_ENDING: Final = _endings((LEAST_IN_ENGLISH, ending.theirs) for ending in _ENDINGS)
