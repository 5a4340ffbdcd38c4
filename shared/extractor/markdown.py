r"""Markdown as the readers write it: what a document says can make no heading, fence or table of its own.

Addresses are headings of the second level, such as `## Page 3`; a document's own headings stand below them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from shared.document_address import SEPARATOR, looks_like_address

_BLANKS = re.compile(r"[ \t\r\f\v\u00a0\u2000-\u200b\u202f\u205f\u3000]+")
_UNSHOWN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufeff\ufffe\uffff\ud800-\udfff]")
_STRUCTURE = re.compile(r"(?=#{1,6}(?:[ \t]|$)|`{3}|~{3}|(?:=+|-{2,})[ \t]*$)")
MAX_LEVEL = 6
_GAP_BYTES = 2  # the empty line between two blocks
ADDRESS_LEVEL = 2
MAX_HEADING_CHARS = 120  # a longer one would take the room of the address in a passage's path of headings


class Full(Exception):  # noqa: N818  # no error: what is there stays
    """The text has reached its limit."""


class Page:
    """A growing Markdown text that ends at a limit."""

    def __init__(self, limit_bytes: int) -> None:
        self._blocks: list[str] = []
        self._room = limit_bytes

    def heading(self, level: int, text: str) -> None:
        """Begin a section; a heading without words is none."""
        words = one_line(text).replace(SEPARATOR, " › ")
        if level != ADDRESS_LEVEL and (len(words) > MAX_HEADING_CHARS or looks_like_address(words)):
            self.text(words)
            return
        is_said = bool(self._blocks) and self._blocks[-1].lstrip("#") == f" {words}"  # the title, once more
        if words and not is_said:
            self._add(f"{'#' * min(level, MAX_LEVEL)} {words}")

    def text(self, text: str) -> None:
        """Add a paragraph; its line ends are kept."""
        lines = (escaped(line) for line in plain(text).split("\n"))
        self._add("\n".join(line for line in lines if line))

    def items(self, items: Sequence[tuple[int, str, str]]) -> None:
        """Add a list of (depth from 0, mark, text)."""
        self._add("\n".join(f"{'  ' * depth}{mark} {one_line(text)}" for depth, mark, text in items if one_line(text)))

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Add a table; its first row is the header."""
        cells = [[one_line(cell).replace("|", r"\|") for cell in row] for row in rows]
        width = max((_width(row) for row in cells), default=0)
        if width == 0:
            return
        lines = [f"| {' | '.join((row + [''] * width)[:width])} |" for row in cells if _width(row)]
        self._add("\n".join((lines[0], "|" + " --- |" * width, *lines[1:])))

    def __str__(self) -> str:
        return "\n\n".join(self._blocks) + "\n" if self._blocks else ""

    def _add(self, block: str) -> None:
        size = len(block.encode("utf-8")) + _GAP_BYTES
        is_full = size > self._room
        if is_full:
            block = _beginning(block, self._room - _GAP_BYTES)
        if block:
            self._room -= size
            self._blocks.append(block)
        if is_full:
            raise Full


def _beginning(block: str, room: int) -> str:
    """Give as many whole lines of a block as fit; of a single line as many words."""
    kept = block.encode("utf-8")[: max(room, 0)].decode("utf-8", "ignore")
    return kept.rpartition("\n" if "\n" in kept else " ")[0].rstrip()


def plain(text: str) -> str:
    """Give text without what nobody sees, each run of blanks as one."""
    return _BLANKS.sub(" ", _UNSHOWN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def one_line(text: str) -> str:
    """Give text as one line."""
    return " ".join(plain(text).split())


def escaped(line: str) -> str:
    r"""Give a line that is no structure.

    >>> escaped("## Page 9")
    '\\## Page 9'
    """
    line = line.strip()
    return "\\" + line if _STRUCTURE.match(line) else line


def _width(row: Sequence[str]) -> int:
    return max((column for column, cell in enumerate(row, start=1) if cell), default=0)
