r"""Bytes of a file to its text, or the reason why it has none (pure).

A line ends with LF, CRLF or CR and with nothing else: not with a form feed, not with U+2028. Line ends become "\n", so
from here on a line is what stands between two "\n", and its number is the one every editor shows.
"""

from __future__ import annotations

import codecs
import re
from enum import StrEnum

from msgspec import Struct

# Enough to tell UTF-16 from text and text from noise, cheap for files of any size.
_SAMPLE_BYTES = 64 * 1024
# UTF-16 of Latin text is half NULs; of other scripts its blanks and line ends still leave some on one side only.
_MIN_NUL_SHARE = 0.02
_MAX_OTHER_NUL_SHARE = 0.001
# Tab, line ends, form feed, backspace and escape stand in logs and manual pages; the rest of C0 does not stand in text.
_CONTROLS = re.compile(r"[\x01-\x07\x0e-\x1a\x1c-\x1f\x7f]")
_MAX_CONTROL_SHARE = 0.02
_MAX_CONTROL_SHARE_UTF8 = 0.1  # noise is no valid UTF-8; key maps and terminal recordings are
_MIN_PRINTABLE_SHARE = 0.95
_SHORT_CHARS = 64  # a single word needs no blank
# Western text has single accented letters among ASCII ones; other scripts and noise have long rows of high bytes.
_HIGH = re.compile(rb"[\x80-\xff]")
_LONG_HIGH = re.compile(rb"[\x80-\xff]{3,}")
_MAX_LONG_HIGH_SHARE = 0.3
_MAX_HIGH_SHARE = 0.3
_ENOUGH_BYTES = 64  # for a share to mean something
# Where files name their encoding: PEP 263 and editors' mode lines, XML, HTML, Vim.
_DECLARED = re.compile(
    rb"""\A(?:[^\n]*\n)?[^\n]*?coding[:=][ \t]*([-\w.]+)|<\?xml[^>]*?encoding=["']([-\w.]+)|<meta[^>]*?charset=["']?([-\w.]+)"""
    rb"""|^scriptencoding[ \t]+([-\w.]+)""",
    re.IGNORECASE | re.MULTILINE,
)
_DECLARATION_BYTES = 1024
# Python knows "encodings" that are none of text, such as rot13: only character sets are believed.
_CHARACTER_SET = re.compile(
    r"iso[-_]?8859[-_]?\d+|latin[-_]?\d|(cp|windows[-_]?)\d{3,4}|koi8[-_][rut]|euc[-_]\w+|s(hift)?_?jis\w*|gbk|gb2312|gb18030"
    r"|big5\w*|iso[-_]2022[-_]\w+|johab|tis[-_]?620|mac[-_]?\w+",
    re.IGNORECASE,
)

_BOMS = (  # the longer first: the UTF-16 mark begins the UTF-32 one
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Refusal(StrEnum):
    """Why bytes are no text; the values are skip reasons."""

    BINARY = "binary"
    UNDECODABLE = "undecodable"


class Decoded(Struct, frozen=True):
    r"""The text of a file, lines ended by "\n" alone."""

    text: str
    encoding: str  # as Python names it
    had_bom: bool


class Refused(Struct, frozen=True):
    """No text, and why."""

    reason: Refusal
    detail: str


def decode(data: bytes) -> Decoded | Refused:
    """Decode a whole file.

    Tried in this order: a byte order mark, UTF-16 and UTF-32 by where their NULs stand, UTF-8, what the file itself
    declares, CP1252, Latin-1.

    >>> decode("ação".encode("latin-1"))
    Decoded(text='ação', encoding='cp1252', had_bom=False)
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            text = _strict(data[len(bom) :], encoding)
            if text is None:
                return Refused(Refusal.UNDECODABLE, f"a mark of {encoding}, but not its bytes")
            return _accepted(text, encoding, had_bom=True)
    sample = data[:_SAMPLE_BYTES]
    if b"\0" in sample:
        wide = _wide_encoding(sample)
        text = _strict(data, wide) if wide is not None else None
        if wide is None or text is None:
            return Refused(Refusal.BINARY, "NUL bytes")
        return _accepted(text, wide, had_bom=False)
    text = _strict(data, "utf-8")
    if text is not None:
        return _accepted(text, "utf-8", had_bom=False)
    return _by_declaration(data) or _western(data)


def _by_declaration(data: bytes) -> Decoded | Refused | None:
    found = _DECLARED.search(data[:_DECLARATION_BYTES])
    if found is None:
        return None
    encoding = next(group for group in found.groups() if group).decode("ascii", "replace")
    if _CHARACTER_SET.fullmatch(encoding) is None:
        return None
    text = _strict(data, encoding)
    return None if text is None else _accepted(text, encoding, had_bom=False)


def _western(data: bytes) -> Decoded | Refused:
    sample = data[:_SAMPLE_BYTES]
    high = len(_HIGH.findall(sample))
    in_rows = sum(map(len, _LONG_HIGH.findall(sample)))
    too_many = high > len(sample) * _MAX_HIGH_SHARE and len(sample) >= _ENOUGH_BYTES
    if too_many or in_rows > high * _MAX_LONG_HIGH_SHARE:
        return Refused(Refusal.UNDECODABLE, "neither Unicode nor a Western encoding")
    for encoding in ("cp1252", "latin-1"):
        text = _strict(data, encoding)
        if text is not None:
            return _accepted(text, encoding, had_bom=False)
    return Refused(Refusal.UNDECODABLE, "no known encoding")


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _accepted(text: str, encoding: str, *, had_bom: bool) -> Decoded | Refused:
    sample = text[:_SAMPLE_BYTES]
    if "\0" in text:
        return Refused(Refusal.BINARY, "NUL characters")
    share = _MAX_CONTROL_SHARE_UTF8 if encoding == "utf-8" else _MAX_CONTROL_SHARE
    if len(_CONTROLS.findall(sample)) > len(sample) * share:
        return Refused(Refusal.BINARY, "control characters")
    return Decoded(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"), encoding, had_bom)


def _wide_encoding(sample: bytes) -> str | None:
    """Tell UTF-16 or UTF-32 without a mark by where its NULs stand; None for other bytes."""
    if len(sample) % 4 == 0 and len(sample) >= 8:
        lanes = [sample[offset::4].count(0) / (len(sample) // 4) for offset in range(4)]
        if lanes[2] > 0.9 and lanes[3] > 0.9 and lanes[0] < 0.1:
            return "utf-32-le"
        if lanes[0] > 0.9 and lanes[1] > 0.9 and lanes[3] < 0.1:
            return "utf-32-be"
    pairs = len(sample) // 2
    if pairs == 0:
        return None
    first, second = sample[: pairs * 2 : 2].count(0) / pairs, sample[1 : pairs * 2 : 2].count(0) / pairs
    if second > _MIN_NUL_SHARE and first <= _MAX_OTHER_NUL_SHARE and _reads_as(sample[: pairs * 2], "utf-16-le"):
        return "utf-16-le"
    if first > _MIN_NUL_SHARE and second <= _MAX_OTHER_NUL_SHARE and _reads_as(sample[: pairs * 2], "utf-16-be"):
        return "utf-16-be"
    return None


def _reads_as(sample: bytes, encoding: str) -> bool:
    """Tell whether the sample is text in a wide encoding: text has blanks or line ends and knows no control characters."""
    text = sample.decode(encoding, "ignore")
    return (
        bool(text)
        and (len(text) < _SHORT_CHARS or re.search(r"\s", text) is not None)
        and len(_CONTROLS.findall(text)) <= len(text) * _MAX_CONTROL_SHARE
        and sum(char.isprintable() or char.isspace() for char in text) >= len(text) * _MIN_PRINTABLE_SHARE
    )
