"""The values chunking gives, and the budget every chunk obeys.

Pure. A chunk is a run of a document's lines small enough to be embedded whole; a definition is a name that
the document gives to some of its lines. Where the borders run is decided in `partition`.
"""

from collections.abc import Callable

from msgspec import Struct

from shared.token_budget import EMBED_SAFE_TOKENS, SPECIAL_TOKENS

# What a cut of the same text looks like depends on all of this package: raise it whenever an output changes.
CHUNKER_VERSION = 3

MAX_TOKENS = EMBED_SAFE_TOKENS
CONTENT_TOKENS = MAX_TOKENS - SPECIAL_TOKENS

Counter = Callable[[str], int]


class Chunk(Struct, frozen=True):
    """A passage of a document: what is embedded, found and shown as one thing."""

    start_line: int  # 1-based, inclusive
    end_line: int  # 1-based, inclusive
    heading: str  # "Guide > Install" in prose, "Class.method" in code, "" when nothing encloses the lines
    text: str  # the lines joined by "\n"; a part of one line only if that line alone exceeds the budget
    tokens: int  # of embed_text(heading, text), specials included, <= MAX_TOKENS
    symbols: tuple[str, ...] = ()  # names defined in these lines (code and configuration), in order


class Definition(Struct, frozen=True):
    """A named part of a source file."""

    name: str
    path: str  # "Class.method"
    kind: str  # "function", "class", "type", "variable", "key", "section"
    start_line: int  # 1-based; leading comments and decorators included
    end_line: int  # 1-based, inclusive
    depth: int  # 0 at top level


class Parsed(Struct, frozen=True):
    """What one reading of a document yields."""

    chunks: tuple[Chunk, ...]
    definitions: tuple[Definition, ...]
