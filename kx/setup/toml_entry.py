"""One `[mcp_servers.NAME]` table of Codex' TOML file: put in or taken out, everything else byte for byte (pure).

A table is appended, and found again by its header. As with JSON a change counts only if the file, read again by the
standard parser, differs in that one table; so a header inside a text of several lines misleads nobody.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kx.setup.json_entry import UnchangeableError
from kx.setup.splice import Splice, between

TABLES = "mcp_servers"
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_TRAILING = re.compile(r"^(?:[ \t]*(?:#[^\n]*)?\r?\n)*\Z", re.MULTILINE)


def put_table(text: str, name: str, entry: Mapping[str, Any]) -> Splice | None:
    """Give the change that makes the table of `name` say `entry`; None where it does already.

    Raises:
        UnchangeableError: no TOML, or a table with things in it that kx did not write.
    """
    before = _parsed(text)
    tables = before.get(TABLES, {})
    found = tables.get(name) if isinstance(tables, dict) else None
    if isinstance(found, dict) and {**found, **entry} == found:
        return None
    if found is None:
        joint = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        spans, told = [(len(text), len(text))], joint + table_text(name, entry)
    elif isinstance(found, dict) and _is_ours(found):
        spans, told = list(_spans(text, name)), table_text(name, entry)
    else:
        raise UnchangeableError("its table for this project has more in it than kx would write")
    expected = {**before, TABLES: {**(tables if isinstance(tables, dict) else {}), name: dict(entry)}}
    return _proven(
        text, [between(text, *span, _like(text, told)) for span in spans], lambda new: _parsed(new) == expected
    )


def drop_table(text: str, name: str) -> Splice | None:
    """Give the change that takes the table of `name` and those below it out; None where there is none.

    Raises:
        UnchangeableError: no TOML, or a table that is written in another way.
    """
    before = _parsed(text)
    tables = before.get(TABLES)
    if not isinstance(tables, dict) or name not in tables:
        return None
    rest = others(text, name)
    splices = [between(text, _with_empty_line(text, start), end, "") for start, end in _spans(text, name)]
    return _proven(text, splices, lambda told: table_of(told, name) is None and others(told, name) == rest)


def others(text: str, name: str) -> dict[str, Any]:
    """Give what the file says beside the table of `name`; an empty `mcp_servers` is none."""
    found = _parsed(text)
    tables = found.get(TABLES)
    if isinstance(tables, dict):
        tables.pop(name, None)
        if not tables:
            del found[TABLES]
    return found


def table_of(text: str, name: str) -> Any:
    """Give what the table of `name` says, or None."""
    tables = _parsed(text).get(TABLES)
    return tables.get(name) if isinstance(tables, dict) else None


def table_text(name: str, entry: Mapping[str, Any]) -> str:
    """Write a table; `name` is a bare key."""
    return "".join([f"[{TABLES}.{name}]\n", *(f"{key} = {_value(value)}\n" for key, value in entry.items())])


def _is_ours(found: Mapping[str, Any]) -> bool:
    """Tell whether nothing is in a table but what kx, or the original, writes."""
    environment = found.get("env", {})
    return set(found) <= {"command", "args", "env", "cwd"} and set(environment) <= {"KX_HOME"}


def _value(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(one)}" for key, one in value.items()) + " }"
    return "[" + ", ".join(map(_value, value)) + "]"


def _spans(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Find the lines that may be a table and those below it; what stands before the next header belongs to that one."""
    key = re.escape(name)
    ours = re.compile(rf"^[ \t]*\[[ \t]*{TABLES}[ \t]*\.[ \t]*(?:{key}|\"{key}\"|'{key}')[ \t]*[\].]", re.MULTILINE)
    for first in ours.finditer(text):
        headers = [header.start() for header in _HEADER.finditer(text, first.end())]
        end = next((at for at in headers if not ours.match(text, at)), len(text))
        kept = _TRAILING.search(text, first.end(), end) if end < len(text) else None
        yield first.start(), kept.start() if kept is not None else end


def _with_empty_line(text: str, start: int) -> int:
    """Take in the empty line before a table, which came with it."""
    for line_end in ("\r\n", "\n"):
        if text[:start].endswith(line_end * 2):
            return start - len(line_end)
    return start


def _like(text: str, inserted: str) -> str:
    return inserted.replace("\n", "\r\n") if "\r\n" in text else inserted


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnchangeableError("it is not TOML, or has a mistake") from error


def _proven(text: str, splices: Sequence[Splice], is_right: Callable[[str], bool]) -> Splice:
    """Give the first change after which the file says exactly what it should."""
    for splice in splices:
        try:
            if is_right(splice.on(text)):
                return splice
        except UnchangeableError:
            continue
    raise UnchangeableError("it is written in a way kx does not change")
