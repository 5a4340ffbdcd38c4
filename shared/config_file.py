"""Read one JSON configuration file strictly, and say precisely what is wrong with it.

Used for `.kx.json`, `.xindex.json`, `~/.kx/config.json` and the registry's entries. It knows files, JSON and Structs, not
what the keys mean. Fails closed: whatever cannot be read or understood is an error, never an empty configuration.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

import msgspec
from msgspec import Struct

from shared.errors import ErrorCode, KxError

MAX_CONFIG_BYTES = 1024 * 1024  # a real one has a few hundred; more is an attack or a mistake
MAX_DEPTH = 12  # the deepest key we know lies at 4

_T = TypeVar("_T")
_SHOWN_CHARS = 60  # of a wrong value, in its error


class Key(Struct, frozen=True, kw_only=True):
    """One key of a configuration file, as documentation and errors show it."""

    name: str  # its path: `indexing.maxFileBytes`, `sources[].weight`
    expects: str
    help: str
    default: str = ""  # in words, or as JSON


# --- the file ---------------------------------------------------------------------------------------------------------


def read_config(path: Path, *, inside: Path | None = None) -> bytes | None:
    """Give the bytes of a configuration file, None where there is none.

    With `inside` (a canonical folder) a link may not lead out of it. Only the user and root may own the file.

    Raises:
        KxError: CONFIG_UNREADABLE, CONFIG_NOT_TRUSTED (someone else's file).
    """
    try:
        if stat.S_ISLNK(path.lstat().st_mode):
            path = _resolved(path, inside)
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(path, error.strerror or str(error)) from error
    try:
        raw = _read_own(descriptor, path)
    except OSError as error:
        raise unreadable(path, error.strerror or str(error)) from error
    finally:
        os.close(descriptor)
    if len(raw) > MAX_CONFIG_BYTES:
        raise unreadable(path, "it is larger than 1 MiB")
    return raw


def _read_own(descriptor: int, path: Path) -> bytes:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise unreadable(path, "it is not a regular file")
    if not is_trusted_owner(found):
        raise KxError(
            ErrorCode.CONFIG_NOT_TRUSTED,
            "{file} belongs to another user (uid {uid})",
            hint="make it yours with: chown $USER {file}",
            file=path,
            uid=found.st_uid,
        )
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        return file.read(MAX_CONFIG_BYTES + 1)


def is_trusted_owner(found: os.stat_result) -> bool:
    """Tell whether a file or folder belongs to the user or to root: nobody else may configure this process."""
    return found.st_uid in {os.geteuid(), 0}


def unreadable(path: Path, problem: str) -> KxError:
    """Say that something of kx's is there and cannot be used."""
    return KxError(
        ErrorCode.CONFIG_UNREADABLE,
        "{file} cannot be used: {problem}",
        hint="make {file} your own and readable, or remove it",
        file=path,
        problem=problem,
    )


def _resolved(path: Path, inside: Path | None) -> Path:
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: a ring of links
        raise unreadable(path, "it is a link that leads nowhere") from error
    if inside is not None and not target.is_relative_to(inside):
        raise unreadable(path, "it is a link that leads out of the project")
    return target


# --- JSON -------------------------------------------------------------------------------------------------------------


class _DuplicateKeyError(ValueError):
    pass


class _ConstantError(ValueError):
    pass


def parse_object(raw: bytes, file: Path, keys: Mapping[str, Key]) -> dict[str, Any]:
    """Parse a JSON object: no duplicate keys, no NaN, no null, no text that has no bytes; a BOM is tolerated.

    Raises:
        KxError: CONFIG_INVALID with line and column, or with the key.
    """
    text = _decoded(raw, file)
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        problem = "it is empty" if not text.strip() else error.msg
        raise _syntax(file, problem, error.lineno, error.colno) from error
    except _DuplicateKeyError as error:
        raise invalid(file, str(error), "given twice", "given once") from error
    except _ConstantError as error:
        raise invalid(file, "", str(error), "a number") from error
    except RecursionError as error:
        raise invalid(file, "", "nested too deep", "a few levels") from error
    except ValueError as error:  # a number of more than 4,300 digits
        raise invalid(file, "", "a number too long to read", "a number in range") from error
    if not isinstance(value, dict):
        raise invalid(file, "", shown(value), "an object: { … }")
    _check_values(value, file, keys)
    return value


def _decoded(raw: bytes, file: Path) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        column = error.start - (before.rfind(b"\n") + 1) + 1
        raise _syntax(file, "it is not UTF-8", before.count(b"\n") + 1, column) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        raise _DuplicateKeyError(next(name for name in names if names.count(name) > 1))
    return result


def _no_constant(name: str) -> float:
    raise _ConstantError(name)


def _check_values(value: dict[str, Any], file: Path, keys: Mapping[str, Key]) -> None:
    """Refuse what JSON can write and no key of ours can mean; iterative, so depth cannot hurt."""
    stack: list[tuple[str, object, int]] = [("", value, 0)]
    while stack:
        at, item, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise invalid(file, at, "nested too deep", "a few levels")
        if item is None or (isinstance(item, float) and not math.isfinite(item)):
            raise invalid(file, at, shown(item), expected_at(keys, at))
        if isinstance(item, str) and not _is_plain(item):
            raise invalid(file, at, shown(item), "text without NUL and half characters")
        if isinstance(item, dict):
            for name, child in item.items():
                if not _is_plain(name):
                    raise invalid(file, at, shown(name), "key names without NUL and half characters")
                stack.append((f"{at}.{name}" if at else name, child, depth + 1))
        elif isinstance(item, list):
            stack.extend((f"{at}[{index}]", child, depth + 1) for index, child in enumerate(item))


def _is_plain(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


# --- values -----------------------------------------------------------------------------------------------------------

_MISSING = re.compile(r"missing required field `(.*?)`")
_PATH = re.compile(r" - at `(?:key in )?\$\.?(.*)`$")
_TYPE_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "text",
    "object": "an object: { … }",
    "array": "a list: [ … ]",
}


def to_struct(value: Mapping[str, Any], kind: type[_T], file: Path, *, at: str = "") -> _T:
    """Turn a parsed object into `kind`, or say which key holds what instead of what; `at` is where it stands.

    Raises:
        KxError: CONFIG_INVALID.
    """
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, OverflowError) as error:
        keys = keys_of(kind)
        found_at = _PATH.search(str(error))
        key = found_at.group(1) if found_at else ""
        missing = _MISSING.search(str(error))
        if missing:
            key = f"{key}.{missing.group(1)}" if key else missing.group(1)
        found = "missing" if missing else shown(_look_up(value, key))
        expected = expected_at(keys, key) or _in_words(str(error))
        raise invalid(file, ".".join(part for part in (at, key) if part), found, expected) from error


def invalid(file: Path, key: str, found: str, expected: str) -> KxError:
    """Say that `key` of `file` has a wrong value; an empty key means the file as a whole."""
    if not key:
        return KxError(
            ErrorCode.CONFIG_INVALID,
            "{file}: found {found}, expected {expected}",
            hint="mend {file}",
            file=file,
            key=key,
            found=found,
            expected=expected,
        )
    return KxError(
        ErrorCode.CONFIG_INVALID,
        "{file}: {key} is {found}, expected {expected}",
        hint="in {file}, mend or remove {key}",
        file=file,
        key=key,
        found=found,
        expected=expected,
    )


def _syntax(file: Path, problem: str, line: int, column: int) -> KxError:
    return KxError(
        ErrorCode.CONFIG_INVALID,
        "{file} is not valid JSON at line {line}, column {column}: {problem}",
        hint="mend {file} at line {line}",
        file=file,
        line=line,
        column=column,
        problem=problem,
    )


def shown(value: object) -> str:
    """Give a wrong value as JSON, cut to a line a person reads."""
    text = json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 1] + "…"


def expected_at(keys: Mapping[str, Key], at: str) -> str:
    """Give what the key at `at` expects, "" where it is not known; `deny[1]` is found under `deny`."""
    name = re.sub(r"\[\d+\]", "[]", at)
    while name and name not in keys and name.endswith(("[]", "[...]")):
        name = name.removesuffix("[]").removesuffix("[...]")
    return keys[name].expects if name in keys else "another value"


def _look_up(value: object, at: str) -> object:
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+|\.\.\.)\]", at):
        if name and isinstance(value, Mapping) and name in value:
            value = value[name]
        elif index.isdigit() and isinstance(value, list) and int(index) < len(value):
            value = value[int(index)]
    return value


def _in_words(message: str) -> str:
    kind = re.search(r"Expected `(\w+)", message)
    return _TYPE_WORDS.get(kind.group(1), kind.group(1)) if kind else "another value"


# --- the keys of a Struct ---------------------------------------------------------------------------------------------


def keys_of(kind: object) -> dict[str, Key]:
    """List every key of a configuration Struct by its path, containers included, in the order of the fields."""
    return {key.name: key for key in _walk(kind, "")}


def meta(help_line: str, expects: str, *, default: str = "", **limits: Any) -> msgspec.Meta:
    """Describe a key once: a line of help, its values (and default) in words, and the same limits for msgspec."""
    return msgspec.Meta(description=help_line, extra={"expects": expects, "default": default}, **limits)


def _walk(kind: object, prefix: str) -> Iterable[Key]:
    if not (isinstance(kind, type) and issubclass(kind, Struct)):
        return
    for field in msgspec.structs.fields(kind):
        plain, described = _unwrapped(field.type)
        name = prefix + field.encode_name
        item = get_args(plain)[0] if get_origin(plain) is tuple else None
        children = list(_walk(plain, f"{name}.")) or list(_walk(item, f"{name}[]."))
        extra: Mapping[str, str] = (described.extra if described else None) or {}
        expects = extra.get("expects", "an object with the keys " + ", ".join(_leaf(child.name) for child in children))
        help_line = (described.description if described else None) or ""
        default = extra.get("default") or ("" if children else _as_json(field.default))
        yield Key(name=name, expects=expects, help=help_line, default=default)
        yield from children


def _as_json(default: object) -> str:
    if default is msgspec.NODEFAULT or default is None:
        return ""
    return msgspec.json.encode(default).decode()


def _unwrapped(kind: object) -> tuple[object, msgspec.Meta | None]:
    if get_origin(kind) is Annotated:
        plain, *notes = get_args(kind)
        return plain, next((note for note in notes if isinstance(note, msgspec.Meta)), None)
    return kind, None


def _leaf(name: str) -> str:
    return name.rpartition(".")[2]


# --- unknown keys -----------------------------------------------------------------------------------------------------


def unknown_keys(value: Mapping[str, Any], keys: Mapping[str, Key], *, open_keys: Iterable[str] = ()) -> list[str]:
    """List the paths in `value` that are no key; below `open_keys` the user's own words are keys."""
    found: list[str] = []
    closed: Callable[[str], bool] = lambda name: name not in set(open_keys)  # noqa: E731 - one condition, named
    stack: list[tuple[str, str, object]] = [("", "", value)]
    while stack:
        at, name, item = stack.pop()
        if isinstance(item, list):
            stack.extend((f"{at}[{index}]", f"{name}[]", child) for index, child in reversed(list(enumerate(item))))
        elif isinstance(item, Mapping) and closed(name):
            for word, child in reversed(list(item.items())):
                path, known = (f"{at}.{word}", f"{name}.{word}") if at else (word, word)
                if known in keys:
                    stack.append((path, known, child))
                else:
                    found.append(path)
    return found


def warn_unknown(file: Path, at: str, keys: Iterable[str]) -> str:
    """Word the warning about an unknown key, with the nearest known one."""
    near = nearest(re.sub(r"\[\d+\]", "[]", at), keys)
    advice = f"; did you mean {near}?" if near else ""
    return f"{file}: the unknown key {at} is ignored{advice}"


def nearest(at: str, keys: Iterable[str]) -> str:
    """Give the known key most like `at` ("" when none is), by its whole path first, then by its last word.

    >>> nearest("indexing.dney", ["indexing.deny", "index"])
    'indexing.deny'
    >>> nearest("deny", ["indexing.deny", "index"])
    'indexing.deny'
    """
    import difflib  # only where something is misspelt

    names = {name.lower(): name for name in keys}
    leaves = {_leaf(name).lower(): name for name in reversed(list(names.values()))}
    wanted = at.lower()
    if _leaf(wanted) in leaves:
        return leaves[_leaf(wanted)]
    for candidates, word in ((names, wanted), (leaves, _leaf(wanted))):
        close = difflib.get_close_matches(word, candidates, n=1, cutoff=0.7)
        if close:
            return candidates[close[0]]
    return ""
