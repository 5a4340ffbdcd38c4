"""What structure says about a document's lines: how strong each border is and which names enclose it.

Pure. Every chunker (Markdown, code, configuration, prose) reduces a text to an `Outline`; `packing` makes
chunks of it, so all kinds share one way to cut.
"""

from bisect import bisect_left, bisect_right

from msgspec import Struct, field

from services.indexer.core.chunking.model import Definition
from services.indexer.core.chunking.partition import NEVER, SOFT

BLANK_BEFORE = SOFT + 1

# A comment line without words parts its paragraphs as a blank line does.
_COMMENT_MARKS = frozenset({"#", "//", "*", "--", ";;", "///", "%", "//!", "dnl"})
_MARK_CHARS = 12

# So many lines before a thing are its opening (`<?php`, a package line), whatever their share.
_SHORT_PREFACE = 2

# Kinds whose scopes are known by something that is defined elsewhere, or by no name at all.
_NAMELESS = frozenset({"impl", "rule"})


class Scope(Struct):
    """A named run of lines, with the scopes inside it."""

    start: int  # 0-based, inclusive
    end: int  # 0-based, exclusive
    name: str
    kind: str
    # A caption names lines only where they are cut off from their first line, as a table's header row does.
    is_caption: bool = False
    children: list["Scope"] = field(default_factory=list)


class Outline(Struct):
    """Border strengths per line and the tree of scopes."""

    levels: list[int]
    root: Scope
    separator: str = " > "
    has_symbols: bool = False

    def heading(self, start: int, end: int) -> list[str]:
        """Return the names that enclose lines start..end: down to the one thing they lie in, or mostly are.

        What merely ends with the beginning of something is not about it: constants before a class, a preface.
        """
        path: list[str] = []
        scope = self.root
        while True:
            touched = _touching(scope.children, start, end)
            if len(touched) != 1:
                return path
            scope = touched[0]
            begins_here = scope.start >= start
            preface = scope.start - start
            if preface > _SHORT_PREFACE and 2 * preface >= end - start:
                return path
            # A title in front matter is usually said again in the first heading.
            if not (begins_here and scope.is_caption) and scope.name and path[-1:] != [scope.name]:
                path.append(scope.name)
            if begins_here:
                return path

    def symbols(self, start: int, end: int) -> tuple[str, ...]:
        """Return the names whose definitions begin in lines start..end, in order and without repeats."""
        if not self.has_symbols:
            return ()
        found: dict[str, None] = {}
        pending = _touching(self.root.children, start, end)[::-1]
        while pending:
            scope = pending.pop()
            if scope.start >= start and scope.kind not in _NAMELESS:
                found[_symbol(scope)] = None
            pending.extend(reversed(_touching(scope.children, start, end)))
        return tuple(found)

    def definitions(self) -> tuple[Definition, ...]:
        """Return every named thing in order of its first line, outer before inner."""
        found = []
        pending = [(scope, "", 0) for scope in reversed(self.root.children)]
        while pending:
            scope, prefix, depth = pending.pop()
            path = f"{prefix}{self.separator}{scope.name}" if prefix else scope.name
            if not scope.is_caption:
                is_dotted = self.has_symbols and scope.kind not in _NAMELESS
                name = _symbol(scope) if is_dotted else scope.name
                found.append(Definition(name, path, scope.kind, scope.start + 1, scope.end, depth))
            pending.extend((child, path, depth + 1) for child in reversed(scope.children))
        return tuple(found)


def _symbol(scope: Scope) -> str:
    """Return the name without what qualifies it; that of a file is one name, dot and all."""
    return scope.name if scope.kind == "target" else scope.name.rpartition(".")[2]


def _touching(scopes: list[Scope], start: int, end: int) -> list[Scope]:
    low = bisect_right(scopes, start, key=_end_of)
    return scopes[low : bisect_left(scopes, end, low, key=_start_of)]


def _start_of(scope: Scope) -> int:
    return scope.start


def _end_of(scope: Scope) -> int:
    return scope.end


def plain_levels(lines: list[str]) -> list[int]:
    """Return the strengths blank lines alone give: a paragraph's first line is a better border than another."""
    levels = []
    after_blank = False
    for line in lines:
        is_blank = not line or line.isspace()
        levels.append(NEVER if is_blank else BLANK_BEFORE if after_blank else SOFT)
        after_blank = is_blank or (len(line) <= _MARK_CHARS and line.strip() in _COMMENT_MARKS)
    return levels


def plain_outline(lines: list[str]) -> Outline:
    """Return the outline of a text that has no structure but blank lines."""
    return Outline(plain_levels(lines), whole(lines))


def whole(lines: list[str]) -> Scope:
    """Return the nameless scope of a document, for chunkers to hang theirs under."""
    return Scope(0, len(lines), "", "document")


def nest(lines: list[str], marks: list[tuple[int, int, str, str]]) -> Scope:
    """Return the scope tree of (line, rank, name, kind) marks in line order.

    A mark reaches to the next one of the same or a smaller rank, as a heading does; rank 0 would be the document.
    """
    root = whole(lines)
    open_scopes = [(0, root)]
    for line, rank, name, kind in marks:
        while len(open_scopes) > 1 and open_scopes[-1][0] >= rank:
            open_scopes.pop()[1].end = line
        scope = Scope(line, len(lines), name, kind)
        open_scopes[-1][1].children.append(scope)
        open_scopes.append((rank, scope))
    return root
