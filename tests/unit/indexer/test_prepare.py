"""From a text to the rows of its text lane."""

from __future__ import annotations

import pytest

from services.indexer.core.chunking import embed_text
from services.indexer.core.prepare import PreparedChunk, prepare_chunks
from shared.analyzer import terms
from shared.identity import text_hash
from shared.tokens import TokenCounter
from tests.support.chunks import TOKENIZER

COUNT = TokenCounter.load(TOKENIZER).count
NOTE = "# On [[people/ana|Ana]]\n\nWe follow [[decisions/adr-0007|the retry decision]] and [[glossary]].\n"


def prepared(kind: str, language: str, text: str = NOTE) -> PreparedChunk:
    """Prepare a text of one chunk."""
    (only,) = prepare_chunks(text, kind=kind, language=language, count=COUNT)
    return only


@pytest.mark.parametrize("kind", ["vault", "docs"])
def test_wikilinks_are_read_as_a_person_reads_them(kind: str) -> None:
    """MISSION 2.1: terms and vector see the alias, or the target without one; the text stays the file's."""
    chunk = prepared(kind, "markdown")
    assert chunk.text == NOTE.rstrip("\n")
    assert chunk.heading == "On Ana"
    assert terms("retry")[0] in chunk.body_terms.split()
    assert terms("glossary")[0] in chunk.body_terms.split()
    assert not set(terms("0007 people")) & set(chunk.body_terms.split())
    embedded = embed_text(chunk.heading, chunk.text)
    assert "retry decision" in embedded
    assert "[[" not in embedded
    assert "adr-0007" not in embedded
    assert chunk.text_hash == text_hash(embedded)


def test_double_brackets_of_code_are_no_links() -> None:
    """What a shell tests and what an array indexes stays searchable in full."""
    chunk = prepared("code", "bash", 'if [[ -f "$origin|$other" ]]; then\n  rows[[left|right]]=1\nfi\n')
    assert set(terms("origin other left right")) <= set(chunk.body_terms.split())
    assert '[[ -f "$origin|$other" ]]' in embed_text(chunk.heading, chunk.text)


def test_tokens_are_those_of_what_is_embedded() -> None:
    """MISSION 2.4: counted exactly, with links as the model sees them, and never above the budget by leaving them out."""
    text = "\n".join(f"- ab[[very/long/path/to/note-{n}|cd]]ef" for n in range(200))
    for chunk in prepare_chunks(text, kind="vault", language="markdown", count=COUNT):
        assert chunk.tokens == COUNT(embed_text(chunk.heading, chunk.text)) <= 440
