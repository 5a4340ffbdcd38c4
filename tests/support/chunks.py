"""What every chunk must obey, as one check; the model's own counter."""

from __future__ import annotations

from collections import Counter as Bag
from collections.abc import Callable, Sequence
from pathlib import Path

import shared
from services.indexer.core.chunking import MAX_TOKENS, Chunk, embed_text

TOKENIZER = Path(shared.__file__).parent / "data" / "tokenizer.json"


def assert_sound(text: str, chunks: Sequence[Chunk], count: Callable[[str], int]) -> None:
    """Check that chunks cover the text's lines exactly, in order and within the budget."""
    lines = text.split("\n")
    covered: Bag[int] = Bag()
    last = 0
    for chunk in chunks:
        assert last <= chunk.start_line <= chunk.end_line
        last = chunk.end_line
        assert chunk.tokens == count(embed_text(chunk.heading, chunk.text)) <= MAX_TOKENS
        span = "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        assert chunk.text == span or (chunk.start_line == chunk.end_line and chunk.text in span)
        for line in range(chunk.start_line, chunk.end_line + 1):
            covered[line] += len(chunk.text) if chunk.start_line == chunk.end_line else len(lines[line - 1])
    for number, content in enumerate(lines, 1):
        if content.strip():
            assert covered[number] >= len(content.strip()), f"line {number} is not covered"


def changed_texts(old: Sequence[Chunk], new: Sequence[Chunk]) -> int:
    """Return how many texts of `new` were not in `old`: what an edit costs in embeddings."""
    return sum((Bag(c.text for c in new) - Bag(c.text for c in old)).values())
