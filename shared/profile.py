"""What ranking keeps of a whole document: its terms with their counts, its length and the names it defines (pure).

Written by the indexer with the document, read by the query service for the files of its candidates, so that evidence
about a file needs none of its other passages. A term is kept as 24 bits of its checksum and 8 of its count: 4 bytes
each, sorted, so that a query finds its terms by arithmetic alone.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

PROFILE_VERSION: Final = 1

# Names beyond this say little about a file, and generated ones have thousands.
MAX_NAMES: Final = 1_000
MAX_NAME_CHARS: Final = 200
MAX_COUNT: Final = 255


class DocumentProfile(Struct, frozen=True, kw_only=True):
    """One row of `profile`."""

    length: int  # terms of all its chunks
    terms: bytes  # little-endian uint32 each: term_key(term) << 8 | count, ascending
    names: str  # definitions and headings, distinct, one a line


def document_profile(bodies: Iterable[str], names: Iterable[str]) -> DocumentProfile:
    """Sum up a document.

    Args:
        bodies: the analysed body of each chunk (`shared.analyzer.index_terms`).
        names: what the document defines: functions, classes, keys; headings of prose.
    """
    counts: Counter[str] = Counter()
    for body in bodies:
        counts.update(body.split())
    by_key: dict[int, int] = {}
    for term, count in counts.items():
        key = term_key(term)
        by_key[key] = by_key.get(key, 0) + count
    packed = array("I", sorted(key << 8 | min(count, MAX_COUNT) for key, count in by_key.items()))
    if sys.byteorder == "big":
        packed.byteswap()
    return DocumentProfile(length=counts.total(), terms=packed.tobytes(), names=_listed(names))


def term_key(term: str) -> int:
    """Give the 24 bits by which a profile knows a term."""
    return zlib.crc32(term.encode()) >> 8


def _listed(names: Iterable[str]) -> str:
    flat = (" ".join(name.split())[:MAX_NAME_CHARS] for name in names)
    return "\n".join(list(dict.fromkeys(name for name in flat if name))[:MAX_NAMES])
