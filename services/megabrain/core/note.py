"""A note as its lines: bytes in, bytes out, and edits that touch nothing but the lines they are about (pure).

Bytes that are no UTF-8 survive as lone surrogates, line endings and a byte order mark as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

BOM = "\ufeff"


class Note(Struct, frozen=True):
    """A text file as lines, each with its own ending; the last may have none."""

    bom: str
    lines: tuple[str, ...]
    newline: str  # what its first line ends with: the ending of what is added

    @classmethod
    def parse(cls, data: bytes) -> Note:
        """Split a file; `data` comes back from `to_bytes` unchanged."""
        text = data.decode("utf-8", "surrogateescape")
        bom = BOM if text.startswith(BOM) else ""
        *whole, rest = text.removeprefix(BOM).split("\n")
        lines = (*(line + "\n" for line in whole), *([rest] if rest else []))
        newline = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
        return cls(bom, lines, newline)

    def to_bytes(self) -> bytes:
        """Join the lines again."""
        return (self.bom + "".join(self.lines)).encode("utf-8", "surrogateescape")

    def text(self) -> str:
        """Give the note as text that can be shown: valid Unicode, a line feed after each line, no byte order mark."""
        text = "".join(self.bare(at) + ("\n" if line.endswith("\n") else "") for at, line in enumerate(self.lines))
        return text.encode("utf-8", "replace").decode()

    def bare(self, at: int) -> str:
        """Give a line without its ending."""
        return self.lines[at].rstrip("\r\n")

    def is_blank(self, at: int) -> bool:
        """Tell whether a line holds nothing; beyond the ends there is nothing either."""
        return not 0 <= at < len(self.lines) or not self.lines[at].strip()

    def with_lines(self, start: int, end: int, new: Sequence[str]) -> Note:
        """Put `new` (without endings) in the place of the lines from `start` to before `end`."""
        added = [line + self.newline for line in new]
        before = list(self.lines[:start])
        if added and before and not before[-1].endswith("\n"):
            before[-1] += self.newline
        return Note(self.bom, (*before, *added, *self.lines[end:]), self.newline)

    def with_line(self, at: int, text: str) -> Note:
        """Replace the text of one line; its ending stays."""
        ending = self.lines[at][len(self.bare(at)) :]
        return Note(self.bom, (*self.lines[:at], text + ending, *self.lines[at + 1 :]), self.newline)

    def with_block(self, at: int, block: Sequence[str]) -> Note:
        """Insert a block before line `at`, a blank line before it and after it where there is text."""
        before = [""] if at > 0 and not self.is_blank(at - 1) else []
        after = [""] if not self.is_blank(at) else []
        return self.with_lines(at, at, [*before, *block, *after])

    def last_text(self, start: int, end: int) -> int:
        """Give the place after the last line with text in a range; `start` if it holds none."""
        while end > start and self.is_blank(end - 1):
            end -= 1
        return end
