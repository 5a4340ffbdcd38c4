"""Turn one document's text into the rows of its text lane (pure).

Stands between reading and writing: everything that costs time is done here, so that the transaction only writes.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from services.indexer.core.chunking import Chunk, Syntax, chunk, embed_text
from shared.analyzer import index_terms, plain_markdown
from shared.identity import TextHash, text_hash
from shared.kinds import DOCUMENTS, Kind


class PreparedChunk(Struct, frozen=True, kw_only=True):
    """One row of `chunk` and of `chunk_fts`."""

    start_line: int  # 1-based, inclusive
    end_line: int
    heading: str
    symbols: str  # one a line
    text: str
    text_hash: TextHash
    tokens: int
    body_terms: str  # analysed, joined by blanks
    name_terms: str


class PreparedDocument(Struct, frozen=True, kw_only=True):
    """A document's text lane, ready to be written whole."""

    path: str
    kind: str
    language: str
    size: int  # bytes
    mtime_ns: int
    ctime_ns: int = 0
    content_hash: bytes
    path_terms: str
    chunks: tuple[PreparedChunk, ...]
    reason: str = ""  # what is less than it should be in the chunks
    detail: str = ""

    def with_chunks(self, chunks: tuple[PreparedChunk, ...]) -> PreparedDocument:
        """Give the same document with its chunks."""
        return replace(self, chunks=chunks)


def prepare_chunks(
    text: str, *, kind: str, language: str, count: Callable[[str], int], syntax: Syntax | None = None
) -> tuple[PreparedChunk, ...]:
    """Cut, analyse and address the chunks of a text (lines end with LF), in file order.

    The text taken out of a document is Markdown. Of Markdown's wikilinks only what a reader sees is analysed and
    embedded; the text kept is the file's.
    """
    is_markdown = kind == Kind.VAULT or language == "markdown" or language in DOCUMENTS
    readable = plain_markdown if is_markdown else str
    pieces = chunk(text, kind=kind, language=language, count=count, syntax=syntax)
    if language in DOCUMENTS:  # a title alone: it stands in the headings of all the others
        pieces = [piece for piece in pieces if piece.start_line > 1 or "\n" in piece.text or len(pieces) == 1]
    return tuple(_prepared(piece, readable) for piece in pieces)


def _prepared(piece: Chunk, readable: Callable[[str], str]) -> PreparedChunk:
    symbols = "\n".join(piece.symbols)
    return PreparedChunk(
        start_line=piece.start_line,
        end_line=piece.end_line,
        heading=piece.heading,
        symbols=symbols,
        text=piece.text,
        text_hash=text_hash(embed_text(piece.heading, piece.text)),
        tokens=piece.tokens,
        body_terms=index_terms(readable(piece.text)),
        name_terms=index_terms(f"{piece.heading}\n{symbols}") if piece.heading or symbols else "",
    )
