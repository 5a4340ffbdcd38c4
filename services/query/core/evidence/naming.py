"""How well what a file is called and what it defines match the question (pure).

Code is found by names: the file's, its folders', those of functions, classes and headings in it. Each measure takes
all files at once and gives a share of the best possible for each, 0..1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from services.query.core.evidence.asked import Asked
from services.query.core.evidence.tokens import Indices, Keys
from services.query.core.evidence.wording import Shares, items
from shared.analyzer import fold, stem, words
from shared.profile import term_key
from shared.stopwords import STOP_WORDS

UNASKED_WORTH: Final = math.log(100.0)
"""What a term of a name that was not asked is taken to be worth: as if one text in a hundred had it. Looking each one
up instead is no better (NDCG within .003)."""

MAX_NAME_TERMS: Final = 9
JOINED_BONUS: Final = 0.25  # of each term beyond two that a joined name consists of

_EXTENSION: Final = re.compile(r"\.\w+$")
_QUALIFIER: Final = re.compile(r"[.:]+")
_EDGE: Final = "$?!.: "


class FileNames(Struct, frozen=True, kw_only=True):
    """The names of one file as keys; made once, remembered."""

    stem_keys: Keys  # distinct terms of the file's name, without its extension
    path_keys: Keys  # terms of the whole path, with repeats
    file_name: str  # folded, separators off
    term_keys: Keys  # distinct terms of each defined name, one name after the other
    term_name: Indices  # which name each is of
    sizes: npt.NDArray[np.float64]  # terms of each name
    joined: Keys  # each name's parts as one term
    exact: frozenset[str]  # each name as written
    folded: frozenset[str]  # each name folded, separators off
    all_name_keys: Keys  # terms of all names, with repeats


def file_names(path: str, names: str) -> FileNames:
    """Analyse the names of one file: its path, and what it defines, one a line."""
    return _file_names(path, names)


@lru_cache(maxsize=8_192)
def _file_names(path: str, names: str) -> FileNames:
    bare = _EXTENSION.sub("", path)
    defined = [_defined(name) for name in names.split("\n") if name]
    term_keys = [_keys(terms[:MAX_NAME_TERMS]) for _, terms in defined]
    return FileNames(
        stem_keys=_keys(list(dict.fromkeys(_terms(bare.rpartition("/")[2])))),
        path_keys=_keys(_terms(bare)),
        file_name=_plain(bare.rpartition("/")[2]),
        term_keys=_concatenated(term_keys),
        term_name=np.repeat(np.arange(len(defined)), [len(keys) for keys in term_keys]).astype(np.intp),
        sizes=np.array([len(keys) for keys in term_keys], dtype=np.float64),
        joined=_keys(["".join(terms) for _, terms in defined]),
        exact=frozenset(name for name, _ in defined),
        folded=frozenset(_plain(name) for name, _ in defined),
        all_name_keys=_concatenated([_keys(_terms(name)) for name, _ in defined]),
    )


def name_overlap(files: Sequence[FileNames], asked: Asked) -> Shares:
    """Give, for the best name each file defines, how much of it was asked times how much of the question it is."""
    names = np.array([len(file.sizes) for file in files], dtype=np.intp)
    first = np.cumsum(names) - names
    keys = _concatenated([file.term_keys for file in files])
    name = np.concatenate([_NONE, *(file.term_name + start for file, start in zip(files, first, strict=True))])
    sizes = np.concatenate([np.empty(0), *(file.sizes for file in files)])
    worth, hits = _worth_of(keys, name, int(names.sum()), asked)
    of_name = worth / np.maximum(worth + UNASKED_WORTH * (sizes - hits), 1e-9)
    best = np.zeros(len(files))
    share = of_name * np.minimum(1.0, worth / asked.stems.total)
    np.maximum.at(best, np.repeat(np.arange(len(files)), names), share)
    return best


def file_name_overlap(files: Sequence[FileNames], asked: Asked) -> Shares:
    """Give the same for the file's own name, as a geometric mean."""
    keys, file = _flat([each.stem_keys for each in files])
    worth, hits = _worth_of(keys, file, len(files), asked)
    unasked = np.array([len(each.stem_keys) for each in files]) - hits
    of_name = worth / np.maximum(worth + UNASKED_WORTH * unasked, 1e-9)
    return np.sqrt(of_name * worth / asked.stems.total)


def path_overlap(files: Sequence[FileNames], asked: Asked) -> Shares:
    """Give the share of the question's worth that stands in the path."""
    keys, file = _flat([each.path_keys for each in files])
    worth, _ = _worth_of(keys, file, len(files), asked)
    return worth / asked.stems.total


def file_name_asked(files: Sequence[FileNames], asked: Asked) -> Shares:
    """Give how certainly a word of the question is the file's whole name."""
    certainty: dict[str, float] = {}
    for name in asked.names:
        certainty[_plain(name.text)] = max(name.certainty, certainty.get(_plain(name.text), 0.0))
    return np.array([certainty.get(file.file_name, 0.0) for file in files])


def definition_asked(files: Sequence[FileNames], asked: Asked, documents: int, certainty: float) -> Shares:
    """Give how rare the definition is that a word of the question names: as written, else folded.

    Args:
        files: the candidates' files.
        asked: the question; only its names of this `certainty` are looked at.
        documents: of the index.
        certainty: CERTAIN, MAYBE or BARELY.
    """
    shares = np.zeros(len(files))
    for name in asked.names:
        if name.certainty != certainty:
            continue
        defining = np.array([name.text in file.exact for file in files], dtype=np.bool_)
        if not defining.any():
            plain = _plain(name.text)
            defining = np.array([plain in file.folded for file in files], dtype=np.bool_)
        if defining.any():
            shares = np.maximum(shares, defining * _rarity(int(defining.sum()), documents))
    return shares


def joined_name(files: Sequence[FileNames], asked: Asked, documents: int) -> Shares:
    """Give how rare the defined name is that two to four neighbouring words of the question spell together."""
    shares = np.zeros(len(files))
    keys, file = _flat([each.joined for each in files])
    place, of_key = np.nonzero(keys[:, None] == asked.joined[None, :])
    for found in np.unique(of_key):
        of_files = np.unique(file[place[of_key == found]])
        bonus = 1.0 + JOINED_BONUS * float(asked.joined_terms[found] - 2)
        shares[of_files] = np.maximum(shares[of_files], bonus * _rarity(len(of_files), documents))
    return shares


def _worth_of(keys: Keys, group: Indices, groups: int, asked: Asked) -> tuple[Shares, Shares]:
    """Sum the worth of the distinct items asked that each group of keys has, and count them."""
    item = items(keys, asked.stems)
    wide = len(asked.stems.worth)
    has = np.zeros(groups * wide)
    has[group[item >= 0] * wide + item[item >= 0]] = 1.0
    table = has.reshape(groups, wide)
    return table @ asked.stems.worth, table.sum(axis=1)


def _flat(keys: Sequence[Keys]) -> tuple[Keys, Indices]:
    """Put the keys of all files behind one another, and say which file each is of."""
    return _concatenated(keys), np.repeat(np.arange(len(keys)), [len(of_file) for of_file in keys])


def _rarity(files: int, documents: int) -> float:
    """Say how rare a name is that so many of the candidates' files define, 1 for a single one."""
    return math.log(1.0 + documents / files) / math.log(1.0 + documents)


def _defined(name: str) -> tuple[str, list[str]]:
    """Give a defined name without its qualifiers, and the distinct terms of its parts."""
    is_identifier = " " not in name
    bare = _QUALIFIER.split(name.strip(_EDGE))[-1] if is_identifier else name
    if not is_identifier:
        return name, list(dict.fromkeys(stem(word) for word in words(name) if word not in STOP_WORDS))
    parts = words(bare)
    whole = _plain(bare)
    if len(parts) > 1 and parts[-1] == whole:
        parts = parts[:-1]
    return bare, list(dict.fromkeys(map(stem, parts)))


def _terms(text: str) -> list[str]:
    return [stem(word) for word in words(text)]


def _keys(terms: Sequence[str]) -> Keys:
    return np.array([term_key(term) for term in terms], dtype=np.uint32)


def _plain(name: str) -> str:
    """Fold a name and take its separators off."""
    return "".join(c for c in fold(name) if c.isalnum())


_NONE: Final = np.empty(0, dtype=np.intp)


def _concatenated(keys: Sequence[Keys]) -> Keys:
    return np.concatenate([*keys, np.empty(0, dtype=np.uint32)])
