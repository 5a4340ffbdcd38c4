"""Outline plain text and its relatives: titles underlined or marked, paragraphs, indented blocks.

Pure. Plain text is read the same way, because its authors underline titles, too.
"""

import re

from services.indexer.core.chunking.outline import BLANK_BEFORE, Outline, nest, plain_levels
from services.indexer.core.chunking.partition import NEVER, SOFT, STRUCTURE

_ADORNMENT = re.compile(r"([=\-`:'\"~^_*+#<>.])\1{2,}[ \t]*$")
_LATEX_RANKS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_MARKED = {
    "asciidoc": re.compile(r"(={1,6})[ \t]+(\S.*)"),
    "org": re.compile(r"(\*{1,8})[ \t]+(\S.*)"),
    "wiki": re.compile(r"(={1,6})[ \t]*([^=].*?)[ \t]*\1[ \t]*$"),
    "latex": re.compile(rf"[ \t]*\\({'|'.join(_LATEX_RANKS)})\*?(?:\[[^\]]*\])?\{{([^{{}}]*)"),
}
# A paragraph inside a block is a weaker border than one at the margin, each two columns weaker by one.
_PARAGRAPH_LEVEL = 60
_DEEPEST = 40
_TITLE_LEVEL = 1_000


def outline_prose(lines: list[str], language: str) -> Outline:
    """Return the outline of a text; the rank of underlined titles is the order in which their styles first appear."""
    levels = plain_levels(lines)
    for i, level in enumerate(levels):
        if level == BLANK_BEFORE:
            levels[i] = _PARAGRAPH_LEVEL - min(_indent(lines[i]) // 2, _DEEPEST)
    styles: dict[str, int] = {}
    marks = []
    for title, underline in _titles(lines):
        is_overlined = title > 0 and _is_adornment(lines[title - 1]) and lines[title - 1][0] == lines[underline][0]
        rank = styles.setdefault(lines[underline][0] + "^" * is_overlined, len(styles) + 1)
        first = title - is_overlined
        marks.append((first, rank, _unboxed(lines[title], lines[underline][0]), "section"))
        levels[first] = max(_TITLE_LEVEL - 10 * rank, STRUCTURE)
        _hold(levels, first, underline)
    marks += _marked(lines, levels, language)
    marks.sort()
    return Outline(levels, nest(lines, marks))


def _marked(lines: list[str], levels: list[int], language: str) -> list[tuple[int, int, str, str]]:
    """Return the titles that a mark of the language announces in their own line."""
    pattern = _MARKED.get(language)
    marks = []
    for i, line in enumerate(lines if pattern else []):
        match = pattern.match(line) if pattern else None
        if match and levels[i] != 0:
            rank = _LATEX_RANKS.index(match.group(1)) + 1 if language == "latex" else len(match.group(1))
            marks.append((i, rank, match.group(2).strip(), "section"))
            levels[i] = max(_TITLE_LEVEL - 10 * rank, STRUCTURE)
            _hold(levels, i, i)
    return marks


def _titles(lines: list[str]) -> list[tuple[int, int]]:
    """Return (line of the title, line of its underline) for every title."""
    found = []
    for i in range(1, len(lines)):
        line = lines[i]
        if not line or line[0].isalnum() or not _is_adornment(line):
            continue
        title = lines[i - 1].rstrip()
        if not title.strip() or _is_adornment(title) or len(line.rstrip()) < min(len(title), 60):
            continue
        before = lines[i - 2] if i > 1 else ""
        if title[0] in " \t" and not _is_adornment(before):
            continue
        if not before.strip() or _is_adornment(before):
            found.append((i - 1, i))
    return found


def _unboxed(title: str, mark: str) -> str:
    """Take the sides off a title in a box of `mark`."""
    text = title.strip()
    return text.strip(mark).strip() if text.startswith(mark) and text.endswith(mark) else text


def _is_adornment(line: str) -> bool:
    return _ADORNMENT.match(line) is not None


def _hold(levels: list[int], first: int, underline: int) -> None:
    """Keep a title with its lines and with what follows it."""
    for i in range(first + 1, underline + 1):
        levels[i] = 0
    following = underline + 1
    while following < len(levels) and levels[following] == NEVER:
        following += 1
    if following < len(levels):
        levels[following] = SOFT


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
