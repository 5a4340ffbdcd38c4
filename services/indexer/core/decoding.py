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
_MIN_PRINTABLE_SHARE = 0.95
_SHORT_CHARS = 64  # a single word needs no blank
# Above this, Latin-1 would be a guess about bytes that mean something else.
_MAX_HIGH_SHARE = 0.30

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
    """Decode a whole file. A byte order mark is believed; then UTF-16/32 by their NULs, UTF-8, CP1252, Latin-1.

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
    if b"\0" in data:
        return Refused(Refusal.BINARY, "NUL bytes")
    text = _strict(data, "utf-8")
    if text is not None:
        return _accepted(text, "utf-8", had_bom=False)
    return _single_byte(data)


def _single_byte(data: bytes) -> Decoded | Refused:
    sample = data[:_SAMPLE_BYTES]
    high = sum(byte >= 0x80 for byte in sample)
    if high > len(sample) * _MAX_HIGH_SHARE:
        return Refused(Refusal.UNDECODABLE, "no Unicode, and too many bytes above 127 for a Western encoding")
    for encoding in ("cp1252", "latin-1"):
        text = _strict(data, encoding)
        if text is not None:
            return _accepted(text, encoding, had_bom=False)
    return Refused(Refusal.UNDECODABLE, "no known encoding")


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _accepted(text: str, encoding: str, *, had_bom: bool) -> Decoded | Refused:
    sample = text[:_SAMPLE_BYTES]
    if "\0" in text:
        return Refused(Refusal.BINARY, "NUL characters")
    if len(_CONTROLS.findall(sample)) > len(sample) * _MAX_CONTROL_SHARE:
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
