"""Does a passage still stand in its file, and where (pure).

The index may be a moment behind the disk. What is shown is never older than the file: lines that hold the same text
stay, text that moved gets its new lines, text that is gone is left out.
"""

from __future__ import annotations

import codecs

from msgspec import Struct

MIN_PART_OF_LINE_CHARS = 200
"""A passage that is a piece of a very long line is found inside it; a short one must fill its lines."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Lines(Struct, frozen=True, kw_only=True):
    """A span of lines."""

    start: int  # 1-based, inclusive
    end: int


def readable_text(data: bytes) -> str:
    """Decode a file for comparison: a byte order mark decides, then UTF-8, then one character a byte."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def normal_lines(text: str) -> str:
    """Give `text` with every line ending as one newline and none at the end."""
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")


def find_passage(text: str, file_text: str, at: Lines) -> Lines | None:
    r"""Find the lines of a file that hold a passage, nearest to where it stood; None when it is gone.

    >>> find_passage("b", "new\na\nb\n", Lines(start=2, end=2))
    Lines(start=3, end=3)
    """
    needle, haystack = normal_lines(text), normal_lines(file_text)
    if not needle:
        return None
    height = needle.count("\n")
    is_part_allowed = height == 0 and len(needle) >= MIN_PART_OF_LINE_CHARS
    best: Lines | None = None
    line, counted, offset = 1, 0, haystack.find(needle)
    while offset >= 0:
        line += haystack.count("\n", counted, offset)
        counted = offset
        if is_part_allowed or _fills_lines(haystack, offset, offset + len(needle)):
            found = Lines(start=line, end=line + height)
            if best is None or abs(found.start - at.start) < abs(best.start - at.start):
                best = found
        offset = haystack.find(needle, offset + 1)
    return best


def _fills_lines(text: str, start: int, end: int) -> bool:
    return (start == 0 or text[start - 1] == "\n") and (end == len(text) or text[end] == "\n")
