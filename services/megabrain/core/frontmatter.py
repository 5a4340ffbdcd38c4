"""The front matter of a note: read as written by people, changed one value at a time (pure).

A reader of its own instead of a YAML library: what stands there was often written by hand or by programs that quote
nothing (`titulo: fase 2: testes` is no YAML), aliases and tags need no guard where they mean nothing, and no library
that was tried gives every byte back. Only top-level keys are known; whatever lies below one belongs to it untouched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from msgspec import Struct

from services.megabrain.core.note import Note
from shared.errors import ErrorCode, KxError

FENCE = "---"
_ENDS = frozenset({FENCE, "..."})
MAX_LINES = 1_000
FREE_TEXT = frozenset({"titulo", "modulo"})  # written without quotes by the original: a ` #` is part of them

_KEY = re.compile(
    r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<plain>[^\s#:\-?&*!|>%@`{}\[\],"'][^:#]*?))[ ]*:(?:[ \t]+|$)"""
)
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*"')
_SINGLE = re.compile(r"'(?:[^']|'')*'")
_PLAIN = re.compile(r"[\w(/.][\w ()/.,+–—ºª?!-]*", re.UNICODE)
_TYPED = re.compile(r"(?i:true|false|yes|no|on|off|null|~|y|n|[-+.\d_]*[eE]?[-+.\d_]*|0[xob]\w*|\.inf|\.nan)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?")
_ITEM = re.compile(r"(?P<indent>[ ]*)-(?:[ \t]+(?P<value>.*))?$")


class Entry(Struct, frozen=True):
    """A key and the lines of its value."""

    key: str
    start: int  # line of the key
    end: int  # line after the last one of its value
    value_at: int  # in the line of the key, where the value begins


class FrontMatter(Struct, frozen=True):
    """The block at the beginning of a note."""

    note: Note
    end: int  # line of the closing fence
    entries: tuple[Entry, ...]

    def entry(self, key: str) -> Entry | None:
        """Find a key; of several the last, as readers of YAML do."""
        return next((entry for entry in reversed(self.entries) if entry.key == key), None)

    def value(self, key: str) -> str:
        """Give a value as text, "" where there is none."""
        entry = self.entry(key)
        if entry is None:
            return ""
        first = self.note.bare(entry.start)[entry.value_at :].strip()
        more = [self.note.bare(at).strip() for at in range(entry.start + 1, entry.end)]
        if first[:1] in {"|", ">"}:
            return " ".join(line for line in more if line)
        if key in FREE_TEXT and first[:1] not in {'"', "'"}:
            return " ".join([first, *more]).strip()
        return _scalar(" ".join([first, *more]))

    def items(self, key: str) -> tuple[str, ...]:
        """Give a value as a list: in brackets, one item a line, or a single value."""
        entry = self.entry(key)
        if entry is None:
            return ()
        first = _COMMENT.sub("", self.note.bare(entry.start)[entry.value_at :]).strip()
        if not first:
            found = (_ITEM.match(self.note.bare(at)) for at in range(entry.start + 1, entry.end))
            return tuple(text for item in found if item and (text := _scalar(item["value"] or "")))
        whole = " ".join([first, *(self.note.bare(at).strip() for at in range(entry.start + 1, entry.end))])
        if whole.startswith("["):
            return tuple(text for part in _split(whole.strip("[] ")) if (text := _scalar(part)))
        return tuple(filter(None, [_scalar(whole)]))


def front_matter(note: Note) -> FrontMatter | None:
    """Read the block; None when the note has none.

    Raises:
        KxError: VAULT_DAMAGED when it begins and does not end, or holds a line that is neither key nor value: who
            cannot tell where it ends must not write into it.
    """
    if not note.lines or note.bare(0).rstrip() != FENCE:
        return None
    last = min(len(note.lines), MAX_LINES)
    end = next((at for at in range(1, last) if note.bare(at).rstrip() in _ENDS), None)
    if end is None:
        raise _damaged("its front matter has no closing ---")
    return FrontMatter(note, end, tuple(_entries(note, end)))


def with_value(note: Note, key: str, value: str) -> Note:
    """Set a key to a text; its place, quotes and comment stay. A new key comes last.

    The note must have front matter.
    """
    found = _known(note)
    entry = found.entry(key)
    if entry is None:
        return note.with_lines(found.end, found.end, [f"{key}: {_written(value)}".rstrip()])
    line = note.bare(entry.start)
    head, rest = line[: entry.value_at], line[entry.value_at :]
    token = _token(rest, is_free=key in FREE_TEXT)
    if not head.endswith((" ", "\t")):
        head += " "
    tail = rest[len(token) :]
    if tail.startswith("#"):
        tail = " " + tail
    new = (head + _written(value, like=token) + tail).rstrip() if value or tail.strip() else head.rstrip()
    kept = [note.bare(at) for at in range(entry.start + 1, entry.end) if _is_aside(note.bare(at))]
    if entry.end > entry.start + 1:
        note = note.with_lines(entry.start + 1, entry.end, kept)
    return note.with_line(entry.start, new)


def with_item(note: Note, key: str, item: str) -> Note:
    """Add an item to a list, in the way the list is written."""
    found = _known(note)
    entry, quoted = found.entry(key), json.dumps(item, ensure_ascii=False)
    if entry is None:
        return note.with_lines(found.end, found.end, [f"{key}: [{quoted}]"])
    items = [at for at in range(entry.start + 1, entry.end) if _ITEM.match(note.bare(at))]
    first = _COMMENT.sub("", note.bare(entry.start)[entry.value_at :]).strip()
    if not first and items:
        at = items[-1]
        indent = note.bare(at)[: len(note.bare(at)) - len(note.bare(at).lstrip())]
        return note.with_lines(at + 1, at + 1, [f"{indent}- {quoted}"])
    if not first.startswith("["):
        parts = [*([_written(_scalar(first))] if first else []), quoted]
        return _with_raw(note, entry, f"[{', '.join(parts)}]")
    closing = next((at for at in range(entry.end - 1, entry.start - 1, -1) if "]" in note.bare(at)), None)
    if closing is None:
        raise _damaged(f"the list {key} has no closing bracket")
    line = note.bare(closing)
    bare = _COMMENT.sub("", line)
    at = bare.rfind("]") if "]" in bare else line.rfind("]")
    before = line[:at].rstrip()
    joint = "" if before.endswith(("[", ",")) or (not before and not found.items(key)) else ", "
    return note.with_line(closing, before + joint + quoted + line[at:])


def quoted(text: str) -> str:
    """Write a text as a value.

    >>> quoted("fase 2: testes"), quoted("fase dois")
    ('"fase 2: testes"', 'fase dois')
    """
    return _written(text)


def _known(note: Note) -> FrontMatter:
    found = front_matter(note)
    assert found is not None
    return found


def _with_raw(note: Note, entry: Entry, raw: str) -> Note:
    line = note.bare(entry.start)
    head, rest = line[: entry.value_at].rstrip(), line[entry.value_at :]
    comment = _COMMENT.search(rest)
    return note.with_line(entry.start, f"{head} {raw}" + (f" {comment.group().strip()}" if comment else ""))


def _entries(note: Note, end: int) -> Iterator[Entry]:
    at = 1
    while at < end:
        line = note.bare(at)
        if _is_aside(line):
            at += 1
            continue
        key = _KEY.match(line)
        if key is None:
            raise _damaged(f"line {at + 1} of its front matter is neither a key nor a value")
        after = last = at + 1
        while after < end and (
            note.bare(after)[:1] in {" ", "\t"} or _is_aside(note.bare(after)) or _is_item(note, after)
        ):
            after += 1
            last = last if _is_aside(note.bare(after - 1)) else after
        name = key["double"] if key["double"] is not None else key["single"] or key["plain"] or ""
        yield Entry(name, at, last, key.end())
        at = last


def _is_item(note: Note, at: int) -> bool:
    line = note.bare(at)
    return line.startswith("- ") or line == "-"


def _is_aside(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _token(rest: str, *, is_free: bool) -> str:
    """Give the part of a line that is the value, without what follows it."""
    for pattern in (_DOUBLE, _SINGLE):
        found = pattern.match(rest)
        if found:
            return found.group()
    return (rest if is_free else _COMMENT.sub("", rest)).rstrip()


def _scalar(raw: str) -> str:
    raw = raw.strip()
    if raw.startswith('"') and (double := _DOUBLE.match(raw)):
        try:
            return str(json.loads(double.group(), strict=False))
        except ValueError:  # an escape that only YAML has
            return double.group()[1:-1]
    if raw.startswith("'") and (single := _SINGLE.match(raw)):
        return single.group()[1:-1].replace("''", "'")
    plain = _COMMENT.sub("", raw).strip()
    return "" if plain in {"~", "null"} else plain


def _split(text: str) -> list[str]:
    """Split the inside of brackets at commas outside quotes."""
    return [part.group().strip() for part in re.finditer(r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,])+""", text)]


def _written(value: str, like: str = "") -> str:
    if not value:
        return '""' if like[:1] == '"' else "''" if like[:1] == "'" else ""
    if like[:1] == "'":
        return "'" + value.replace("'", "''") + "'"
    is_plain = _PLAIN.fullmatch(value) and value == value.strip() and not _TYPED.fullmatch(value)
    if like[:1] != '"' and (is_plain or _DATE.fullmatch(value)):
        return value
    return json.dumps(value, ensure_ascii=False)


def _damaged(problem: str) -> KxError:
    return KxError(
        ErrorCode.VAULT_DAMAGED,
        "{file} cannot be used: {problem}",
        hint="mend the file in an editor; nothing was changed",
        file="the note",
        problem=problem,
    )
