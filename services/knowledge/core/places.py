"""Where a text lies in a derived tree, and what lies at a place (pure).

`kb/{base}/{item}/{revision}/_{title}_.md`. The ids are written in letters alone: an id in hexadecimal would give the
index dozens of terms, and a question with a number in it would find them. The title is a name that no rule for files
trips over: underscores around it keep it apart from every name that is denied, left out or judged.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from msgspec import Struct

from shared.deny import DenyList
from shared.exclusions import excluded_file
from shared.kinds import extension_of

FOLDER = "kb"  # named in the tree's configuration, so that no ignore file of the surroundings hides it
MAX_SLUG_BYTES = 120
DEFAULT_EXTENSION = "md"
PATHS_KEPT = (
    65_536  # every path of a space is asked for after each change in it; the rules for names cost 50 microseconds
)

_HEX, _LETTERS = "0123456789abcdef", "abcdefghijklmnop"
_TO_LETTERS = str.maketrans(_HEX, _LETTERS)
_TO_HEX = str.maketrans(_LETTERS, _HEX)
_ID = re.compile(r"([a-z]+)_([a-p]+)")
_UNWORDED = re.compile(r"[\W_]+")
_DENIED = DenyList()


class Place(Struct, frozen=True, order=True):
    """One text of a derived tree."""

    base: str  # id
    item: str  # id
    revision: str  # id


def lettered(found: str) -> str:
    """Write an id in letters.

    >>> lettered("itm_0f9a")
    'itm_apjk'
    """
    prefix, _, digits = found.rpartition("_")
    return f"{prefix}_{digits.translate(_TO_LETTERS)}"


@lru_cache(maxsize=PATHS_KEPT)
def path_of(place: Place, title: str, format_name: str) -> str:
    """Give the path of a text; the same title, format and place always give the same.

    >>> path_of(Place("bas_01", "itm_0f", "rev_22"), "Reinício da fila", "markdown")
    'kb/bas_ab/itm_ap/rev_cc/_reinício-da-fila_.md'
    """
    folder = folder_of(place.base, place.item, place.revision)
    extension = extension_of(format_name) or DEFAULT_EXTENSION
    path = f"{folder}/_{slug(title)}_.{extension}"
    if excluded_file(path) is not None or _DENIED.denies(path) is not None:
        return f"{folder}/_{slug(title)}_.{DEFAULT_EXTENSION}"
    return path


def folder_of(*ids: str) -> str:
    """Give the folder of a base, of an item in it, or of a revision of that.

    >>> folder_of("bas_01", "itm_0f")
    'kb/bas_ab/itm_ap'
    """
    return "/".join((FOLDER, *map(lettered, ids)))


def place_of(path: str) -> Place | None:
    """Tell which text lies at a path; None where none of ours does.

    >>> place_of("kb/bas_ab/itm_ap/rev_cc/_x_.md")
    Place(base='bas_01', item='itm_0f', revision='rev_22')
    """
    parts = path.split("/")
    if len(parts) != 5 or parts[0] != FOLDER:
        return None
    ids = [f"{found[1]}_{found[2].translate(_TO_HEX)}" for part in parts[1:4] if (found := _ID.fullmatch(part))]
    return Place(*ids) if len(ids) == 3 else None


def slug(title: str) -> str:
    """Give the words of a title as part of a file's name."""
    text = _UNWORDED.sub("-", unicodedata.normalize("NFC", title).casefold()).strip("-")
    while len(text.encode()) > MAX_SLUG_BYTES:
        text = text[:-1]
    return text.strip("-") or "text"


def passage_in(content: str, text: str, *, start_line: int, end_line: int) -> bool:
    r"""Tell whether a passage stands in these lines: it is all of them, or of a very long line a piece.

    >>> passage_in("a\r\nb\nc\n", "b\nc\n", start_line=2, end_line=3)
    True
    >>> passage_in("a\nb\n", "a", start_line=2, end_line=2)
    False
    """
    lines = _normal(content.removeprefix("\ufeff")).split("\n")[start_line - 1 : end_line]
    wanted = _normal(text).removesuffix("\n")
    return bool(wanted) and wanted in "\n".join(lines)


def _normal(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
