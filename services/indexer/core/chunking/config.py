"""Outline configuration: sections, keys and elements with their path.

Pure. Lines are judged by their form alone, without parsing: a broken file is indexed like a good one, and
what counts is the place of a key, not its value.
"""

import re
from collections.abc import Callable
from html import unescape

from msgspec import Struct

from services.indexer.core.chunking.outline import Outline, nest, plain_levels
from services.indexer.core.chunking.partition import INNER, NEVER, STRUCTURE

_YAML_KEY = re.compile(r"""[ \t]*(?:-[ \t]+)*("[^"]*"|'[^']*'|[^\s#:'"\-\[\]{},&*!|>%@`][^#:]*?):(?:[ \t]|$)""")
_JSON_KEY = re.compile(r'[ \t]*\{?[ \t]*"((?:[^"\\]|\\.){1,200})"[ \t]*:')
_SECTION = re.compile(r"[ \t]*\[\[?([^\[\]]+)\]\]?[ \t]*(?:[#;].*)?$")
_PROPERTY = re.compile(r"[ \t]*([\w.\-]+)[ \t]*[=:]")
_ELEMENT = re.compile(r"[ \t]*<([A-Za-z_][\w:.\-]*)((?:[ \t]+[^<>]*)?)>?")
_NAMED = re.compile(r"""\b(?:id|name|key)[ \t]*=[ \t]*["']([^"']{1,80})["']""")
_HTML_HEADING = re.compile(r"[ \t]*<h([1-6])\b[^>]*>(.*?)(?:</h\1>|$)", re.IGNORECASE)
_STAGE = re.compile(r"FROM[ \t]+(\S.*)", re.IGNORECASE)
_INSTRUCTION = re.compile(r"([A-Z]+)[ \t]+\S")
_TAG = re.compile(r"<[^<>]*>")
_CLOSER = re.compile(r"[ \t]*(?:[\]})]+[,;]?|</[^>]*>|\.\.\.)[ \t]*$")
_COMMENT = re.compile(r"[ \t]*(?:#|//|;|<!--)")

# Keys deeper than this name too little to stand in a heading.
_DEEPEST_SCOPE = 3


class _Key(Struct, frozen=True):
    """What a line begins."""

    name: str
    rank: int  # 1 encloses 2: the indentation for formats that nest by it
    is_scope: bool = True


def outline_config(lines: list[str], language: str) -> Outline:
    """Return the outline of a configuration or markup file; an unknown language is read as key = value."""
    read = _READERS.get(language, _property)
    levels = plain_levels(lines)
    marks: list[tuple[int, int, str, str]] = []
    open_ranks: list[int] = []
    first_comment = -1
    for i, line in enumerate(lines):
        if levels[i] == NEVER:
            first_comment = -1
        elif _COMMENT.match(line) and not line.startswith("#!"):
            first_comment = i if first_comment < 0 else first_comment
            levels[i] = _line_level(line)
        else:
            begin = i if first_comment < 0 else first_comment
            first_comment = -1
            key = read(line)
            _place(levels, begin, i, line, key)
            if key and key.is_scope:
                while open_ranks and open_ranks[-1] >= key.rank:
                    open_ranks.pop()
                if len(open_ranks) < _DEEPEST_SCOPE:
                    marks.append((begin, key.rank, key.name, "key"))
                    open_ranks.append(key.rank)
    return Outline(levels, nest(lines, marks), separator=" > " if language == "html" else ".")


def _place(levels: list[int], begin: int, line_number: int, line: str, key: _Key | None) -> None:
    """Set the strength of the border before `begin`, where the line or the comment above it starts."""
    if key is None:
        levels[line_number] = INNER if _CLOSER.match(line) else _line_level(line)
        return
    for i in range(begin + 1, line_number + 1):
        levels[i] = INNER
    bonus = 3 if begin and levels[begin - 1] == NEVER else 0
    levels[begin] = (max(1_000 - 10 * key.rank, STRUCTURE) if key.is_scope else _line_level(line)) + bonus


def _line_level(line: str) -> int:
    """Return the strength of an ordinary line's border: weaker the deeper it is indented."""
    return 400 - 5 * min(_indent(line), 70)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _yaml(line: str) -> _Key | None:
    if line.startswith("---"):
        return _Key("", 0, is_scope=False)
    match = _YAML_KEY.match(line)
    return _Key(match.group(1).strip("\"' "), _indent(line) + 1) if match else None


def _json(line: str) -> _Key | None:
    match = _JSON_KEY.match(line)
    return _Key(match.group(1), _indent(line) + 1) if match else None


def _section(line: str) -> _Key | None:
    match = _SECTION.match(line)
    return _Key(match.group(1).strip(), 1) if match else _property(line)


def _property(line: str) -> _Key | None:
    match = _PROPERTY.match(line)
    return _Key(match.group(1), 2, is_scope=False) if match else None


def _xml(line: str) -> _Key | None:
    match = _ELEMENT.match(line)
    if not match:
        return None
    named = _NAMED.search(match.group(2))
    name = f"{match.group(1)} {named.group(1)}" if named else match.group(1)
    return _Key(name, _indent(line) + 1, is_scope=named is not None or _indent(line) < 5)


def _html(line: str) -> _Key | None:
    match = _HTML_HEADING.match(line)
    if not match:
        return None
    # A reader does not see the anchor that a generator hangs behind a heading as its own link.
    name = unescape(_TAG.sub("", match.group(2))).strip().rstrip("#¶§").rstrip()
    return _Key(name, int(match.group(1))) if name else None


def _dockerfile(line: str) -> _Key | None:
    stage = _STAGE.match(line)
    if stage:
        return _Key(f"FROM {stage.group(1).strip()}", 1)
    return _Key("", 2, is_scope=False) if _INSTRUCTION.match(line) else None


_READERS: dict[str, Callable[[str], _Key | None]] = {
    "yaml": _yaml,
    "json": _json,
    "jsonc": _json,
    "json5": _json,
    "toml": _section,
    "ini": _section,
    "properties": _property,
    "xml": _xml,
    "html": _html,
    "dockerfile": _dockerfile,
}
