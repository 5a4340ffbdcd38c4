r"""Project paths as text: "/" separated, relative to the root, and reversible to the bytes on disk (pure).

File names are bytes; messages, JSON and SQLite want text. Valid UTF-8 stays as it is; a backslash becomes `\\`, and every
byte that is not valid UTF-8 or belongs to a control character becomes `\xHH`. So each name has exactly one spelling,
a path never breaks a line, and NFC and NFD forms stay two names. The root itself is "".
"""

from __future__ import annotations

import re
from typing import NewType

RelPath = NewType("RelPath", str)

ROOT = RelPath("")

# Control characters (C0, DEL, C1), the backslash, and the lone surrogates that "surrogateescape" makes of foreign bytes.
_NOT_PLAIN = re.compile(r"[\x00-\x1f\x7f-\x9f\\\udc80-\udcff]")
_ESCAPE = re.compile(rb"\\(?:\\|x([0-9a-fA-F]{2}))")


def encode_path(raw: bytes) -> RelPath:
    r"""Give the one text form of a path's bytes.

    >>> encode_path(b"notas/a\xc3\xa7\xc3\xa3o.md")
    'notas/ação.md'
    >>> encode_path(b"bad\xff.txt")
    'bad\\xff.txt'
    """
    text = raw.decode("utf-8", "surrogateescape")
    if _NOT_PLAIN.search(text) is None:
        return RelPath(text)
    return RelPath(_NOT_PLAIN.sub(_escape, text))


def decode_path(path: str) -> bytes:
    r"""Give the bytes of a path: the inverse of `encode_path`.

    A backslash that begins no escape stands for itself, so a path typed by a person works as it is; bytes the
    operating system handed over as lone surrogates come out unchanged. Any other lone surrogate raises
    `UnicodeEncodeError`, a `ValueError`.

    >>> decode_path("bad\\xff.txt")
    b'bad\xff.txt'
    """
    raw = path.encode("utf-8", "surrogateescape")
    if b"\\" not in raw:
        return raw
    return _ESCAPE.sub(_unescape, raw)


def can_name_an_entry(path: str) -> bool:
    r"""Tell whether a tree can hold such a file, or folder where it ends with "/".

    >>> [can_name_an_entry(path) for path in ("a/b.md", "a/", "a/../b.md", "./a", "/a", "a//b", "a\x00")]
    [True, True, False, False, False, False, False]
    """
    parts = decode_path(path.removesuffix("/")).split(b"/")
    return all(part not in {b"", b".", b".."} and b"\0" not in part for part in parts)


def join(parent: str, name: str) -> RelPath:
    """Give the path of `name` in the directory `parent`; the root is ""."""
    return RelPath(f"{parent}/{name}" if parent else name)


def parent(path: str) -> RelPath:
    """Give the directory of a path; "" for what lies in the root."""
    return RelPath(path.rpartition("/")[0])


def name(path: str) -> str:
    """Give the last component of a path."""
    return path.rpartition("/")[2]


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    if char == "\\":
        return "\\\\"
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


def _unescape(match: re.Match[bytes]) -> bytes:
    digits = match.group(1)
    return bytes([int(digits, 16)]) if digits else b"\\"
