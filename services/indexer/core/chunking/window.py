"""Divide one line that alone exceeds the budget: at sentences, then words, then anywhere.

Pure. Unwrapped paragraphs, minified code, one-line JSON: the last token of a 5 MB line is in a chunk like the
first. The pieces of a line are found by its own marks, so an edit does not shift the slices after it.
"""

import re
from collections.abc import Iterator
from string import punctuation

from services.indexer.core.chunking.model import CONTENT_TOKENS, Counter
from services.indexer.core.chunking.partition import INNER, SOFT, partition
from shared.token_budget import SPECIAL_TOKENS

# An upper bound on what one token stands for: it limits a chunk to 7,008 characters, however few its tokens.
CHARS_PER_TOKEN = 16
# Pieces are what is counted and weighed; smaller ones only cost time.
PIECE_CHARS = 160
_LEAST_PIECE_CHARS = 48

# The tokenizer never joins across these, so the tokens of pieces that end with one add up. Where a word is cut, or
# pieces make up the name of a special token, they do not.
_SAFE = frozenset(" \t" + punctuation)
_SPECIAL = re.compile(r"\[(?:PAD|UNK|CLS|SEP|MASK)\]")

_SENTENCE_LEVEL = SOFT + 8
_STATEMENT_LEVEL = SOFT + 4
_WORD_LEVEL = SOFT
_PUNCTUATION_LEVEL = INNER

_MARK = re.compile(r"[.!?…]+[\"'»”’)\]]*\s+|[。！？]|[;{}]+\s*")
_LAST_SPACE = re.compile(r".*\s", re.DOTALL)
_LAST_PUNCTUATION = re.compile(r".*[^\w\s]", re.DOTALL)


def slices(line: str, count: Counter) -> Iterator[tuple[str, int]]:
    """Yield (part, its tokens): consecutive parts of a line within CONTENT_TOKENS and the width that stands for it."""
    pieces, levels = _pieces(line)
    tokens = [count(piece) - SPECIAL_TOKENS for piece in pieces]
    sizes = [max(cost, len(piece) // CHARS_PER_TOKEN, 1) for cost, piece in zip(tokens, pieces, strict=True)]
    for start, end in partition(sizes, levels, pieces):
        text = "".join(pieces[start:end])
        if _SPECIAL.search(text) or not all(piece[-1] in _SAFE for piece in pieces[start : end - 1]):
            yield from _fitting(text, count)
        elif not text.isspace():
            yield text, sum(tokens[start:end])


def _fitting(text: str, count: Counter) -> Iterator[tuple[str, int]]:
    """Yield a text whose tokens are not the sum of its pieces' tokens, halved until it fits."""
    tokens = count(text) - SPECIAL_TOKENS
    if tokens <= CONTENT_TOKENS or len(text) == 1:
        if not text.isspace():
            yield text, tokens
        return
    middle = len(text) // 2
    yield from _fitting(text[:middle], count)
    yield from _fitting(text[middle:], count)


def _pieces(line: str) -> tuple[list[str], list[int]]:
    """Return the pieces of a line and the strength of the border before each."""
    pieces: list[str] = []
    levels: list[int] = []
    start, level = 0, _SENTENCE_LEVEL
    for mark in _MARK.finditer(line):
        if mark.end() - start < _LEAST_PIECE_CHARS:
            continue
        _cut_words(line[start : mark.end()], level, pieces, levels)
        start = mark.end()
        level = _STATEMENT_LEVEL if mark.group()[0] in ";{}" else _SENTENCE_LEVEL
    if start < len(line):
        _cut_words(line[start:], level, pieces, levels)
    return pieces, levels


def _cut_words(text: str, level: int, pieces: list[str], levels: list[int]) -> None:
    start = 0
    while len(text) - start > PIECE_CHARS:
        window = text[start : start + PIECE_CHARS]
        mark = _LAST_SPACE.match(window) or _LAST_PUNCTUATION.match(window)
        end = start + (mark.end() if mark else PIECE_CHARS)
        pieces.append(text[start:end])
        levels.append(level)
        level = _WORD_LEVEL if mark and window[mark.end() - 1].isspace() else _PUNCTUATION_LEVEL if mark else 0
        start = end
    pieces.append(text[start:])
    levels.append(level)
