"""How many tokens a text costs whoever reads it (pure): every model counts its own way, so the estimate is from above."""

from __future__ import annotations

CHARS_PER_TOKEN = 3  # of ASCII; code has 3 to 4 to a token


def tokens(text: str) -> int:
    """Estimate the tokens of a text, from above: three ASCII characters to one, every other character is one.

    >>> tokens("abcdef"), tokens("ação")
    (2, 3)
    """
    foreign = 0 if text.isascii() else sum(1 for char in text if char > "\x7f")
    breaks = text.count("\n") + text.count('"')  # two characters each in JSON
    return foreign + -(-(len(text) - foreign + breaks) // CHARS_PER_TOKEN)
