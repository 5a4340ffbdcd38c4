"""The names and paths met so far, analysed once, as arrays (pure but for this memory).

A file, a heading or a definition is a candidate of many questions, and reading one takes longer than comparing it.
Names are known by 64 bits of Python's hash: another one in each process, so that nobody makes one stand for another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from services.query.core.evidence.growing import Growing, Runs
from services.query.core.evidence.hashed import Hashes, HashTable, Indices, Numbers
from services.query.core.evidence.lexicon import Keys, Lexicon
from services.query.core.evidence.tokens import Tokens, analyse
from shared.analyzer import fold

Spellings = npt.NDArray[np.int64]  # `spelling_of` names

MAX_NAME_TERMS: Final = 9

_EXTENSION: Final = re.compile(r"\.\w+$")
_QUALIFIER: Final = re.compile(r"[.:]+")
# What languages call the file that stands for its folder.
_FOLDERS_OWN: Final = frozenset({"__init__", "index", "init", "mod", "package-info"})
_EDGE: Final = "$?!.: "


class _Name(Struct, frozen=True):
    """One name, without its qualifiers."""

    exact: str
    plain: str  # folded, separators off


class _Path(Struct, frozen=True):
    """One path without its extension, and the file's own name."""

    bare: str
    own: str


class NameBook:
    """Gives names numbers, and tells by them what is known of each; for one thread at a time."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._numbers = HashTable()
        self._exact, self._plain, self._joined = Growing(np.int64), Growing(np.int64), Growing(np.uint64)
        self._terms = Runs(np.uint32)

    @property
    def bytes(self) -> int:
        """What it takes."""
        return sum(part.bytes for part in (self._numbers, self._exact, self._plain, self._joined, self._terms))

    def read(self, names: Sequence[str]) -> Numbers:
        """Give the number of each name."""
        number, new = self._numbers.assign(hashes_of_strings(names))
        if len(new):
            self._add([_name(names[place]) for place in new.tolist()])
        return number

    def terms(self, number: Indices) -> tuple[Keys, Indices]:
        """Give the keys of the distinct terms of each name, one name after the other, and how many each has."""
        return self._terms.of(number)

    def exact(self, number: Indices) -> Spellings:
        """Give the names as they were written."""
        return self._exact.held[number]

    def plain(self, number: Indices) -> Spellings:
        """Give the names folded, separators off."""
        return self._plain.held[number]

    def joined(self, number: Indices) -> Hashes:
        """Give each name's terms as one."""
        return self._joined.held[number]

    def _add(self, names: Sequence[_Name]) -> None:
        terms, sizes, joined = _terms_of_names(analyse([name.exact for name in names], self._lexicon), names)
        self._terms.add(terms, sizes)
        self._joined.add(joined)
        self._exact.add(spellings_of([name.exact for name in names]))
        self._plain.add(spellings_of([name.plain for name in names]))


class PathBook:
    """Gives paths numbers, and tells by them what is known of each; for one thread at a time."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._numbers = HashTable()
        self._own, self._whole = Runs(np.uint32), Runs(np.uint32)
        self._plain = Growing(np.int64)

    @property
    def bytes(self) -> int:
        """What it takes."""
        return sum(part.bytes for part in (self._numbers, self._own, self._whole, self._plain))

    def read(self, paths: Sequence[str]) -> Numbers:
        """Give the number of each path."""
        number, new = self._numbers.assign(hashes_of_strings(paths))
        if len(new):
            self._add([_path(paths[place]) for place in new.tolist()])
        return number

    def own(self, number: Numbers) -> tuple[Keys, Indices]:
        """Give the keys of the distinct terms of each file's own name, without its extension, and how many it has."""
        return self._own.of(number)

    def whole(self, number: Numbers) -> tuple[Keys, Indices]:
        """Give the keys of the terms of each path, with repeats, and how many it has."""
        return self._whole.of(number)

    def plain(self, number: Numbers) -> Spellings:
        """Give the files' own names, folded, separators off."""
        return self._plain.held[number]

    def _add(self, paths: Sequence[_Path]) -> None:
        tokens = analyse([*(path.own for path in paths), *(path.bare for path in paths)], self._lexicon)
        text, keys = tokens.text, tokens.stems[tokens.word]
        owns = int(np.searchsorted(text, len(paths)))
        is_first = _is_first(text[:owns], keys[:owns])
        self._own.add(keys[:owns][is_first], np.bincount(text[:owns][is_first], minlength=len(paths)))
        self._whole.add(keys[owns:], tokens.sizes.tokens[len(paths) :])
        self._plain.add(spellings_of([plain_name(path.own) for path in paths]))


def spelling_of(name: str) -> int:
    """Give the 64 bits by which a spelling is known."""
    return hash(name)


def spellings_of(names: Sequence[str]) -> Spellings:
    """Give `spelling_of` many names."""
    return np.array(list(map(hash, names)), dtype=np.int64)


def hashes_of_strings(strings: Sequence[str]) -> Hashes:
    """Give 64 bits of each string, never 0."""
    return np.maximum(spellings_of(strings).view(np.uint64), np.uint64(1))


def plain_name(name: str) -> str:
    """Fold a name and take its separators off."""
    folded = fold(name)
    return folded if folded.isalnum() else "".join(filter(str.isalnum, folded))


def _terms_of_names(tokens: Tokens, named: Sequence[_Name]) -> tuple[Keys, Indices, Hashes]:
    """Give the first distinct terms of each name, how many it has of them, and all its distinct terms as one.

    A heading's stop words do not count, nor the whole of a compound beside its parts.
    """
    text, word = tokens.text, tokens.word
    is_heading = np.array([" " in name.exact for name in named], dtype=np.bool_)
    chars = np.array([len(name.plain) for name in named], dtype=np.intp)
    is_last = np.ones(len(text), dtype=np.bool_)
    is_last[:-1] = text[:-1] != text[1:]
    is_whole = is_last & (tokens.sizes.tokens > 1)[text] & (tokens.chars[word] == chars[text])
    counted = np.flatnonzero(np.where(is_heading[text], tokens.tells, ~is_whole))
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


def _name(name: str) -> _Name:
    bare = name if " " in name else _QUALIFIER.split(name.strip(_EDGE))[-1]
    return _Name(bare, plain_name(bare))


def _path(path: str) -> _Path:
    bare = _EXTENSION.sub("", path)
    folder, _, own = bare.rpartition("/")
    if own in _FOLDERS_OWN and folder:
        own = folder.rpartition("/")[2]
    return _Path(bare, own)
