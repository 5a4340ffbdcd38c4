"""Turn text into the terms that index and query agree on (pure).

A word is a run of letters, digits and underscores. It gives its parts (cut at case, digits and underscores), a
compound also its whole; each is folded (accents, case, width) and stemmed: Snowball English, then Portuguese, then a
skeleton in which English and Romance spellings of one Latin or Greek stem meet ("architecture", "arquitetura"), for
every word, without guessing a language. Scripts written without blanks give overlapping pairs of characters.

Used by the indexer for what it stores and by the query service for what it asks: the terms of both must come from one
version, so a change of any term is a new ANALYZER_VERSION.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

import Stemmer
from msgspec import Struct

from shared.stopwords import STOP_WORDS

ANALYZER_VERSION: Final = 1

# Bounds. A longer term is cut, in index and query alike, so it is still found; parts beyond the limit are covered by
# the whole. The memo holds about 300 bytes a word: 20 MB when full. A full memo is emptied, which needs no bookkeeping
# on the hot path.
MAX_TERM_CHARS: Final = 64
MAX_PARTS: Final = 32
MAX_MEMO_WORDS: Final = 65_536
MAX_MEMO_WORD_CHARS: Final = 64

MAX_QUERY_CHARS: Final = 4_096
MAX_QUERY_TERMS: Final = 64

# SQLite's Unicode tables know these letters as marks and would cut a term there (all others were tried one by one).
_NOT_A_LETTER_TO_SQLITE: Final = dict.fromkeys([*range(0x19B0, 0x19CA), 0x1CF2, 0x1CF3])
_WITHOUT_DECOMPOSITION: Final = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe"})

_WORD: Final = re.compile(r"\w+")
# Blanks for all that is no letter, digit or underscore: cutting at blanks is three times faster than the expression.
_ASCII_BLANKED: Final = "".join(chr(i) if _WORD.match(chr(i)) else " " for i in range(128))
_ASCII_PART: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_ANY_PART: Final = re.compile(r"\d+|[^\W\d_]+")
# Han, kana, Hangul, Thai, Lao, Khmer, Burmese: no blanks between words, or words glued to their particles.
_UNSPACED: Final = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\uffa0-\uffdc\U00020000-\U0003ffff]+)"
)
_QUOTED: Final = re.compile('"([^"]*)"')
_QUOTE_MARKS: Final = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "\0": None})
_WIKILINK: Final = re.compile(r"!?\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]*))?\]\]")

_COGNATE_SPELLINGS: Final = (
    ("ph", "f"),
    ("th", "t"),
    ("ch", "c"),
    ("qu", "c"),
    ("k", "c"),
    ("y", "i"),
    ("ct", "t"),
    ("pt", "t"),
    ("w", "v"),
)
_DOUBLED: Final = re.compile(r"(.)\1")
_VOWELS: Final = "aeiou"
# The same rules for many words at once, one a line.
_ADDED_VOWELS: Final = re.compile(r"^[ei](?=s[ptcqm]..)", re.MULTILINE)
_LAST_VOWELS: Final = re.compile(rf"^(?=.{{5}})(.*[^{_VOWELS}\n])[{_VOWELS}]+$", re.MULTILINE)

_english: Final = Stemmer.Stemmer("english", 0)
_portuguese: Final = Stemmer.Stemmer("portuguese", 0)


class QueryTerms(Struct, frozen=True):
    """A question as the lanes and the evidence need it; all terms as the index has them."""

    terms: tuple[str, ...]  # distinct, in the order asked; without stop words unless nothing else was asked
    phrases: tuple[tuple[str, ...], ...]  # quoted parts: terms in sequence, stop words kept
    words: tuple[str, ...]  # folded but not stemmed, one for each of the words asked, repeats kept
    stems: tuple[str, ...]  # the stem of each of `words`, at the same place
    notes: tuple[str, ...]  # what was cut or cannot be searched, as English sentences


def index_terms(text: str) -> str:
    """Give the terms of `text` joined by single blanks, ready for the full-text table.

    Each term is exactly one token of FTS5's unicode61 tokenizer, with or without its own folding.

    >>> index_terms("getUserName in Décisions")
    'get user nam getusern in dec'
    """
    return "".join(map(_indexed.__getitem__, _raw_words(text)))[:-1]


def terms(text: str) -> list[str]:
    """Give the terms of `text` in order, stop words included."""
    return index_terms(text).split()


def words(text: str) -> list[str]:
    """Give the folded words, parts and wholes of `text` in order, not stemmed.

    >>> words("getUserName")
    ['get', 'user', 'name', 'getusername']
    """
    return "".join(map(_folded.__getitem__, _raw_words(text))).split()


@lru_cache(maxsize=MAX_MEMO_WORDS)
def stem(word: str) -> str:
    """Give the term of one folded word.

    >>> stem("architecture") == stem("arquitetura")
    True
    """
    if not word.isalpha():
        return word
    return skeleton(_portuguese.stemWord(_english.stemWord(word)))


def stems(folded: Sequence[str]) -> list[str]:
    """Give the term of each of many folded words, as `stem` does, for a third of the time and without its memo.

    >>> stems(["photographs", "x86"]) == [stem("photographs"), stem("x86")]
    True
    """
    found = list(folded)
    places = [place for place, word in enumerate(found) if word.isalpha()]
    stemmed = _portuguese.stemWords(_english.stemWords([found[place] for place in places]))
    for place, term in zip(places, stemmed, strict=True):
        found[place] = term
    places = [place for place, term in zip(places, stemmed, strict=True) if len(term) > 3]
    for place, term in zip(places, _skeletons([found[place] for place in places]), strict=True):
        found[place] = term
    return found


def skeleton(stemmed: str) -> str:
    """Give the letters that English and Romance spellings of one Latin or Greek stem share.

    >>> skeleton("fotograf") == skeleton("photograph")
    True
    """
    if len(stemmed) < 4:
        return stemmed
    bare = stemmed
    if len(bare) > 4 and bare[:2] in {"es", "is"} and bare[2] in "ptcqm":
        bare = bare[1:]
    for spelling, shared in _COGNATE_SPELLINGS:
        bare = bare.replace(spelling, shared)
    bare = _DOUBLED.sub(r"\1", bare)
    return (bare.rstrip(_VOWELS) or bare) if len(bare) > 4 else bare


def _skeletons(stemmed: Sequence[str]) -> list[str]:
    """Give the skeleton of each of many stems of four letters and more."""
    if not stemmed:
        return []
    bare = _ADDED_VOWELS.sub("", "\n".join(stemmed))
    for spelling, shared in _COGNATE_SPELLINGS:
        bare = bare.replace(spelling, shared)
    return _LAST_VOWELS.sub(r"\1", _DOUBLED.sub(r"\1", bare)).split("\n")


def fold(text: str) -> str:
    """Give `text` without accents, case and width; letters of other scripts stay whole.

    >>> fold("Ação")
    'acao'
    """
    if text.isascii():
        return text.lower()
    bare = without_marks(text).casefold().translate(_WITHOUT_DECOMPOSITION)
    return unicodedata.normalize("NFC", bare)


def query_terms(query: str) -> QueryTerms:
    """Analyse a question: what to look for, and what had to be left out of it.

    Text between double quotes is a phrase (an odd quote is none). Never raises, whatever the text.
    """
    notes: list[str] = []
    if len(query) > MAX_QUERY_CHARS:
        notes.append(f"the query was cut to its first {MAX_QUERY_CHARS} characters")
    text = query[:MAX_QUERY_CHARS].translate(_QUOTE_MARKS)
    asked = words(text)
    if not asked:
        notes.append("the query has no word that can be searched")
    telling = [word for word in asked if word not in STOP_WORDS] or asked
    if len(telling) > MAX_QUERY_TERMS:
        notes.append(f"the query was cut to its first {MAX_QUERY_TERMS} words")
        telling = telling[:MAX_QUERY_TERMS]
    stems = tuple(map(stem, telling))
    phrases = tuple(tuple(phrase) for quoted in _QUOTED.findall(text) if (phrase := terms(quoted)[:MAX_QUERY_TERMS]))
    return QueryTerms(tuple(dict.fromkeys(stems)), phrases, tuple(telling), stems, tuple(notes))


def plain_markdown(text: str) -> str:
    """Reduce `[[target|alias]]` links to what a reader sees; lines stay where they are.

    >>> plain_markdown("see [[decisions/adr-7|the decision]] and [[glossary]]")
    'see the decision and glossary'
    """
    return _WIKILINK.sub(lambda link: link[2] or link[1], text) if "[[" in text else text


class _Memo(dict[str, str]):
    """What each raw word gives, every item with a blank behind it; computed once, bounded."""

    def __init__(self, finish: Callable[[str], str]) -> None:
        super().__init__()
        self._finish = finish

    def __missing__(self, raw: str) -> str:
        found = "".join(self._finish(piece)[:MAX_TERM_CHARS] + " " for piece in _pieces(raw))
        if len(raw) <= MAX_MEMO_WORD_CHARS:
            if len(self) >= MAX_MEMO_WORDS:
                self.clear()
            self[raw] = found
        return found


def _pieces(raw: str) -> list[str]:
    """Give the folded parts of one raw word, and its whole when it has several."""
    if raw.isascii():
        return _parts(raw)
    found: list[str] = []
    for place, run in enumerate(_UNSPACED.split(raw)):
        found += _pairs(run) if place % 2 else _parts(without_marks(run))
    return found


def _parts(word: str) -> list[str]:
    if word.isascii():
        parts = [part.lower() for part in _ASCII_PART.findall(word)]
    else:
        parts = [fold(part) for run in _ANY_PART.findall(word) for part in _case_parts(run)]
    if len(parts) < 2:
        return parts
    return [*parts[:MAX_PARTS], "".join(parts)]


def _case_parts(run: str) -> list[str]:
    """Cut a run of letters of any script where a small letter is followed by a capital one."""
    cuts = [0, *(i for i in range(1, len(run)) if run[i].isupper() and not run[i - 1].isupper()), len(run)]
    return [run[a:b] for a, b in pairwise(cuts)]


def _pairs(run: str) -> list[str]:
    """Give the overlapping pairs of a run of unspaced script; a single character is itself."""
    run = "".join(c for c in unicodedata.normalize("NFKC", run).casefold() if c.isalnum())
    return [run[i : i + 2] for i in range(len(run) - 1)] or ([run] if run else [])


def without_marks(text: str) -> str:
    """Give the letters and digits of `text` in their plain form, case kept."""
    apart = unicodedata.normalize("NFKD", text)
    return "".join(c for c in apart if c.isalnum() or c == "_").translate(_NOT_A_LETTER_TO_SQLITE)


def _raw_words(text: str) -> list[str]:
    """Give the words of `text` as they are written, in order."""
    if text.isascii():
        return text.translate(_ASCII_BLANKED).split()
    return _WORD.findall(unicodedata.normalize("NFC", text))


_indexed: Final = _Memo(stem)
_folded: Final = _Memo(lambda piece: piece)
