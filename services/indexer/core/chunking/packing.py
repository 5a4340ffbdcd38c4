"""Make chunks of lines and their outline: count tokens, cut, name, keep the budget.

Pure. Token counts are exact: the tokenizer never joins across a line end, so the tokens of a run are the sum
over its lines, each counted once.
"""

from collections.abc import Iterator

from services.indexer.core.chunking.model import CONTENT_TOKENS, Chunk, Counter
from services.indexer.core.chunking.outline import Outline
from services.indexer.core.chunking.partition import partition
from services.indexer.core.chunking.window import CHARS_PER_TOKEN, slices
from shared.embedded_text import embed_text
from shared.token_budget import SPECIAL_TOKENS

# A path of names helps the model little beyond its first words, and takes room from the text.
HEADING_TOKENS = 64


def pack(lines: list[str], outline: Outline, count: Counter) -> tuple[Chunk, ...]:
    """Return the chunks of a document in order; blank lines at a chunk's ends are left out."""
    tokens = _line_tokens(lines, count)
    # Runs of blanks or one endless word cost few tokens: the width keeps the text of a chunk bounded, too.
    sizes = [max(cost, len(line) // CHARS_PER_TOKEN) for cost, line in zip(tokens, lines, strict=True)]
    names = _Names(outline, count)
    chunks: list[Chunk] = []
    for start, end in _runs(sizes):
        if end - start == 1 and sizes[start] > CONTENT_TOKENS:
            chunks.extend(_slice(lines[start], start, names, count))
        else:
            for low, high in partition(sizes[start:end], outline.levels[start:end], lines[start:end]):
                chunks.extend(_chunk(lines, tokens, start + low, start + high, names))
    return tuple(chunks)


def _line_tokens(lines: list[str], count: Counter) -> list[int]:
    known: dict[str, int] = {"": 0}
    tokens = []
    for line in lines:
        cost = known.get(line)
        if cost is None:
            cost = known[line] = count(line) - SPECIAL_TOKENS
        tokens.append(cost)
    return tokens


def _runs(sizes: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the runs between lines that exceed the budget alone, and each such line as its own run."""
    start = 0
    for i, size in enumerate(sizes):
        if size > CONTENT_TOKENS:
            yield start, i
            yield i, i + 1
            start = i + 1
    yield start, len(sizes)


class _Names:
    """Headings of runs, shortened to the room that the text leaves."""

    def __init__(self, outline: Outline, count: Counter) -> None:
        self._outline = outline
        self._count = count
        self._known: dict[tuple[tuple[str, ...], int], tuple[str, int]] = {}

    def heading(self, start: int, end: int, room: int) -> tuple[str, int]:
        """Return the heading of lines start..end and its tokens, at most `room` and HEADING_TOKENS."""
        path = tuple(self._outline.heading(start, end))
        key = (path, min(room, HEADING_TOKENS))
        if key not in self._known:
            self._known[key] = self._fit(path, key[1])
        return self._known[key]

    def symbols(self, start: int, end: int) -> tuple[str, ...]:
        return self._outline.symbols(start, end)

    def embedded(self, text: str, tokens: int) -> int:
        """Return the tokens of a text as it is embedded, at most its own."""
        return tokens if "[[" not in text else self._cost(embed_text("", text))

    def _fit(self, path: tuple[str, ...], room: int) -> tuple[str, int]:
        """Drop outer names, then words of the innermost, until the heading fits."""
        for first in range(len(path)):
            # A name is one line in the embedded text whatever the source did with it.
            heading = " ".join(self._outline.separator.join(path[first:])[:1_000].split())
            cost = self._cost(heading)
            if cost <= room:
                return heading, cost
        words = path[-1][:1_000].split() if path else []
        while words:
            words = words[: len(words) // 2]
            heading = " ".join(words)
            cost = self._cost(heading)
            if words and cost <= room:
                return heading, cost
        return "", 0

    def _cost(self, text: str) -> int:
        return self._count(text) - SPECIAL_TOKENS


def _chunk(lines: list[str], tokens: list[int], start: int, end: int, names: _Names) -> Iterator[Chunk]:
    while start < end and not lines[start].strip():
        start += 1
    while start < end and not lines[end - 1].strip():
        end -= 1
    if start == end:
        return
    text = "\n".join(lines[start:end])
    content = names.embedded(text, sum(tokens[start:end]))
    heading, cost = names.heading(start, end, CONTENT_TOKENS - content)
    yield Chunk(start + 1, end, heading, text, content + cost + SPECIAL_TOKENS, names.symbols(start, end))


def _slice(line: str, index: int, names: _Names, count: Counter) -> Iterator[Chunk]:
    symbols = names.symbols(index, index + 1)
    for text, tokens in slices(line, count):
        content = names.embedded(text, tokens)
        heading, cost = names.heading(index, index + 1, CONTENT_TOKENS - content)
        yield Chunk(index + 1, index + 1, heading, text, content + cost + SPECIAL_TOKENS, symbols)
        symbols = ()
