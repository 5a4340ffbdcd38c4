"""Chunking: a document's text in, chunks with exact lines, tokens and headings out. Pure."""

from services.indexer.core.chunking.code import Syntax, no_syntax
from services.indexer.core.chunking.model import (
    CHUNKER_VERSION,
    MAX_TOKENS,
    Chunk,
    Counter,
    Definition,
    Parsed,
)
from services.indexer.core.chunking.reading import chunk, definitions, parse_document
from shared.embedded_text import embed_text

__all__ = [
    "CHUNKER_VERSION",
    "MAX_TOKENS",
    "Chunk",
    "Counter",
    "Definition",
    "Parsed",
    "Syntax",
    "chunk",
    "definitions",
    "embed_text",
    "no_syntax",
    "parse_document",
]
