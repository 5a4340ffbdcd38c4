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
from msgspec import Struct

from services.query.core.evidence.asked import Asked
from services.query.core.evidence.tokens import Indices, Keys, Weights, term_key
from services.query.core.evidence.wording import Shares, items
from shared.analyzer import fold, stem, words
from shared.stopwords import STOP_WORDS

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
    joined: Keys  # each name's parts as one term
    exact: tuple[frozenset[str], ...]  # by file: each name as written
    folded: tuple[frozenset[str], ...]  # by file: each name folded, separators off
    stem_keys: Keys  # distinct terms of each file's own name, without its extension
    stem_file: Indices
    path_keys: Keys  # terms of each whole path, with repeats
    path_file: Indices
    file_names: tuple[str, ...]  # by file: its own name, folded, separators off


class _Name(Struct, frozen=True):
    """One name, analysed."""

    exact: str
    folded: str
    keys: tuple[int, ...]
    joined: int


class _Path(Struct, frozen=True):
    """One path, analysed."""

    file_name: str
    stem_keys: tuple[int, ...]
    path_keys: tuple[int, ...]


def names_in(heading: str, symbols: Sequence[str], text: str, *, is_prose: bool) -> list[str]:
    """Give the names that a passage defines or stands under."""
    if is_prose:
        return [*heading.split(" > "), *(_HEADING_LINE.findall(text) if "#" in text else ())]
    return [*heading.split("."), *symbols]


def names_of(paths: Sequence[str], defined: Sequence[Iterable[str]]) -> Names:
    """Analyse the names of files: their paths, and what each defines."""
    named = [[_name(name) for name in list(dict.fromkeys(filter(None, names)))[:MAX_NAMES]] for names in defined]
    called = [_path(path) for path in paths]
    flat = [name for names in named for name in names]
    stem_keys, stem_file = _flat([path.stem_keys for path in called])
    path_keys, path_file = _flat([path.path_keys for path in called])
    term_keys, term_name = _flat([name.keys for name in flat])
    return Names(
        file=np.repeat(np.arange(len(named)), [len(names) for names in named]),
        term_keys=term_keys,
        term_name=term_name,
        sizes=np.array([len(name.keys) for name in flat], dtype=np.float64),
        joined=np.array([name.joined for name in flat], dtype=np.uint32),
        exact=tuple(frozenset(name.exact for name in names) for names in named),
        folded=tuple(frozenset(name.folded for name in names) for names in named),
        stem_keys=stem_keys,
        stem_file=stem_file,
        path_keys=path_keys,
        path_file=path_file,
        file_names=tuple(path.file_name for path in called),
    )


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
        defining = np.array([name.text in exact for exact in names.exact], dtype=np.bool_)
        if not defining.any():
            plain = _plain(name.text)
            defining = np.array([plain in folded for folded in names.folded], dtype=np.bool_)
        if defining.any():
            shares = np.maximum(shares, defining * _rarity(int(defining.sum()), documents))
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
    """Analyse a defined name, without its qualifiers, or a heading."""
    if " " in name:
        parts = list(dict.fromkeys(stem(word) for word in words(name) if word not in STOP_WORDS))
        return _Name(name, _plain(name), _keys(parts[:MAX_NAME_TERMS]), term_key("".join(parts)))
    bare = _QUALIFIER.split(name.strip(_EDGE))[-1]
    found = words(bare)
    if len(found) > 1 and found[-1] == _plain(bare):
        found = found[:-1]
    parts = list(dict.fromkeys(map(stem, found)))
    return _Name(bare, _plain(bare), _keys(parts[:MAX_NAME_TERMS]), term_key("".join(parts)))


@lru_cache(maxsize=8_192)
def _path(path: str) -> _Path:
    bare = _EXTENSION.sub("", path)
    folder, _, own = bare.rpartition("/")
    if own in _FOLDERS_OWN and folder:
        own = folder.rpartition("/")[2]
    return _Path(_plain(own), _keys(dict.fromkeys(_terms(own))), _keys(_terms(bare)))


def _terms(text: str) -> list[str]:
    return [stem(word) for word in words(text)]


def _keys(terms: Iterable[str]) -> tuple[int, ...]:
    return tuple(map(term_key, terms))


def _plain(name: str) -> str:
    """Fold a name and take its separators off."""
    return "".join(c for c in fold(name) if c.isalnum())


def _flat(keys: Sequence[Sequence[int]]) -> tuple[Keys, Indices]:
    """Put the keys of all groups behind one another, and say which group each is of."""
    flat = np.array([key for group in keys for key in group], dtype=np.uint32)
    return flat, np.repeat(np.arange(len(keys)), [len(group) for group in keys])
