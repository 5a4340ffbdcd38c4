"""What of a passage is embedded, and so what its address (`text_hash`) is made of (pure)."""

from __future__ import annotations

import re

# "[[ -f x ]]" of a shell is no link. Links are replaced with a blank on each side, where tokens add up: what is embedded
# never has more of them than the text.
_WIKILINK = re.compile(r"\[\[(?=\S)([^\[\]\n|]+)(?:\|([^\[\]\n]+))?\]\]")


def embed_text(heading: str, text: str) -> str:
    """Return what the model sees of a chunk; the file's path is no part of it, so a rename costs no embedding.

    Of a wikilink it sees what a reader sees, the alias or else the target. Never more tokens than heading and text have.

    >>> embed_text("", "see [[decisions/adr-7|the decision]].")
    'see  the decision .'
    """
    if "[[" in text:
        text = _WIKILINK.sub(lambda link: f" {link[2] or link[1]} ", text)
    return f"{heading}\n{text}" if heading else text
