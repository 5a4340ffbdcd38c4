"""Labels of a passage: the few words and word pairs a person would file it under (pure).

Only what the passage itself shows is known here: how often a word stands in it, whether its heading has it, and
whether it is a name that somebody coined (`retry_policy`, `CircuitBreaker`), which is kept whole as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from shared.analyzer import fold
from shared.stopwords import STOP_WORDS

MAX_KEYWORDS = 5
MIN_CHARS = 3
MAX_CHARS = 40  # longer is data, not a name
MAX_SCANNED_CHARS = 6_000
MEMO_WORDS = 16_384  # judging a word costs ten times looking it up, and answers of one project share theirs
MEMO_PASSAGES = 1_024  # 1.5 MB; questions asked one after the other find the same passages again

# What the heading says and the text takes up is what the passage is about; what only the heading says is shown there
# already, and its outer names are those of a hundred other passages. A coined name says more than a common word; a pair
# must prove itself by coming back. Tried by eye on docs, code and notes in both languages.
HEADING_BOOST = 3.0
HEADING_ONLY_BOOST = 1.5
OUTER_HEADING_BOOST = 0.8
IDENTIFIER_BOOST = 1.6
PAIR_BOOST = 1.5
EARLY_BOOST = 0.3

_NOISE_WORDS = """
abc abstract and any append arg args array assert async await become becomes bool boolean break byte bytes called case
catch char class classmethod cls const continue def default define defines del dict double elif else elsif end endif
enum etc example examples except exemplo exemplos export extends false final finally first float for foreach from func
function get global goto href http https ifdef ifndef implements import include init instanceof int integer interface
isinstance items iter join kwargs lambda last later len let list long main match method module mut namespace need
needs new nil none not now null object off old one org otherwise param params pass pop pre print private property
protected public push raise range readonly ret return returns second see self set short since static staticmethod str
string struct super switch then this three throw throws todo true try tuple two type typedef typeof uint undefined
union unset unsigned use used uses using val value values var veja void while with www yield
"""

# Words that only hold sentences together, in both languages, and names of markup (roles and directives).
_FILLER_WORDS = """
always already anyone anything back cannot come comes done either else even ever every give given gives goes going
however instead like made make makes many may maybe much must neither never next often once perhaps quite rather really
several shall simply since soon still such take taken takes therefore though thus together too upon usually want well
whether whole within without yet
agora ainda além alguém algo algum alguma algumas alguns ali antes apenas aqui aqueles aquelas assim através bastante
bem caso contudo deles dela dele depois desde deste desta dessa desse disso disto durante embora enquanto então estamos
etc faz fazem fazendo fazer feita feito ficar haver hoje lá logo melhor mesmos nada nenhum nenhuma nesta neste nessa
nesse nunca onde ontem passo podem poder poderá poderia porém portanto possível pouca poucas pouco poucos precisa
precisam quase sempre será seria serão simplesmente sobretudo tais tal talvez tanto tampouco tentando toda todas todavia
todo todos tudo vários várias vez vezes você vocês
admonition attr autoclass autofunction automodule code-block currentmodule deftype eval-rst exc kbd literalinclude meth
seealso toctree versionadded versionchanged
"""
_NOISE = frozenset(fold(word) for word in (_NOISE_WORDS + _FILLER_WORDS).split())
_ADVERB = re.compile(r"\w{5,}mente")  # Portuguese; as many end in -ly in English, but so do `assembly` and `family`
_TOKEN = re.compile(r"\w+(?:-\w+)*|[^\w\s]")
_SEPARATORS = re.compile(r"[_-]+")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z][A-Z]+[a-z]")


class _Word(Struct, frozen=True):
    shown: str
    key: str  # what counts as the same word
    is_name: bool


class _Tally:
    """How much speaks for one label."""

    def __init__(self, shown: str, place: int) -> None:
        self.shown = shown
        self.place = place
        self.count = 0
        self.boost = 1.0


def keywords(text: str, heading: str = "", *, ignored: Sequence[str] = ()) -> tuple[str, ...]:
    """Give up to `MAX_KEYWORDS` labels, best first; `ignored` are exact words, whatever their case.

    >>> keywords("The circuit breaker opens. A circuit breaker closes again.", "Circuit breaker")
    ('circuit breaker', 'opens', 'closes')
    """
    return _labels(text, heading, tuple(ignored))


@lru_cache(maxsize=MEMO_PASSAGES)
def _labels(text: str, heading: str, ignored: tuple[str, ...]) -> tuple[str, ...]:
    unwanted = {fold(word) for word in ignored}
    in_heading, in_body = _words(heading, unwanted), _words(text[:MAX_SCANNED_CHARS], unwanted)
    named, in_text = _keys_of(in_heading), _keys_of(in_body)
    inner = _keys_of(_words(_innermost(heading), unwanted))
    boosts = {
        key: HEADING_BOOST if key in in_text else HEADING_ONLY_BOOST if key in inner else OUTER_HEADING_BOOST
        for key in named
    }
    words = [*in_heading, *in_body]
    if len(heading) + 1 + len(text) > MAX_SCANNED_CHARS:
        words = _words(f"{heading}\n{text}"[:MAX_SCANNED_CHARS], unwanted)
    tallies = _tallies(words, boosts)
    order = sorted(tallies, key=lambda key: (-_score(tallies[key], len(words)), tallies[key].place, key))
    return tuple(tallies[key].shown for key in _first_without_parts(order))


def forget_passages() -> None:
    """Forget the labels of passages; their texts may be gone."""
    _labels.cache_clear()


def _keys_of(words: Iterable[_Word | None]) -> set[str]:
    return {word.key for word in words if word is not None}


def _innermost(heading: str) -> str:
    """Give the last name of a path: "Guide > Install", or "Class.method" in code."""
    last = heading.rpartition(" > ")[2]
    return last if " " in last else last.rpartition(".")[2]


def _tallies(words: Sequence[_Word | None], boosts: Mapping[str, float]) -> dict[str, _Tally]:
    tallies: dict[str, _Tally] = {}
    pairs: dict[str, _Tally] = {}
    for place, word in enumerate(words):
        if word is None:
            continue
        tally = tallies.setdefault(word.key, _Tally(word.shown, place))
        tally.count += 1
        tally.boost = (IDENTIFIER_BOOST if word.is_name else 1.0) * boosts.get(word.key, 1.0)
        before = words[place - 1] if place else None
        if before is not None and not word.is_name and not before.is_name and before.key != word.key:
            pair = pairs.setdefault(f"{before.key} {word.key}", _Tally(f"{before.shown} {word.shown}", place - 1))
            pair.count += 1
            pair.boost = PAIR_BOOST * min(boosts.get(before.key, 1.0), boosts.get(word.key, 1.0))
    return tallies | {key: pair for key, pair in pairs.items() if pair.count > 1}


def _score(tally: _Tally, length: int) -> float:
    return tally.count * tally.boost * (1.0 + EARLY_BOOST * (1.0 - tally.place / max(1, length)))


def _first_without_parts(order: Iterable[str]) -> list[str]:
    """Leave out a word whose pair stands before it, and a pair whose words both do or that overlaps one taken."""
    taken: list[str] = []
    covered: set[str] = set()
    for key in order:
        parts = key.split(" ")
        if not covered.intersection(parts):
            taken.append(key)
            covered.update(parts)
            if len(taken) == MAX_KEYWORDS:
                break
    return taken


def _words(text: str, unwanted: set[str]) -> list[_Word | None]:
    """Give the words of `text` in order; None where something stands that no pair may reach over."""
    words = list(map(_word, _TOKEN.findall(text)))
    return [None if word is None or word.key in unwanted else word for word in words] if unwanted else words


@lru_cache(maxsize=MEMO_WORDS)
def _word(token: str) -> _Word | None:
    bare = token.strip("_")
    key = fold(bare)  # `_lock` and `lock` are one label
    letters = len(key) if key.isalpha() else sum(map(str.isalpha, key))
    is_short = min(len(key), len(bare)) < MIN_CHARS or letters < MIN_CHARS
    if is_short or len(key) > MAX_CHARS or letters * 2 < len(key) or key[0].isdigit() or _is_noise(key):
        return None
    is_name = "_" in bare or "-" in token or _CAMEL.search(token) is not None
    shown = bare if is_name or (token.isupper() and len(token) <= 6) else bare.lower()
    return _Word(shown, key, is_name)


def _is_noise(key: str) -> bool:
    if key in STOP_WORDS or key in _NOISE or (key.endswith("mente") and _ADVERB.fullmatch(key) is not None):
        return True
    is_whole = "_" not in key and "-" not in key
    return not is_whole and all(part in _NOISE for part in _SEPARATORS.split(key) if part)
