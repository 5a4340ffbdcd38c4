"""Chunking: a document's text in, chunks with exact lines, tokens and headings out. Pure."""

from services.indexer.core.chunking.model import (
    CHUNKER_VERSION,
    MAX_TOKENS,
    Chunk,
    Counter,
    Definition,
    Parsed,
    embed_text,
)
from services.indexer.core.chunking.reading import chunk, definitions, parse_document

__all__ = [
    "CHUNKER_VERSION",
    "MAX_TOKENS",
    "Chunk",
    "Counter",
    "Definition",
    "Parsed",
    "chunk",
    "definitions",
    "embed_text",
    "parse_document",
]
