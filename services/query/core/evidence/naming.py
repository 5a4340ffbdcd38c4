"""How well what a file is called and what it defines match the question (pure).

Code is found by names: the file's, its folders', those of functions, classes and headings in it. Each measure takes
all files at once and gives a share of the best possible for each, 0..1.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Final

import numpy as np
from msgspec import Struct

from services.query.core.evidence.asked import Asked
from services.query.core.evidence.hashed import Hashes, Indices, Numbers
from services.query.core.evidence.lexicon import Keys
from services.query.core.evidence.name_book import NameBook, PathBook, Spellings, plain_name, spelling_of, spellings_of
from services.query.core.evidence.tokens import Weights
from services.query.core.evidence.wording import Shares, items

UNASKED_WORTH: Final = math.log(100.0)
"""What a term of a name that was not asked is taken to be worth: as if one text in a hundred had it. Looking each one
up instead is no better (NDCG within .003)."""

MAX_NAMES: Final = 200  # of one file
JOINED_BONUS: Final = 0.25  # of each term beyond two that a joined name consists of


class Names(Struct, frozen=True, kw_only=True):
    """The names of several files: distinct names, one file after the other, and the keys of their terms."""

    file: Indices  # of each name
    term_keys: Keys  # distinct terms of each name, one name after the other
    term_name: Indices  # which name each is of
    sizes: Weights  # terms of each name
    joined: Hashes  # each name's terms as one
    exact: Spellings  # each name as written
    plain: Spellings  # each name folded, separators off
    stem_keys: Keys  # distinct terms of each file's own name, without its extension
    stem_file: Indices
    path_keys: Keys  # terms of each whole path, with repeats
    path_file: Indices
    file_names: Spellings  # by file: its own name, folded, separators off

    @property
    def files(self) -> int:
        """How many files there are."""
        return len(self.file_names)


def names_of(names: NameBook, defined: Numbers, file: Indices, paths: PathBook, path: Numbers) -> Names:
    """Give the names of files.

    Args:
        names: has all names.
        defined: names by their number, with repeats.
        file: which file defines each.
        paths: has the paths of the files.
        path: of each file, by its number.
    """
    number, file = _distinct(defined, file)
    terms, sizes = names.terms(number)
    own, own_sizes = paths.own(path)
    whole, whole_sizes = paths.whole(path)
    files = np.arange(len(path))
    return Names(
        file=file,
        term_keys=terms,
        term_name=np.repeat(np.arange(len(number)), sizes),
        sizes=sizes.astype(np.float64),
        joined=names.joined(number),
        exact=names.exact(number),
        plain=names.plain(number),
        stem_keys=own,
        stem_file=np.repeat(files, own_sizes),
        path_keys=whole,
        path_file=np.repeat(files, whole_sizes),
        file_names=paths.plain(path),
    )


def _distinct(number: Numbers, file: Indices) -> tuple[Indices, Indices]:
    """Give each name of a file once, of a file with too many the first."""
    wide = int(number.max(initial=0)) + 1
    cells, first = np.unique(file * wide + number, return_index=True)
    of_cell, name = np.divmod(cells, wide)
    if np.bincount(of_cell).max(initial=0) > MAX_NAMES:
        order = np.lexsort((first, of_cell))
        place = np.arange(len(order)) - np.searchsorted(of_cell, of_cell)
        is_kept = order[place < MAX_NAMES]
        return name[is_kept], of_cell[is_kept]
    return name, of_cell


def name_overlap(names: Names, asked: Asked) -> Shares:
    """Give, for the best name each file defines, how much of it was asked times how much of the question it is."""
    worth, hits = _worth_of(names.term_keys, names.term_name, len(names.sizes), asked)
    of_name = worth / np.maximum(worth + UNASKED_WORTH * (names.sizes - hits), 1e-9)
    best = np.zeros(names.files)
    np.maximum.at(best, names.file, of_name * np.minimum(1.0, worth / asked.stems.total))
    return best


def file_name_overlap(names: Names, asked: Asked) -> Shares:
    """Give the same for the file's own name, as a geometric mean."""
    files = names.files
    worth, hits = _worth_of(names.stem_keys, names.stem_file, files, asked)
    unasked = np.bincount(names.stem_file, minlength=files) - hits
    of_name = worth / np.maximum(worth + UNASKED_WORTH * unasked, 1e-9)
    return np.sqrt(of_name * np.minimum(1.0, worth / asked.stems.total))


def path_overlap(names: Names, asked: Asked) -> Shares:
    """Give the share of the question's worth that stands in the path."""
    worth, _ = _worth_of(names.path_keys, names.path_file, names.files, asked)
    return worth / asked.stems.total


def file_name_asked(names: Names, asked: Asked) -> Shares:
    """Give how certainly a word of the question is the file's whole name."""
    shares = np.zeros(names.files)
    for name in asked.names:
        is_it = names.file_names == spelling_of(plain_name(name.text))
        shares[is_it] = np.maximum(shares[is_it], name.certainty)
    return shares


def definition_asked(names: Names, asked: Asked, documents: int, certainties: Collection[float]) -> Shares:
    """Give how rare the definition is that a word of the question names: as written, else folded.

    Args:
        names: of the candidates' files.
        asked: the question; only its names of these certainties are looked at.
        documents: of the index.
        certainties: CERTAIN, MAYBE or BARELY.
    """
    shares = np.zeros(names.files)
    texts = [name.text for name in asked.names if name.certainty in certainties]
    exact, plain = spellings_of(texts), spellings_of(list(map(plain_name, texts)))
    is_exact, is_plain = names.exact == exact[:, None], names.plain == plain[:, None]
    is_written = is_exact.any(axis=1)
    for asked_name in np.flatnonzero(is_plain.any(axis=1) | is_written).tolist():
        defining = (is_exact if is_written[asked_name] else is_plain)[asked_name]
        files = np.unique(names.file[defining])
        shares[files] = np.maximum(shares[files], _rarity(len(files), documents))
    return shares


def joined_name(names: Names, asked: Asked, documents: int) -> Shares:
    """Give how rare the defined name is that two to four neighbouring words of the question spell together."""
    shares = np.zeros(names.files)
    is_joined = names.joined == asked.joined[:, None]
    for found in np.flatnonzero(is_joined.any(axis=1)).tolist():
        files = np.unique(names.file[is_joined[found]])
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
