"""Names, titles and other lines that come from outside, made fit to be shown and compared (pure)."""

from __future__ import annotations

import re
import unicodedata

from shared.errors import ErrorCode, KxError

# Controls, invisible and direction-changing characters, lone surrogates, code points of no character.
_UNWANTED = frozenset({"Cc", "Cf", "Cs", "Cn", "Co"})
_JOINERS = frozenset("\u200c\u200d")  # letters of Persian and of Indian scripts need them
_BREAKS = re.compile("[\t\n\r\x0b\x0c\x1c-\x1f\x85\u2028\u2029]")


def line(name: str, text: str, limit: int) -> str:
    r"""Flatten a text to one line in NFC, without control, invisible and direction-changing characters.

    >>> line("title", " a\n b\x1b \u202e", 10)
    'a b'

    Raises:
        KxError: BAD_REQUEST when it is longer than `limit` characters.
    """
    plain = "".join(char for char in _BREAKS.sub(" ", text) if _is_wanted(char))
    return _bounded(name, unicodedata.normalize("NFC", " ".join(plain.split())), limit)


def name_of(name: str, text: str, limit: int) -> str:
    """Give a line that says something.

    Raises:
        KxError: BAD_REQUEST when it is longer than `limit`, or empty.
    """
    found = line(name, text, limit)
    if not found or all(char in _JOINERS for char in found):
        raise KxError(ErrorCode.BAD_REQUEST, "the {name} is empty", hint="write a few words", name=name)
    return found


def lines(name: str, text: str, limit: int) -> str:
    """Keep the lines of a text, each as `line` does."""
    kept = [line(name, one, limit) for one in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    return _bounded(name, "\n".join(kept).strip(), limit)


def folded(name: str) -> str:
    """Give the form in which two names are the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).casefold())


def _is_wanted(char: str) -> bool:
    return char in _JOINERS or unicodedata.category(char) not in _UNWANTED


def _bounded(name: str, text: str, limit: int) -> str:
    if len(text) > limit:
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "the {name} has {count} characters, at most {limit} are taken",
            hint="keep it short; what is long belongs into the content",
            name=name,
            count=len(text),
            limit=limit,
        )
    return text
