"""Outline source code by the form of its lines, for languages without a grammar and files a parser must not see.

Pure. A definition is a line that begins like one; it reaches to the next line that is not deeper. Strings and
comments can fool it, which costs a border, never a line.
"""

import re

from services.indexer.core.chunking.forms import Form, forms_of
from services.indexer.core.chunking.outline import Outline, nest, plain_levels
from services.indexer.core.chunking.partition import INNER, NEVER

_LEAD = re.compile(r"[ \t]*(?:#|//|/\*|\*|@|--|;|%|'|!|\{-|\(\*|\[\w)")
_CLOSER = re.compile(r"[ \t]*(?:[\]})]|end\b|else\b|elif\b|elsif\b|fi\b|done\b|esac\b|then\b|catch\b|\{[ \t]*$)")

_RECIPES = frozenset({"makefile", "just"})
_FORM_CHARS = 500
_DEFINITION_LEVEL = 1_000
_STATEMENT_LEVEL = 400
_DEEPEST = 40


def outline_pattern(lines: list[str], language: str) -> Outline:
    """Return the outline of source lines whose language nobody parses for us."""
    forms = forms_of(language)
    last = (-1, "")  # indent and name of the last definition
    levels = plain_levels(lines)
    marks = []
    for i, line in enumerate(lines):
        if levels[i] == NEVER:
            continue
        indent = min(len(line) - len(line.lstrip(" \t")), _DEEPEST)
        found = _defined(line, forms)
        if found and (indent, found[0]) == last:  # the next equation, clause or form of the same
            found = None
        if found:
            last = indent, found[0]
            begin = _lead_of(lines, levels, i)
            marks.append((begin, indent + 1, *found))
            levels[begin] = _DEFINITION_LEVEL - 10 * indent
            levels[begin + 1 : i + 1] = [INNER] * (i - begin)
        elif _CLOSER.match(line):
            levels[i] = INNER
        else:
            after_blank = i > 0 and levels[i - 1] == NEVER
            levels[i] = _STATEMENT_LEVEL - 5 * indent + 3 * after_blank
    root = nest(lines, marks)
    if language in _RECIPES:
        for scope in root.children:
            scope.end = _recipe_end(lines, scope.start, scope.end)
    return Outline(levels, root, separator=".", has_symbols=True)


def _recipe_end(lines: list[str], start: int, end: int) -> int:
    """Return where the lines that belong to a target end: at a line in the first column that follows its recipe."""
    is_below = False
    for row in range(start, end):
        is_flush = lines[row][:1] not in ("", " ", "\t", "#")
        if is_flush and is_below and lines[row - 1][-1:] != "\\":
            return row
        is_below = is_below or is_flush
    return end


def _defined(line: str, forms: tuple[Form, ...]) -> tuple[str, str] | None:
    """Return the name and kind that a line defines."""
    line = line[:_FORM_CHARS]
    for kind, pattern in forms:
        match = pattern.match(line)
        if match:
            name = next(group for group in match.groups() if group)
            return name.rstrip(":?!.").replace("::", "."), kind
    return None


def _lead_of(lines: list[str], levels: list[int], i: int) -> int:
    """Return the first of the comment or attribute lines above line i; a title that stands apart above them is one."""
    first = _comments_above(lines, levels, i)
    if first > 1 and levels[first - 1] == NEVER:
        title = _comments_above(lines, levels, first - 1)
        if 0 < title < first - 1 and levels[title - 1] == NEVER:
            return title
    return first


def _comments_above(lines: list[str], levels: list[int], i: int) -> int:
    while i > 0 and levels[i - 1] != NEVER and _LEAD.match(lines[i - 1]):
        i -= 1
    return i
