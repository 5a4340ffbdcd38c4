"""Outline Markdown: headings and their path, fences, front matter, tables, lists.

Pure. One pass over the lines, after CommonMark as far as borders need it; inline syntax is none of its
business, and the text of a chunk is always the file's.
"""

import re

from services.indexer.core.chunking.outline import Outline, Scope, nest, plain_levels
from services.indexer.core.chunking.partition import ALWAYS, INNER, NEVER, SOFT
from shared.analyzer import plain_markdown

_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`]*$)|~{3,})")
_CLOSING = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*$")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_TABLE_RULE = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_ITEM = re.compile(r"([ \t>]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_KEY = re.compile(r"[\w-]+[ \t]*:(?:\s|$)")
_TITLE = re.compile(r"title[ \t]*:[ \t]*(.+)", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\]\[]*)\]\([^)]*\)")
_MARKUP = re.compile(r"[*`]+|<[^<>]*>|\s*\{#[^}]*\}\s*$")

# Front matter is metadata: longer than this it is text between two rules.
_FRONT_MATTER_LINES = 400

_HEADING_LEVEL = 1_000
_PARAGRAPH_LEVEL = 60
_ITEM_LEVEL = 50
# "For example:" is worth little without what it announces.
_ANNOUNCED_LEVEL = 30


def outline_markdown(lines: list[str]) -> Outline:
    """Return the outline of a Markdown text."""
    reader = _Reader(lines)
    reader.read()
    root = nest(lines, reader.marks)
    for start, end, caption in reader.tables:
        _hang(root, Scope(start, end, caption, "table", is_caption=True))
    return Outline(reader.levels, root)


class _Reader:
    """The state of the one pass: where we are, and what was found."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.levels = plain_levels(lines)
        self.marks: list[tuple[int, int, str, str]] = []
        self.tables: list[tuple[int, int, str]] = []

    def read(self) -> None:
        i = self._front_matter()
        while i < len(self.lines):
            line = self.lines[i]
            if self.levels[i] == NEVER:
                i += 1
            elif fence := ("```" in line or "~~~" in line) and _FENCE.match(line):
                i = self._fence(i, fence.group(1))
            elif "|" in line and self._is_table(i):
                i = self._table(i)
            else:
                i = self._heading(i) or self._text(i)

    def _front_matter(self) -> int:
        lines = self.lines
        if not lines or lines[0].rstrip() != "---":
            return 0
        limit = min(len(lines), _FRONT_MATTER_LINES)
        end = next((i for i in range(1, limit) if lines[i].rstrip() in ("---", "...")), 0)
        if not end or not any(_KEY.match(line) for line in lines[1:end]):
            return 0
        self._hold(1, end + 1)
        following = self._next_text(end + 1)
        if following < len(lines):
            self.levels[following] = ALWAYS
        title = next((m.group(1) for line in lines[1:end] if (m := _TITLE.match(line))), "")
        if title:
            self.marks.append((0, 0, title.strip().strip("\"'"), "title"))
        return end + 1

    def _fence(self, i: int, opening: str) -> int:
        for end in range(i + 1, len(self.lines)):
            closing = _CLOSING.match(self.lines[end])
            if closing and closing.group(1)[0] == opening[0] and len(closing.group(1)) >= len(opening):
                self._block(i, end + 1)
                return end + 1
        # Never closed: CommonMark would make code of the rest of the file. It ends where a section certainly
        # begins ("# x" may be a comment of the code), and is cut like text meanwhile.
        end = i + 1
        while end < len(self.lines) and not self.lines[end].startswith("##"):
            end += 1
        return end

    def _is_table(self, i: int) -> bool:
        if i + 1 >= len(self.lines):
            return False
        rule = self.lines[i + 1]
        return "-" in rule and "|" in rule and _TABLE_RULE.match(rule) is not None

    def _table(self, i: int) -> int:
        end = i + 2
        while end < len(self.lines) and "|" in self.lines[end]:
            end += 1
        self._block(i, end)
        self.levels[i + 1] = 0
        cells = [_plain(cell) for cell in self.lines[i].strip(" \t>|").split("|")]
        self.tables.append((i, end, " | ".join(cells)))
        return end

    def _heading(self, i: int) -> int:
        """Take a heading that begins at line i; return the line after it, or 0 if there is none."""
        atx = _ATX.match(self.lines[i])
        if atx:
            return self._section(i, i + 1, len(atx.group(1)), atx.group(2) or "")
        if i + 1 == len(self.lines) or (i and self.levels[i - 1] not in (NEVER, 0)):
            return 0
        setext = _SETEXT.match(self.lines[i + 1])
        if setext and not _SETEXT.match(self.lines[i]) and not _ITEM.match(self.lines[i]):
            self.levels[i + 1] = 0
            return self._section(i, i + 2, 1 if setext.group(1)[0] == "=" else 2, self.lines[i])
        return 0

    def _section(self, start: int, end: int, rank: int, name: str) -> int:
        self.marks.append((start, rank, _plain(name), "section"))
        if self.levels[start] != ALWAYS:
            self.levels[start] = _HEADING_LEVEL - 10 * rank
        following = self._next_text(end)
        if following < len(self.lines):
            self.levels[following] = SOFT
        return end

    def _text(self, i: int) -> int:
        level = self.levels[i]
        if level > SOFT and level != ALWAYS:
            level = _PARAGRAPH_LEVEL
        item = _ITEM.match(self.lines[i])
        if item and level != ALWAYS:
            level = max(_ITEM_LEVEL - min(len(item.group(1)), 20), SOFT)
        self.levels[i] = self._announced(i, level) if item else level
        return i + 1

    def _block(self, start: int, end: int) -> None:
        """Hold lines together that are worth little apart, at a border of paragraph strength on both sides."""
        if SOFT <= self.levels[start] < ALWAYS and not self._follows_heading(start):
            self.levels[start] = self._announced(start, _PARAGRAPH_LEVEL)
        self._hold(start + 1, end)
        following = self._next_text(end)
        if following < len(self.lines):
            self.levels[following] = _PARAGRAPH_LEVEL

    def _hold(self, start: int, end: int) -> None:
        for i in range(start, end):
            if self.levels[i] != NEVER:
                self.levels[i] = INNER + (self.levels[i] > SOFT)

    def _announced(self, i: int, level: int) -> int:
        before = i - 1
        while before >= 0 and self.levels[before] == NEVER:
            before -= 1
        announces = before >= 0 and self.lines[before].rstrip().endswith(":")
        return min(level, _ANNOUNCED_LEVEL) if announces else level

    def _follows_heading(self, i: int) -> bool:
        before = i - 1
        while before >= 0 and self.levels[before] == NEVER:
            before -= 1
        return before >= 0 and bool(self.marks) and (self.levels[before] == 0 or self.marks[-1][0] == before)

    def _next_text(self, i: int) -> int:
        while i < len(self.lines) and self.levels[i] == NEVER:
            i += 1
        return i


def _plain(name: str) -> str:
    """Return a heading or cell without its inline markup."""
    return _MARKUP.sub("", _LINK.sub(r"\1", plain_markdown(name))).strip()


def _hang(root: Scope, table: Scope) -> None:
    """Put a scope without children under the innermost one around it."""
    parent = root
    while parent.children:
        around = [child for child in parent.children if child.start <= table.start and child.end >= table.end]
        if not around:
            break
        parent = around[0]
    parent.children.append(table)
    parent.children.sort(key=lambda scope: scope.start)
