"""Outline the text taken out of a document: Markdown whose pages, slides and sheets are never in one chunk. Pure."""

from services.indexer.core.chunking.markdown import outline_markdown
from services.indexer.core.chunking.outline import Outline
from services.indexer.core.chunking.partition import ALWAYS
from shared.document_address import PARTED, begins_part


def outline_document(lines: list[str], language: str) -> Outline:
    """Return the outline of a document's text."""
    outline = outline_markdown(lines)
    for number, line in enumerate(lines):
        if begins_part(line, language):
            outline.levels[number] = ALWAYS
    return outline


def taken_from(lines: list[str]) -> str:
    """Name the kind of document a Markdown text was taken out of, as knowledge bases keep it; empty for any other.

    Pages, slides or sheets are all the headings of the second level there, and only there.

    >>> taken_from(["# Costs", "## Sheet A", "a", "## Sheet B"]), taken_from(["## Page 1", "## Index"])
    ('xlsx', '')
    """
    heads = [line for line in lines if line.startswith("## ")]
    return next((kind for kind in PARTED if heads and all(begins_part(line, kind) for line in heads)), "")
