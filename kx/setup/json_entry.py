"""One entry of `mcpServers` in an agent's JSON file: put in or taken out, everything else byte for byte (pure).

A change is a splice of the text. It counts only if the whole file, read again, says what it said before and differs in
that one entry; anything else is refused, so a mistake of the scanner cannot cost a user a setting.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from kx.setup.splice import Splice, between

SERVERS = "mcpServers"
DEFAULT_INDENT = "  "
_SPACE = re.compile(r"[ \t\r\n]*")


class UnchangeableError(Exception):
    """The file cannot be changed safely; the text says why."""


class Member(Struct, frozen=True, kw_only=True):
    """Where a member of an object stands."""

    key: str
    key_start: int
    value_start: int
    value_end: int


def put_entry(text: str, name: str, entry: Mapping[str, Any]) -> Splice | None:
    """Give the change that makes `mcpServers.name` say `entry`; None where it does already.

    What else the user wrote into that entry stays. A new entry comes first, so that no other line changes.

    Raises:
        UnchangeableError: no JSON object, comments, `mcpServers` twice.
    """
    if not text.strip():
        return between(text, 0, len(text), json.dumps({SERVERS: {name: entry}}, indent=2, ensure_ascii=False) + "\n")
    before = _parsed(text)
    servers = before.get(SERVERS, {})
    if not isinstance(servers, dict) or not isinstance(servers.get(name, {}), dict):
        raise UnchangeableError("mcpServers is not an object of objects")
    told = _merged(servers.get(name, {}), entry)
    if servers.get(name) == told:
        return None
    splice = _put(text, name, told, before)
    expected = {**before, SERVERS: {**servers, name: told}}
    _prove(splice.on(text), expected)
    return splice


def drop_entry(text: str, name: str) -> Splice | None:
    """Give the change that takes `mcpServers.name` out; None where it is not there.

    Raises:
        UnchangeableError: as `put_entry`.
    """
    before = _parsed(text)
    servers = before.get(SERVERS)
    if not isinstance(servers, dict) or name not in servers:
        return None
    brace = _member(text, _SPACE.match(text).end(), SERVERS).value_start  # type: ignore[union-attr]  # matches always
    splice = _drop(text, brace, name)
    _prove(splice.on(text), {**before, SERVERS: {key: value for key, value in servers.items() if key != name}})
    return splice


def entry_of(text: str, name: str) -> Any:
    """Give what `mcpServers.name` says, or None."""
    servers = _parsed(text).get(SERVERS) if text.strip() else None
    return servers.get(name) if isinstance(servers, dict) else None


def others(text: str, name: str) -> dict[str, Any]:
    """Give what the file says beside `mcpServers.name`; an empty `mcpServers` is none."""
    found = _parsed(text) if text.strip() else {}
    servers = found.get(SERVERS)
    if isinstance(servers, dict):
        servers.pop(name, None)
        if not servers:
            del found[SERVERS]
    return found


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    env = {"env": {**old["env"], **new["env"]}} if "env" in new and isinstance(old.get("env"), dict) else {}
    return {**old, **new, **env}


def _put(text: str, name: str, told: Mapping[str, Any], before: Mapping[str, Any]) -> Splice:
    root = _SPACE.match(text).end()  # type: ignore[union-attr]  # matches always
    indent = _indent_of(text, root)
    if SERVERS not in before:
        return _insert(text, root, SERVERS, {name: told}, indent)
    brace = _member(text, root, SERVERS).value_start
    if name not in before[SERVERS]:
        return _insert(text, brace, name, told, indent)
    member = _member(text, brace, name)
    is_spread = "\n" in text[member.value_start : member.value_end] or "\n" in text[brace : member.key_start]
    value = _value(told, _line_indent(text, member.key_start), indent) if is_spread else _value(told, None, indent)
    return between(text, member.value_start, member.value_end, _like(text, value))


def _insert(text: str, brace: int, key: str, value: Any, indent: str) -> Splice:
    """Make the first member of the object at `brace`, spaced as the one that was first."""
    first = _SPACE.match(text, brace + 1).end()  # type: ignore[union-attr]  # matches always
    gap = text[brace + 1 : first]
    if text[first] == "}":
        outer = _line_indent(text, brace)
        inside = f"\n{outer}{indent}{json.dumps(key)}: {_value(value, outer + indent, indent)}\n{outer}"
        return between(text, brace + 1, first, _like(text, inside))
    member_indent = gap.rpartition("\n")[2] if "\n" in gap else None
    member = f"{json.dumps(key)}: {_like(text, _value(value, member_indent, indent))}"
    return between(text, brace + 1, brace + 1, f"{gap}{member}," if gap else f"{member}, ")


def _drop(text: str, brace: int, name: str) -> Splice:
    members, close = _members(text, brace)
    at = next(number for number, member in enumerate(members) if member.key == name)
    member = members[at]
    if len(members) == 1:
        return between(text, brace + 1, close, "")
    if at == 0:
        comma = text.index(",", member.value_end)
        is_inline = member.key_start == brace + 1  # then a blank came with it, not the gap before it
        return between(text, brace + 1, comma + (2 if is_inline and text[comma + 1] == " " else 1), "")
    return between(text, members[at - 1].value_end, member.value_end, "")


def _value(value: Any, at: str | None, indent: str) -> str:
    """Write a value on lines that begin with `at`, or on one line."""
    if at is None:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", f"\n{at}")


def _like(text: str, inserted: str) -> str:
    return inserted.replace("\n", "\r\n") if "\r\n" in text else inserted


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent_of(text: str, root: int) -> str:
    gap = _SPACE.match(text, root + 1).group()  # type: ignore[union-attr]  # matches always
    return gap.rpartition("\n")[2] or DEFAULT_INDENT if "\n" in gap else DEFAULT_INDENT


def _member(text: str, brace: int, key: str) -> Member:
    return next(member for member in _members(text, brace)[0] if member.key == key)


def _members(text: str, brace: int) -> tuple[list[Member], int]:
    """Find the members of the object that begins at `brace`, and its end; the text is known to be JSON."""
    decoder, found = json.JSONDecoder(), list[Member]()
    at = _SPACE.match(text, brace + 1).end()  # type: ignore[union-attr]  # matches always
    while text[at] != "}":
        key, end = decoder.raw_decode(text, at)
        value = _SPACE.match(text, text.index(":", end) + 1).end()  # type: ignore[union-attr]  # matches always
        _, value_end = decoder.raw_decode(text, value)
        found.append(Member(key=key, key_start=at, value_start=value, value_end=value_end))
        at = _SPACE.match(text, value_end).end()  # type: ignore[union-attr]  # matches always
        if text[at] == ",":
            at = _SPACE.match(text, at + 1).end()  # type: ignore[union-attr]  # matches always
    return found, at


def _parsed(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise UnchangeableError("it is not plain JSON (comments, a trailing comma, or a mistake)") from error
    if not isinstance(value, dict):
        raise UnchangeableError("it is not a JSON object")
    return value


def _no_number(word: str) -> float:
    raise ValueError(word)


def _prove(text: str, expected: Mapping[str, Any]) -> None:
    if _parsed(text) != expected:
        raise UnchangeableError("it is written in a way kx does not change")
