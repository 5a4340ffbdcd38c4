"""Make foreign text safe for its reader, a terminal or a language model (pure).

Control, bidi and invisible characters become visible escapes.
"""

from __future__ import annotations

import unicodedata

_KEPT = "\t\n"
# Cc control, Cf format (bidi overrides, zero-width, tags), Cs lone surrogates, Zl and Zp line and paragraph separators
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def visible(text: str) -> str:
    r"""Escape what a reader would act on or not see; tab and newline stay.

    >>> visible("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char in _KEPT or unicodedata.category(char) not in _UNSAFE:
        return char
    point = ord(char)
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
