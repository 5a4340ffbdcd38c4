"""Outline source code from its syntax tree: definitions, the comments that lead them, statements inside.

Pure. Only nodes that hold definitions or are too large for a chunk are entered, so the walk costs far less than
the parse. What cannot or must not be parsed is outlined by its form (`pattern`): files above
`MAX_PARSED_CHARS`, minified ones, nesting beyond `MAX_NESTING`, a parse beyond its work limit or one that
understood less than half of the file. Parsers are native code: who cannot afford to die of one gives a `Syntax` that
parses elsewhere.
"""

import re
from collections.abc import Callable, Iterator

import tree_sitter
from msgspec import Struct

from services.indexer.core.chunking.braced import add_braced
from services.indexer.core.chunking.grammars import CONTAINERS, DATA, Grammar, grammar_of, load
from services.indexer.core.chunking.outline import Outline, Scope, plain_levels, plain_outline, whole
from services.indexer.core.chunking.partition import INNER, NEVER
from services.indexer.core.chunking.pattern import outline_pattern
from services.indexer.core.chunking.python_lines import outline_python
from services.indexer.core.chunking.yacc import outline_yacc

MAX_PARSED_CHARS = 1_000_000
# Minified: lines longer than LONG_LINE_CHARS hold more than half of the text. Its definitions mean nothing.
LONG_LINE_CHARS = 1_000
# Brackets that open and do not close: deeper than any code people write, far below what hurts a parser.
MAX_NESTING = 1_000
# Files up to here parse in a moment whatever they hold; above, progress is watched (a fifth slower).
_UNWATCHED_BYTES = 65_536
# The parser reports after each 100 or so steps; ordinary code needs one report per 160 bytes.
_BYTES_PER_REPORT = 8
_LEAST_REPORTS = 10_000
_READ_BYTES = 65_536

# A node of fewer bytes fits a chunk, its inside needs no borders.
_LARGE_BYTES = 900
_MAX_DEPTH = 40
_MAX_DECLARATORS = 32

_CLOSER = re.compile(
    r"[ \t]*(?:[\]})]|else\b|elif\b|except\b|finally\b|catch\b|rescue\b|ensure\b|end\b|done\b|fi\b|esac\b|then\b|\{[ \t]*$)"
)
# Nodes that only hold what follows a definition's head; other flat nodes (#ifdef, try) have a line of their own.
_BODIES = re.compile(r"(?:body|block|list|declarations|compound_statement|object_type)$")
# Children that name their parent in grammars without a field for it.
_NAMING = re.compile(r"identifier$|reference$|selectors$|query$|^function_name$|^at_keyword$|^keyframes_name$")
_WORD = re.compile(r"\w+")
# Nodes known by their whole head, as a CSS rule is by its selectors.
_HEADED = ("rule_set", "_statement", "at_rule")
_VISIBLE = re.compile(rb"\S")
_NAME_BYTES = 200
_MAX_HEAD_ROWS = 20
_MACRO = re.compile(r"[A-Z_][A-Z0-9_]{3,}$")
_QUOTES = "'\""
_STATEMENT_LEVEL = 400
_BLANK_BONUS = 3


def outline_code(text: str, lines: list[str], language: str, syntax: "Syntax | None" = None) -> Outline:
    """Return the outline of a source file; every input gets one, at worst that of its blank lines."""
    if is_minified(lines):
        return plain_outline(lines)
    if language == "python":
        return outline_python(lines)
    if language == "yacc":
        return outline_yacc(lines)
    return (syntax or outline_tree)(text, lines, language) or outline_pattern(lines, language)


def is_parsable(text: str, language: str) -> bool:
    """Tell whether a parser may see a text at all."""
    return grammar_of(language) is not None and len(text) <= MAX_PARSED_CHARS and _nesting(text) <= MAX_NESTING


def outline_tree(text: str, lines: list[str], language: str) -> Outline | None:
    """Return the outline that the syntax tree gives, or None where there is no tree worth having."""
    grammar = grammar_of(language)
    if grammar is None or not is_parsable(text, language):
        return None
    source = text.encode("utf-8", "replace")
    root = _parse(source, grammar)
    if root is None:
        return None
    outline = _Walk(source, lines, grammar).outline(root)
    if grammar.is_braced:
        outline = add_braced(outline, lines)
    if _is_understood(root):
        return outline
    # One broken line can cost the parser a file's outermost brackets, but not the definitions inside of them.
    found = len(outline.definitions())
    return outline if found and found >= len(outline_pattern(lines, language).definitions()) else None


# Takes text, its lines and the language; gives the outline of the syntax tree, None where there is none.
Syntax = Callable[[str, list[str], str], Outline | None]


def no_syntax(_text: str, _lines: list[str], _language: str) -> Outline | None:
    """Give no outline: for a text whose parser is not to be trusted with it."""
    return None


def is_minified(lines: list[str]) -> bool:
    """Tell whether most of the text is in lines no person wrote."""
    long_chars = sum(len(line) for line in lines if len(line) > LONG_LINE_CHARS)
    return long_chars > 0 and 2 * long_chars > sum(map(len, lines))


def _nesting(text: str) -> int:
    return max(text.count("{") - text.count("}"), text.count("(") - text.count(")"), text.count("[") - text.count("]"))


def _parse(source: bytes, grammar: Grammar) -> tree_sitter.Node | None:
    language = load(grammar.module, grammar.factory)
    if language is None:
        return None
    if grammar.masked is not None:
        source = grammar.masked.sub(_blanks, source)
    # A parser for each call: it is cheap, and one that was stopped half-way would go on with the next file.
    parser = tree_sitter.Parser(language)
    if len(source) <= _UNWATCHED_BYTES:
        return parser.parse(source).root_node
    reports_left = _LEAST_REPORTS + len(source) // _BYTES_PER_REPORT

    def exhausted(_offset: int, _has_error: bool) -> bool:
        nonlocal reports_left
        reports_left -= 1
        return reports_left < 0

    def read(offset: int, _point: tree_sitter.Point) -> bytes:
        return source[offset : offset + _READ_BYTES]

    try:
        tree = parser.parse(read, progress_callback=exhausted)
    except ValueError:  # how the binding reports a parse that was stopped
        return None
    return tree.root_node if tree is not None else None


def _blanks(masked: re.Match[bytes]) -> bytes:
    return _VISIBLE.sub(b" ", masked.group())


def _is_understood(root: tree_sitter.Node) -> bool:
    if root.type == "ERROR":
        return False
    if not root.has_error:
        return True
    lost = sum(child.end_byte - child.start_byte for child in root.children if child.type == "ERROR")
    return 2 * lost <= root.end_byte - root.start_byte


class _Walk:
    """One descent through a tree, writing border strengths and scopes."""

    def __init__(self, source: bytes, lines: list[str], grammar: Grammar) -> None:
        self.source = source
        self.grammar = grammar
        self.levels = plain_levels(lines)
        self.root = whole(lines)
        for i, line in enumerate(lines):
            if _CLOSER.match(line):
                self.levels[i] = INNER

    def outline(self, node: tree_sitter.Node) -> Outline:
        """Return the outline of the whole tree."""
        self._enter(node, _Place(self.root, 0, is_in_function=False), last_row=-1)
        return Outline(self.levels, self.root, separator=".", has_symbols=True)

    def _enter(self, node: tree_sitter.Node, place: "_Place", last_row: int) -> None:
        """Place the borders between a node's children; the first must start below `last_row` to have one."""
        leads = self.grammar.leads
        lead = gap = -1  # first row of the comments right above the next child, rows between it and what is above
        after_named = False
        for child, kind, is_head in self._children(node, place):
            first, last = _rows(child)
            if kind in leads:
                if first > last_row:
                    if lead < 0 or first > last_row + 1:
                        lead, gap = first, first - last_row - 1 if last_row >= 0 else -1
                    self._border(lead, place.strength(is_named=after_named))
                last_row = max(last, last_row)
                continue
            definition = self._definition(child, kind)
            # A blank line under the comment of a definition parts them less than one above parts it from the last.
            apart = first - last_row - 1
            is_led = lead >= 0 and (apart <= 0 or (apart == 1 and gap >= 1 and definition is not None))
            begin = lead if is_led else first
            lead = -1
            if begin > last_row or begin < first:
                self._border(begin, place.strength(is_named=after_named or definition is not None))
                self._hold(begin + 1, first if definition is None else definition.body_row)
            after_named = definition is not None
            if is_head:
                last_row = max(last_row, first)
            else:
                self._descend(child, definition, place, (begin, last + 1))
                last_row = max(last_row, last)

    def _children(self, node: tree_sitter.Node, place: "_Place") -> Iterator[tuple[tree_sitter.Node, str, bool]]:
        """Yield (child, its type, whether its own children follow as its siblings)."""
        transparent = self.grammar.transparent
        # Not by recursion: each #elif is inside of the one before.
        levels = [iter(node.named_children)]
        while levels:
            child = next(levels[-1], None)
            if child is None:
                levels.pop()
                continue
            kind = child.type
            is_body = kind in transparent and _BODIES.search(kind) is not None
            is_flat = is_body or kind == "ERROR" or (kind in transparent and not place.is_in_function)
            if not is_body:
                yield child, kind, is_flat
            if is_flat:
                levels.append(iter(child.named_children))

    def _descend(
        self, node: tree_sitter.Node, definition: "_Named | None", place: "_Place", rows: tuple[int, int]
    ) -> None:
        if place.depth > _MAX_DEPTH:
            return
        is_large = node.end_byte - node.start_byte > _LARGE_BYTES
        if definition is None:
            if is_large or (node.type in self.grammar.wrappers and len(self._wrapped(node)) > 1):
                self._enter(node, place.below(), rows[0])
            return
        scope = Scope(*rows, definition.name, definition.kind)
        place.scope.children.append(scope)
        is_container = definition.kind in CONTAINERS
        if is_container or is_large:
            inner = _Place(scope, place.depth + 1, is_in_function=place.is_in_function or not is_container)
            self._enter(definition.node, inner, definition.node.start_point.row)

    def _definition(self, node: tree_sitter.Node, node_type: str) -> "_Named | None":
        while node_type in self.grammar.wrappers:
            inner = self._wrapped(node)
            if len(inner) != 1:
                return None
            node = inner[0]
            node_type = node.type
        kind = self.grammar.definitions.get(node_type)
        if kind is None:
            return None
        if kind == "value":
            value = _value_of(node)
            if value is None or value.type not in self.grammar.values:
                return None
            kind = "class" if value.type == "class" else "function"
            if value.type in DATA:
                if value.end_byte - value.start_byte <= _LARGE_BYTES:
                    return None  # it fits a chunk with what is around it
                kind = "object"
        if node_type.endswith("_specifier") and node.child_by_field_name("body") is None:
            return None
        name = name_of(node, self.source)
        if self.grammar.is_braced and kind == "function" and _MACRO.match(name):
            return None  # a macro in the head took the name's place; `add_braced` finds it
        return _Named(node, name, kind, _body_row(node)) if name else None

    def _wrapped(self, node: tree_sitter.Node) -> list[tree_sitter.Node]:
        definitions, wrappers = self.grammar.definitions, self.grammar.wrappers
        return [child for child in node.named_children if child.type in definitions or child.type in wrappers]

    def _border(self, row: int, strength: int) -> None:
        level = self.levels[row]
        if level not in (NEVER, INNER):
            after_blank = row > 0 and self.levels[row - 1] == NEVER
            self.levels[row] = max(level, strength + _BLANK_BONUS * after_blank)

    def _hold(self, start: int, end: int) -> None:
        """Keep a definition with the comments above it."""
        for row in range(start, end + 1):
            if self.levels[row] != NEVER:
                self.levels[row] = INNER


class _Place(Struct, frozen=True):
    """Where in the tree the walk is."""

    scope: Scope
    depth: int
    is_in_function: bool

    def strength(self, *, is_named: bool) -> int:
        """Return a border's strength: definitions before statements, outer before inner."""
        if is_named and not self.is_in_function:
            return 1_000 - 10 * self.depth
        return _STATEMENT_LEVEL - 5 * self.depth

    def below(self) -> "_Place":
        return _Place(self.scope, self.depth + 1, self.is_in_function)


class _Named(Struct, frozen=True):
    """The node that defines a name, inside its decorators and export."""

    node: tree_sitter.Node
    name: str
    kind: str
    body_row: int  # where its head ends


def _body_row(node: tree_sitter.Node) -> int:
    """Return the row in which a definition's head ends; its first row where the head is too long to be held together."""
    first = node.start_point.row
    body = node.child_by_field_name("body")
    last = body.start_point.row if body is not None else first
    return last if last - first <= _MAX_HEAD_ROWS else first


def _value_of(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return what a declaration or assignment gives its name."""
    for field in ("value", "right"):
        found = node.child_by_field_name(field)
        if found is not None:
            return found
    inner = node.child_by_field_name("declarator")  # C: the declarator has the value
    if inner is not None:
        return inner.child_by_field_name("value")
    given = node.named_children  # Lua: lists of names and values
    if len(given) == 2 and all(child.named_child_count == 1 for child in given):
        return given[1].named_children[0]
    return None


def _rows(node: tree_sitter.Node) -> tuple[int, int]:
    """Return the first and last row of a node; one that takes in its line end does not reach the next row."""
    first, end = node.start_point.row, node.end_point
    return first, end.row - 1 if end.column == 0 and end.row > first else end.row


def name_of(node: tree_sitter.Node, source: bytes) -> str:
    """Return the name a node defines, dotted if the source qualifies it ("Type.method"), "" if there is none."""
    receiver = node.child_by_field_name("receiver")
    found = _name_node(node)
    name = _text(found, source) if found is not None else ""
    if not node.type.endswith(_HEADED):
        name = (name.split() or [""])[-1]  # "type name", where a macro hid the end of a declaration
    if receiver is not None and name:
        owner = _WORD.findall(_text(receiver, source).partition("[")[0])
        return f"{owner[-1]}.{name}" if owner else name
    return name


def _name_node(node: tree_sitter.Node) -> tree_sitter.Node | None:
    for _ in range(_MAX_DECLARATORS):
        if node.type.startswith(("qualified", "destructor", "operator")):
            return node
        # C declares by example: the name is the innermost declarator.
        inner = node.child_by_field_name("declarator") if node.child_by_field_name("name") is None else None
        if inner is None and node.type.endswith("declarator") and node.child_by_field_name("name") is None:
            inner = next(iter(node.named_children), None)
        if inner is None:
            break
        node = inner
    for field in ("name", "left", "property", "type"):
        found = node.child_by_field_name(field)
        if found is not None:
            return found
    if not node.named_child_count:
        return node
    return next((child for child in node.named_children if _NAMING.search(child.type)), None)


def _text(node: tree_sitter.Node, source: bytes) -> str:
    start = node.start_byte
    raw = source[start : min(node.end_byte, start + _NAME_BYTES)].decode("utf-8", "ignore")
    if raw[:1] in _QUOTES:  # a module known by the place it lies in
        return raw.strip(_QUOTES).rpartition("/")[2].partition(".")[0].strip("*") or raw.strip(_QUOTES)
    if node.type == "method_index_expression":
        raw = raw.replace(":", ".")
    return raw.partition("<")[0].replace("::", ".").rstrip()
