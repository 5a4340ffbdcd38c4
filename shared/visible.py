"""Make foreign text safe for its reader, a terminal or a language model (pure).

Control, bidi and invisible characters become visible escapes.
"""

from __future__ import annotations

import re
import unicodedata

# Cc control, Cf format (bidi overrides, zero-width, tags), Cs lone surrogates, Zl and Zp line and paragraph separators
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# What no category names and no font shows: joiners, fillers, selectors. A reader sees nothing, a model reads what they spell.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
_DOUBTFUL = re.compile("[^\t\n -~\u00a1-\u00ac\u00ae-\u02ff]")  # all else is looked at
_STYLES = "\ufe0e\ufe0f"  # one after a symbol says how that is drawn


def visible(text: str) -> str:
    r"""Escape what a reader would act on or not see; tab and newline stay.

    >>> visible("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    if text.isascii() and text.isprintable():
        return text
    return _DOUBTFUL.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    char = found[0]
    if unicodedata.category(char) not in _UNSAFE and not _UNSEEN.match(char):
        return char
    if char in _STYLES and found.start() and unicodedata.category(found.string[found.start() - 1])[0] == "S":
        return char
    point = ord(char)
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
