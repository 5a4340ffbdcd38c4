"""Look for bytes in the files of an index: what was erased must be nowhere."""

from __future__ import annotations

import secrets
from pathlib import Path

from shared.index_files import COMPANIONS, beside


def canary() -> str:
    """A random token of 32 letters and digits, one word to every analyser."""
    return secrets.token_hex(16)


def found_in(path: Path, *tokens: str) -> list[str]:
    """The tokens that stand in the database, its log or its shared memory; the end of a token counts for it.

    The full-text index stores of a word only what differs from the word before.
    """
    files = [beside(path, suffix) for suffix in ("", *COMPANIONS)]
    content = [file.read_bytes() for file in files if file.exists()]
    return [token for token in tokens if any(token[8:].encode() in data for data in content)]
