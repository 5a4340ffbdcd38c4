"""Outline grammars of yacc and lex: rules between the two `%%`, C around them.

Pure.
"""

from __future__ import annotations

from services.indexer.core.chunking.braced import add_braced
from services.indexer.core.chunking.outline import Outline, Scope, plain_levels
from services.indexer.core.chunking.pattern import outline_pattern


def outline_yacc(lines: list[str]) -> Outline:
    """Return the outline of a grammar: its rules by name, its functions by their braces."""
    ends = [row for row, line in enumerate(lines) if line.startswith("%%")]
    end = ends[1] if len(ends) > 1 else len(lines)
    rules = outline_pattern(lines[:end], "yacc")
    root = Scope(0, len(lines), "", "document", children=rules.root.children)
    levels = rules.levels + plain_levels(lines[end:])
    return add_braced(Outline(levels, root, separator=".", has_symbols=True), lines)
