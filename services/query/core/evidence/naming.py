"""How well what a file is called and what it defines match the question (pure).

Code is found by names: the file's, its folders', those of functions, classes and headings in it. Each measure takes
all files at once and gives a share of the best possible for each, 0..1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from services.query.core.evidence.asked import Asked
from services.query.core.evidence.hashed import Hashes, Indices
from services.query.core.evidence.lexicon import Keys
from services.query.core.evidence.tokens import Tokens, Weights, analyse
from services.query.core.evidence.wording import Shares, items
from shared.analyzer import fold

UNASKED_WORTH: Final = math.log(100.0)
"""What a term of a name that was not asked is taken to be worth: as if one text in a hundred had it. Looking each one
up instead is no better (NDCG within .003)."""

MAX_NAME_TERMS: Final = 9
MAX_NAMES: Final = 200  # of one file
JOINED_BONUS: Final = 0.25  # of each term beyond two that a joined name consists of

_EXTENSION: Final = re.compile(r"\.\w+$")
_QUALIFIER: Final = re.compile(r"[.:]+")
_HEADING_LINE: Final = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)
# What languages call the file that stands for its folder.
_FOLDERS_OWN: Final = frozenset({"__init__", "index", "init", "mod", "package-info"})
_EDGE: Final = "$?!.: "


class Names(Struct, frozen=True, kw_only=True):
    """The names of several files: distinct names, one file after the other, and the keys of their terms."""

    file: Indices  # of each name
    term_keys: Keys  # distinct terms of each name, one name after the other
    term_name: Indices  # which name each is of
    sizes: Weights  # terms of each name
    joined: Hashes  # each name's terms as one
    exact: tuple[str, ...]  # each name as written
    folded: tuple[str, ...]  # each name folded, separators off
    stem_keys: Keys  # distinct terms of each file's own name, without its extension
    stem_file: Indices
    path_keys: Keys  # terms of each whole path, with repeats
    path_file: Indices
    file_names: tuple[str, ...]  # by file: its own name, folded, separators off


class _Name(Struct, frozen=True):
    """One name, without its qualifiers."""

    exact: str
    folded: str


class _Path(Struct, frozen=True):
    """One path without its extension, and the file's own name."""

    bare: str
    own: str
    folded: str  # the own name


def names_in(heading: str, symbols: Sequence[str], text: str, *, is_prose: bool) -> list[str]:
    """Give the names that a passage defines or stands under."""
    if is_prose:
        return [*heading.split(" > "), *(_HEADING_LINE.findall(text) if "#" in text else ())]
    return [*heading.split("."), *symbols]


def names_of(paths: Sequence[str], defined: Sequence[Iterable[str]]) -> Names:
    """Analyse the names of files: their paths, and what each defines."""
    distinct = [list(dict.fromkeys(filter(None, names)))[:MAX_NAMES] for names in defined]
    named = [_name(name) for names in distinct for name in names]
    called = [_path(path) for path in paths]
    texts = [*(name.exact for name in named), *(path.own for path in called), *(path.bare for path in called)]
    tokens = analyse(texts, is_kept=False)
    names, owns = len(named), len(called)
    stems, sizes, joined = _terms_of_names(tokens, named)
    of_own = np.flatnonzero((tokens.text >= names) & (tokens.text < names + owns))
    of_own = of_own[_is_first(tokens.text[of_own], tokens.stems[tokens.word[of_own]])]
    of_path = np.flatnonzero(tokens.text >= names + owns)
    return Names(
        file=np.repeat(np.arange(len(distinct)), list(map(len, distinct))),
        term_keys=stems,
        term_name=np.repeat(np.arange(names), sizes),
        sizes=sizes.astype(np.float64),
        joined=joined,
        exact=tuple(name.exact for name in named),
        folded=tuple(name.folded for name in named),
        stem_keys=tokens.stems[tokens.word[of_own]],
        stem_file=tokens.text[of_own] - names,
        path_keys=tokens.stems[tokens.word[of_path]],
        path_file=tokens.text[of_path] - names - owns,
        file_names=tuple(path.folded for path in called),
    )


def _terms_of_names(tokens: Tokens, named: Sequence[_Name]) -> tuple[Keys, Indices, Hashes]:
    """Give the first distinct terms of each name, how many it has of them, and all its distinct terms as one.

    A heading's stop words do not count, nor the whole of a compound beside its parts.
    """
    place = np.flatnonzero(tokens.text < len(named))
    text, word = tokens.text[place], tokens.word[place]
    is_heading = np.array([" " in name.exact for name in named], dtype=np.bool_)
    chars = np.array([len(name.folded) for name in named], dtype=np.intp)
    counts = tokens.lengths[: len(named)].astype(np.intp)
    is_last = np.ones(len(place), dtype=np.bool_)
    is_last[:-1] = text[:-1] != text[1:]
    is_whole = is_last & (counts > 1)[text] & (tokens.chars[word] == chars[text])
    counted = np.flatnonzero(np.where(is_heading[text], tokens.tells[place], ~is_whole))
    text, word = text[counted], word[counted]
    is_first = _is_first(text, tokens.stems[word])
    text, word = text[is_first], word[is_first]
    sizes = np.bincount(text, minlength=len(named))
    starts = np.cumsum(sizes) - sizes
    is_kept = np.arange(len(text)) - starts[text] < MAX_NAME_TERMS
    return tokens.stems[word[is_kept]], np.minimum(sizes, MAX_NAME_TERMS), tokens.joined(word, sizes)


def _is_first(text: Indices, keys: Keys) -> npt.NDArray[np.bool_]:
    """Tell which keys their text did not have before."""
    _, first = np.unique(text.astype(np.uint64) << np.uint64(32) | keys, return_index=True)
    is_first = np.zeros(len(text), dtype=np.bool_)
    is_first[first] = True
    return is_first


def name_overlap(names: Names, asked: Asked) -> Shares:
    """Give, for the best name each file defines, how much of it was asked times how much of the question it is."""
    worth, hits = _worth_of(names.term_keys, names.term_name, len(names.sizes), asked)
    of_name = worth / np.maximum(worth + UNASKED_WORTH * (names.sizes - hits), 1e-9)
    best = np.zeros(len(names.file_names))
    np.maximum.at(best, names.file, of_name * np.minimum(1.0, worth / asked.stems.total))
    return best


def file_name_overlap(names: Names, asked: Asked) -> Shares:
    """Give the same for the file's own name, as a geometric mean."""
    files = len(names.file_names)
    worth, hits = _worth_of(names.stem_keys, names.stem_file, files, asked)
    unasked = np.bincount(names.stem_file, minlength=files) - hits
    of_name = worth / np.maximum(worth + UNASKED_WORTH * unasked, 1e-9)
    return np.sqrt(of_name * np.minimum(1.0, worth / asked.stems.total))


def path_overlap(names: Names, asked: Asked) -> Shares:
    """Give the share of the question's worth that stands in the path."""
    worth, _ = _worth_of(names.path_keys, names.path_file, len(names.file_names), asked)
    return worth / asked.stems.total


def file_name_asked(names: Names, asked: Asked) -> Shares:
    """Give how certainly a word of the question is the file's whole name."""
    certainty: dict[str, float] = {}
    for name in asked.names:
        certainty[_plain(name.text)] = max(name.certainty, certainty.get(_plain(name.text), 0.0))
    return np.array([certainty.get(file_name, 0.0) for file_name in names.file_names])


def definition_asked(names: Names, asked: Asked, documents: int, certainties: Collection[float]) -> Shares:
    """Give how rare the definition is that a word of the question names: as written, else folded.

    Args:
        names: of the candidates' files.
        asked: the question; only its names of these certainties are looked at.
        documents: of the index.
        certainties: CERTAIN, MAYBE or BARELY.
    """
    shares = np.zeros(len(names.file_names))
    for name in asked.names:
        if name.certainty not in certainties:
            continue
        defining = [place for place, exact in enumerate(names.exact) if exact == name.text]
        if not defining:
            plain = _plain(name.text)
            defining = [place for place, folded in enumerate(names.folded) if folded == plain]
        if defining:
            files = np.unique(names.file[defining])
            shares[files] = np.maximum(shares[files], _rarity(len(files), documents))
    return shares


def joined_name(names: Names, asked: Asked, documents: int) -> Shares:
    """Give how rare the defined name is that two to four neighbouring words of the question spell together."""
    shares = np.zeros(len(names.file_names))
    place, of_key = np.nonzero(names.joined[:, None] == asked.joined[None, :])
    for found in np.unique(of_key):
        files = np.unique(names.file[place[of_key == found]])
        bonus = 1.0 + JOINED_BONUS * float(asked.joined_terms[found] - 2)
        shares[files] = np.maximum(shares[files], bonus * _rarity(len(files), documents))
    return shares


def _worth_of(keys: Keys, group: Indices, groups: int, asked: Asked) -> tuple[Shares, Shares]:
    """Sum the worth of the distinct items asked that each group of keys has, and count them."""
    item = items(keys, asked.stems)
    wide = len(asked.stems.worth)
    has = np.zeros(groups * wide)
    has[group[item >= 0] * wide + item[item >= 0]] = 1.0
    table = has.reshape(groups, wide)
    return table @ asked.stems.worth, table.sum(axis=1)


def _rarity(files: int, documents: int) -> float:
    """Say how rare a name is that so many of the candidates' files define, 1 for a single one."""
    return math.log(1.0 + documents / files) / math.log(1.0 + max(1, documents))


@lru_cache(maxsize=32_768)
def _name(name: str) -> _Name:
    bare = name if " " in name else _QUALIFIER.split(name.strip(_EDGE))[-1]
    return _Name(bare, _plain(bare))


@lru_cache(maxsize=8_192)
def _path(path: str) -> _Path:
    bare = _EXTENSION.sub("", path)
    folder, _, own = bare.rpartition("/")
    if own in _FOLDERS_OWN and folder:
        own = folder.rpartition("/")[2]
    return _Path(bare, own, _plain(own))


def _plain(name: str) -> str:
    """Fold a name and take its separators off."""
    folded = fold(name)
    return folded if folded.isalnum() else "".join(filter(str.isalnum, folded))
