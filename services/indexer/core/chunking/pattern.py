"""Outline source code by the form of its lines, for languages without a grammar and files a parser must not see.

Pure. A definition is a line that begins like one; it reaches to the next line that is not deeper. Strings and
comments can fool it, which costs a border, never a line.
"""

import re

from services.indexer.core.chunking.outline import Outline, nest, plain_levels
from services.indexer.core.chunking.partition import INNER, NEVER

_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)]*\))?|open|"
    r"override|virtual|inline|extern|unsafe|const|sealed|data|case|local|partial)[ \t]+)*"
)
_WORDS = {
    "class": r"class|struct|interface|trait|enum|object|record|protocol|union|type",
    "module": r"module|namespace|package|defmodule|impl|extension",
    "function": r"def|defp|function|func|fun|fn|sub|proc|procedure|macro|defmacro|task|rule",
}
_DEFINITIONS = [
    (kind, re.compile(rf"[ \t]*{_MODIFIERS}(?:{words})[ \t]+([A-Za-z_$][\w$.:?!]*)")) for kind, words in _WORDS.items()
]
_QUICK = re.compile("|".join(words for words in _WORDS.values()))
_TYPED = re.compile(r"[A-Za-z_][\w<>,\[\]*&: \t]*[ \t*&]([A-Za-z_]\w*)[ \t]*\([^;]*$")
_STATEMENT_WORD = re.compile(r"(?:return|else|if|for|while|switch|new|throw|case|do|await|yield|and|or|not|in)\b")
_LEAD = re.compile(r"[ \t]*(?:#|//|/\*|\*|@|--|;;|%|'|\[\w)")
_CLOSER = re.compile(r"[ \t]*(?:[\]})]|end\b|else\b|elif\b|elsif\b|fi\b|done\b|esac\b|then\b|catch\b|\{[ \t]*$)")

_DEFINITION_LEVEL = 1_000
_STATEMENT_LEVEL = 400
_DEEPEST = 40


def outline_pattern(lines: list[str]) -> Outline:
    """Return the outline of source lines whose language nobody parses for us."""
    levels = plain_levels(lines)
    marks = []
    for i, line in enumerate(lines):
        if levels[i] == NEVER:
            continue
        indent = min(len(line) - len(line.lstrip(" \t")), _DEEPEST)
        found = _defined(line)
        if found:
            begin = _lead_of(lines, levels, i)
            marks.append((begin, indent + 1, *found))
            levels[begin] = _DEFINITION_LEVEL - 10 * indent
            levels[begin + 1 : i + 1] = [INNER] * (i - begin)
        elif _CLOSER.match(line):
            levels[i] = INNER
        else:
            after_blank = i > 0 and levels[i - 1] == NEVER
            levels[i] = _STATEMENT_LEVEL - 5 * indent + 3 * after_blank
    return Outline(levels, nest(lines, marks), separator=".", has_symbols=True)


def _defined(line: str) -> tuple[str, str] | None:
    """Return the name and kind that a line defines."""
    if _QUICK.search(line):
        for kind, pattern in _DEFINITIONS:
            match = pattern.match(line)
            if match:
                return match.group(1).rstrip(":?!.").replace("::", "."), kind
    if line[0].isalpha() or line[0] == "_":
        typed = _TYPED.match(line[:500])
        if typed and not _STATEMENT_WORD.match(line):
            return typed.group(1), "function"
    return None


def _lead_of(lines: list[str], levels: list[int], i: int) -> int:
    """Return the first of the comment or attribute lines right above line i."""
    while i > 0 and levels[i - 1] != NEVER and _LEAD.match(lines[i - 1]):
        i -= 1
    return i
