"""Outline the text taken out of a document: Markdown whose pages, slides and sheets are never in one chunk. Pure."""

from services.indexer.core.chunking.markdown import outline_markdown
from services.indexer.core.chunking.outline import Outline
from services.indexer.core.chunking.partition import ALWAYS
from shared.document_address import begins_part


def outline_document(lines: list[str], language: str) -> Outline:
    """Return the outline of a document's text."""
    outline = outline_markdown(lines)
    for number, line in enumerate(lines):
        if begins_part(line, language):
            outline.levels[number] = ALWAYS
    return outline
