"""Text that comes from outside, made fit for a note: one line, or lines; and folded for comparison (pure)."""

from __future__ import annotations

import re
import unicodedata

from shared.errors import ErrorCode, KxError

MAX_TITLE_CHARS = 200
MAX_FIELD_CHARS = 400  # squad, module, tag, label, a description that is one line
MAX_TEXT_CHARS = 20_000  # an entry of a log
MAX_DESCRIPTION_CHARS = 100_000
MAX_SLUG_CHARS = 60

_BREAKS = re.compile("\r\n|[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_UNWANTED = frozenset({"Cc", "Cs"})  # control characters, lone surrogates
_BIDI = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


def one_line(name: str, text: str, limit: int = MAX_FIELD_CHARS) -> str:
    r"""Flatten a text to one line without control or bidi characters.

    >>> one_line("title", " a\n b\x1b ")
    'a b'
    """
    return _bounded(name, " ".join(_clean(text).split()), limit)


def many_lines(name: str, text: str, limit: int = MAX_TEXT_CHARS) -> tuple[str, ...]:
    r"""Give the lines of a text, without blank ones at its ends, trailing space, control or bidi characters.

    >>> many_lines("text", "\r\na\r\n\r\n  b \n")
    ('a', '', '  b')
    """
    lines = [line.rstrip() for line in _bounded(name, _clean(text), limit).split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return tuple(lines)


def folded(text: str) -> str:
    """Give the letters and digits of a text, lower case, without accents, words joined by single spaces.

    >>> folded("## Sessões  Claude-Code:")
    'sessoes claude code'
    """
    bare = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return " ".join(re.findall(r"[^\W_]+", bare.casefold()))


def slug_of(title: str) -> str:
    """Give the file name of a title: ASCII letters and digits joined by hyphens, at most 60; "" if it has none.

    >>> slug_of("Migração do Índice: fase 2")
    'migracao-do-indice-fase-2'
    """
    return "-".join(re.findall(r"[a-z0-9]+", folded(title)))[:MAX_SLUG_CHARS].strip("-")


def _clean(text: str) -> str:
    plain = _BREAKS.sub("\n", text).expandtabs(4)
    return "".join(
        char for char in plain if char == "\n" or (unicodedata.category(char) not in _UNWANTED and char not in _BIDI)
    )


def _bounded(name: str, text: str, limit: int) -> str:
    if len(text) > limit:
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{name} has {count} characters, at most {limit} are taken",
            hint="keep it short; what is long belongs into a document of its own",
            name=name,
            count=len(text),
            limit=limit,
        )
    return text
