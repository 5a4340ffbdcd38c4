"""Find the C functions that a grammar lost: old heads without types, heads that macros hide.

Pure. A body that begins and ends in the first column belongs to the head right above it, however that is written; the
name is the first word a parenthesis follows. Stands behind the syntax tree, for what no scope of it covers.
"""

from __future__ import annotations

import re

from services.indexer.core.chunking.outline import Outline, Scope
from services.indexer.core.chunking.partition import INNER, NEVER

_STRENGTH = 1_000
_MAX_HEAD = 40  # lines; more parameters than anybody declares one a line
# The name may be followed by a macro that takes the whole list: `dc_rem DC_DECLARG((a, b))`.
_NAME = re.compile(r"([A-Za-z_]\w*)[ \t]*(?:[A-Z][A-Z0-9_]{2,}[ \t]*)?\(")
_NO_NAME = frozenset({
    "if", "for", "while", "switch", "return", "sizeof", "defined", "__attribute__", "__declspec", "static", "const", "struct",
    "int", "char", "void", "long", "short", "unsigned", "signed", "double", "float",
})  # fmt: skip
_COMMENT = re.compile(r"[ \t]*(?:/\*|\*|//)|.*\*/[ \t]*$")
_BODY = re.compile(r"[ \t]?\{[ \t]*(?:/\*.*\*/)?[ \t]*$|\t\{[ \t]*$")


def add_braced(outline: Outline, lines: list[str]) -> Outline:
    """Add to `outline` the functions whose braces stand outside of all its scopes; nothing else changes."""
    scopes = outline.root.children
    covered = 0  # scopes before this one end above the line in hand
    found: list[Scope] = []
    end = 0
    for i, line in enumerate(lines):
        if i < end or not _BODY.match(line):
            continue
        while covered < len(scopes) and scopes[covered].end <= i:
            covered += 1
        is_inside = covered < len(scopes) and scopes[covered].start <= i
        head = None if is_inside else _head(lines, max(end, scopes[covered - 1].end if covered else 0), i)
        close = _close(lines, i) if head is not None else None
        if head is None or close is None:
            continue
        start, name = head
        end = close + 1
        found.append(Scope(start, end, name, "function"))
        _mark(outline.levels, start, i)
    if found:
        outline.root.children = sorted([*scopes, *found], key=lambda scope: scope.start)
    return outline


def _head(lines: list[str], least: int, brace: int) -> tuple[int, str] | None:
    """Return the first row of what leads the brace (comments included) and the name in it."""
    top = brace
    while top > max(least, brace - _MAX_HEAD) and _is_head(lines[top - 1]):
        top -= 1
    name = _name(lines[top:brace])
    while name and top > least and _COMMENT.match(lines[top - 1]):
        top -= 1
    return (top, name) if name else None


def _name(head: list[str]) -> str | None:
    """Return the name that a head gives: the last that begins a line, else the first at all."""
    at_start = [match for line in head if (match := _NAME.match(line))][::-1]
    anywhere = [match for line in head for match in _NAME.finditer(line)]
    names = (match.group(1) for match in (*at_start, *anywhere))
    return next((name for name in names if name not in _NO_NAME), None)


def _is_head(line: str) -> bool:
    is_end = not line.strip() or line[0] in "}#{" or _COMMENT.match(line) is not None
    return not is_end


def _close(lines: list[str], brace: int) -> int | None:
    """Return the row of the brace that closes in the column of the one that opens."""
    indent = lines[brace][: len(lines[brace]) - len(lines[brace].lstrip())]
    for row in range(brace + 1, len(lines)):
        line = lines[row]
        if line.startswith(("}", indent + "}")):
            return row
        if line.startswith("{"):
            return None
    return None


def _mark(levels: list[int], start: int, brace: int) -> None:
    levels[start] = max(levels[start], _STRENGTH)
    for row in range(start + 1, brace + 1):
        if levels[row] != NEVER:
            levels[row] = INNER
