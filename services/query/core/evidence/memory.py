"""What was read so far of passages, names and paths, so that a question is answered by arrays alone (pure but for this).

A passage is read once: the numbers of its words and of the names it defines are kept, 4 bytes each, beside what is
known of each word and name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
from msgspec import Struct

from services.query.core.evidence.growing import Growing, Runs
from services.query.core.evidence.hashed import Hashes, HashTable, Indices, Numbers
from services.query.core.evidence.lexicon import Lexicon
from services.query.core.evidence.name_book import NameBook, PathBook
from services.query.core.evidence.tokens import Sizes, Tokens, sizes_of, tokens_of

_HEADING_LINE: Final = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)


class Readable(Protocol):
    """What is read of a passage."""

    @property
    def heading(self) -> str:
        """What it stands under: titles, or what it is a part of."""

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names defined in it."""

    @property
    def text(self) -> str:
        """The text itself."""


class Excerpt(Struct, frozen=True, kw_only=True):
    """A passage of which no more is known than what is read."""

    heading: str
    symbols: tuple[str, ...]
    text: str


class Recalled(Struct, frozen=True):
    """What is known of passages, in their order."""

    tokens: Tokens
    names: Numbers  # that they define or stand under, one passage after the other
    passage: Indices  # of each name


class Memory:
    """Reads what it did not read before; for one thread at a time."""

    def __init__(self) -> None:
        self.forget()

    @property
    def passages(self) -> int:
        """How many passages it knows."""
        return self._telling.size

    @property
    def bytes(self) -> int:
        """What it takes."""
        kept = (self._lexicon, self.names, self.paths, self._rows, self._words, self._names, self._telling, self._grams)
        return sum(part.bytes for part in kept)

    def recall(self, passages: Sequence[Readable], is_prose: Sequence[bool]) -> Recalled:
        """Give what is known of passages, of which files of prose have some."""
        row = self._read(passages, is_prose)
        number, tokens = self._words.of(row)
        sizes = Sizes(tokens, self._telling.held[row].astype(np.intp), self._grams.held[row].astype(np.intp))
        names, counts = self._names.of(row)
        return Recalled(tokens_of(self._lexicon, number, sizes), names, np.repeat(np.arange(len(row)), counts))

    def read(self, passages: Sequence[Readable], is_prose: Sequence[bool]) -> None:
        """Read passages that will be asked for."""
        self._read(passages, is_prose)

    def forget(self) -> None:
        """Give all memory back; what was given out stays as it is."""
        self._lexicon = Lexicon()
        self.names, self.paths = NameBook(self._lexicon), PathBook(self._lexicon)
        self._rows = HashTable()
        self._words, self._names = Runs(np.int32), Runs(np.int32)
        self._telling, self._grams = Growing(np.int32), Growing(np.int32)

    def _read(self, passages: Sequence[Readable], is_prose: Sequence[bool]) -> Numbers:
        row, new = self._rows.assign(_keys_of(passages, is_prose))
        if len(new):
            places = new.tolist()
            self._add([passages[place] for place in places], [is_prose[place] for place in places])
        return row

    def _add(self, passages: Sequence[Readable], is_prose: Sequence[bool]) -> None:
        number, tokens = self._lexicon.read([f"{passage.heading}\n{passage.text}" for passage in passages])
        sizes = sizes_of(self._lexicon, number, tokens)
        self._words.add(number, tokens)
        self._telling.add(sizes.telling)
        self._grams.add(sizes.grams)
        named = [names_in(passage, is_prose=prose) for passage, prose in zip(passages, is_prose, strict=True)]
        names = self.names.read([name for names in named for name in names])
        self._names.add(names, np.array(list(map(len, named)), dtype=np.intp))


def names_in(passage: Readable, *, is_prose: bool) -> list[str]:
    """Give the names that a passage defines or stands under, each once."""
    if is_prose:
        lines = _HEADING_LINE.findall(passage.text) if "#" in passage.text else ()
        names = dict.fromkeys((*passage.heading.split(" > "), *lines))
    else:
        names = dict.fromkeys((*passage.heading.split("."), *passage.symbols))
    return [name for name in names if name]


def _keys_of(passages: Sequence[Readable], is_prose: Sequence[bool]) -> Hashes:
    """Give 64 bits of all that is read of each passage, other ones in each process: none stands for another.

    The address of a passage will not do: it is that of the text as embedded, where links have lost their targets.
    """
    keys = [
        hash((passage.text, passage.heading, passage.symbols, prose))
        for passage, prose in zip(passages, is_prose, strict=True)
    ]
    return np.maximum(np.array(keys, dtype=np.int64).view(np.uint64), np.uint64(1))
