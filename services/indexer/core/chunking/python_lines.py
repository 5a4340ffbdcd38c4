"""Outline Python from its lines: where indentation is the syntax, lines say what a parser would, ten times sooner.

Pure. Only what can hide a line's meaning is followed: triple-quoted strings, and brackets as far as they make
a line a continuation. A test compares the definitions with those of the syntax tree. Unlike a parser it reads
Python 2, templates and half-written files just as well.
"""

import re

from services.indexer.core.chunking.outline import BLANK_BEFORE, Outline, Scope, whole
from services.indexer.core.chunking.partition import INNER, NEVER, SOFT

_DEFINITION = re.compile(r"(?:async[ \t]+)?(?:cp?)?(def|class)[ \t]+(\w+)")
_CLAUSE = re.compile(r"(?:else|elif|except|finally)\b")
# Strings and comments of a line, as far as they decide whether a triple quote opens one.
_QUOTE = re.compile(r"""(\"{3}|'{3})|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\#""")
# A line after one that ends like this goes on with it, however little it is indented.
_GOES_ON = re.compile(r"(?:[,(\[{\\+*/%|&=<>]|\b(?:and|or|not|in|is|if|else))[ \t]*(?:#.*)?$")

_DEFINITION_LEVEL = 1_000
_STATEMENT_LEVEL = 400
_DEEPEST_INDENT = 120
_BLANK_BONUS = 3
# Of a comment that is a title, with the blank lines below it.
_TITLE_LINES = 5


def outline_python(lines: list[str]) -> Outline:
    """Return the outline of Python source."""
    reader = _Reader(lines)
    reader.read()
    return Outline(reader.levels, reader.root, separator=".", has_symbols=True)


class _Reader:
    """The state of the one pass."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.levels: list[int] = []
        self.root = whole(lines)
        self.open: list[tuple[int, Scope]] = []  # (indentation, definition) around the line
        self.functions = 0  # how many of the open ones are functions
        self.lead = -1  # first line of the comments and decorators above
        self.is_decorated = False
        self.is_lead_apart = False  # a blank line follows them
        self.last_code = -1

    def read(self) -> None:
        """Give every line its level, and the tree its scopes."""
        quote = ""  # the triple quote of the string we are in
        after_blank = False
        for i, line in enumerate(self.lines):
            code = line.lstrip()
            if not code:
                self.levels.append(NEVER)
                after_blank = True
                self.is_lead_apart = self.lead >= 0 and not quote
                continue
            if quote:
                self.levels.append(BLANK_BEFORE if after_blank else SOFT)
                self.last_code = i
                quote = _quote_after(line, quote)
            else:
                self.levels.append(_STATEMENT_LEVEL + _BLANK_BONUS * after_blank)
                self._code(i, code, min(len(line) - len(code), _DEEPEST_INDENT))
                if '"""' in line or "'''" in line:
                    quote = _quote_after(line, "")
            after_blank = False
        self._close(-1)

    def _code(self, i: int, code: str, indent: int) -> None:
        """Take a line that begins outside of strings."""
        self.levels[i] -= 2 * indent
        first = code[0]
        if first == "#" or (first == "@" and not self._goes_on()):
            if self.lead < 0 or (self.is_lead_apart and not self.is_decorated):
                self.lead = i
            else:
                self.levels[i] = INNER
            self.is_lead_apart = False
            self.is_decorated = self.is_decorated or first == "@"
            return
        definition = _DEFINITION.match(code) if first in "acd" else None
        if definition:
            self._define(i, definition, indent)
        elif self.is_decorated or first in ")]}":
            self.levels[i] = INNER  # the arguments of a decorator; the end of a call
        else:
            # A string on its own continues the call above it far more often than it ends a function.
            is_end = self.open and self.open[-1][0] >= indent and first not in "\"'" and not self._goes_on()
            strength = self._close(indent) if is_end else 0
            if first in "ef" and _CLAUSE.match(code):
                self.levels[i] = INNER
            else:
                self._border(i, strength)
        if not self.is_decorated:
            self.last_code = i
            self.lead = -1
            self.is_lead_apart = False

    def _define(self, i: int, definition: re.Match[str], indent: int) -> None:
        strength = self._close(indent)
        if not self.functions:
            strength = _DEFINITION_LEVEL - 10 * len(self.open)
        begin = self._border(i, strength)
        kind = "function" if definition.group(1) == "def" else "class"
        scope = Scope(begin, len(self.lines), definition.group(2), kind)
        (self.open[-1][1] if self.open else self.root).children.append(scope)
        self.open.append((indent, scope))
        self.functions += kind == "function"
        self.is_decorated = False

    def _border(self, i: int, strength: int) -> int:
        """Strengthen the border before line i and its comments; return where that is."""
        begin = i if self.lead < 0 else self.lead
        self.levels[begin] = max(self.levels[begin], strength)
        if begin < i and self.is_lead_apart and not self.is_decorated:
            # A comment that stands alone is rather the title of what follows than the end of what was; a ruler with a
            # title in it (a hundred tokens of hyphens) is nothing without it.
            self.levels[i] = SOFT if i - begin <= _TITLE_LINES else self.levels[i] - 1
            return i
        if begin < i:
            self.levels[i] = INNER
        return begin

    def _close(self, indent: int) -> int:
        """End the definitions that a line of this indentation is not part of; return its border's strength."""
        strength = 0
        while self.open and self.open[-1][0] >= indent:
            scope = self.open.pop()[1]
            scope.end = self.last_code + 1
            self.functions -= scope.kind == "function"
            strength = 0 if self.functions else _DEFINITION_LEVEL - 10 * len(self.open)
        return strength

    def _goes_on(self) -> bool:
        return self.last_code >= 0 and _GOES_ON.search(self.lines[self.last_code]) is not None


def _quote_after(line: str, quote: str) -> str:
    """Return the triple quote of the string that is open at the end of a line which began inside `quote`."""
    at = 0
    while True:
        if quote:
            at = _end_of_string(line, quote, at)
            if at < 0:
                return quote
            quote = ""
        mark = _QUOTE.search(line, at)
        while mark and not mark.group(1) and mark.group() != "#":
            mark = _QUOTE.search(line, mark.end())
        if not mark or not mark.group(1):
            return ""
        quote, at = mark.group(1), mark.end()


def _end_of_string(line: str, quote: str, at: int) -> int:
    while True:
        at = line.find(quote, at)
        if at < 0:
            return -1
        escapes = at - len(line[:at].rstrip("\\"))
        if escapes % 2 == 0:
            return at + len(quote)
        at += 1
