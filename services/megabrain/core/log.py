"""Dated entries of a note: read to know where the work stopped, and added without moving what is there (pure).

Days may stand in either order, a new one goes where that order wants it; within a day entries are appended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from services.megabrain.core.note import Note
from services.megabrain.core.sections import BLOCKS, LOG, Section, section_named, subsections, with_section

_DATE = re.compile(r"\b(\d{4}-\d\d-\d\d)\b")
_ITEM = re.compile(r"[-*+](?:[ \t]+(.*))?$")
_DATED = re.compile(r"(?:\[|\*\*)?(\d{4}-\d\d-\d\d)(?:\]|\*\*)?[ \t]*[:—–-]?[ \t]*")
_TASK = re.compile(r"\[[ xX]\] ")
_LINK_ONLY = re.compile(r"!?\[\[[^\]]*\]\]$")


class LogEntry(Struct, frozen=True):
    """One item of the log or of the blocks."""

    date: str  # YYYY-MM-DD, "" where none is told
    text: str  # on one line


def item(text: Sequence[str], prefix: str = "") -> list[str]:
    """Write lines as one list item; what is inside belongs to it, headings and fences too."""
    first, *rest = text or ("",)
    return [f"- {prefix}{first}".rstrip(), *(f"  {line}".rstrip() for line in rest)]


def with_progress(note: Note, today: str, text: Sequence[str]) -> Note:
    """Append an entry under the heading of today. The same entry of the same day is not written twice."""
    note, section = with_section(note, LOG)
    days = [one for one in subsections(note, section) if _DATE.search(one.title)]
    day = next((one for one in days if today in one.title), None)
    block = item(text)
    if day is not None:
        if _holds(note, day.body, day.end, block):
            return note
        return _appended(note, day, block)
    new = [f"{'#' * min(section.level + 1, 6)} {today}", "", *block]
    dates = [_DATE.search(one.title) for one in days]
    if _is_descending([date[1] for date in dates if date]):
        return note.with_block(days[0].start, new)
    return note.with_block(note.last_text(section.body, section.end), new)


def with_obstacle(note: Note, today: str, text: Sequence[str]) -> Note:
    """Add a dated entry to the errors and blocks. The same entry of the same day is not written twice."""
    note, section = with_section(note, BLOCKS)
    block = item(text, f"[{today}] ")
    if _holds(note, section.body, section.end, block):
        return note
    empty = [at for at in range(section.body, section.end) if note.bare(at).strip() == "-"]
    if empty:
        return note.with_lines(empty[0], empty[0] + 1, block)
    dated = [(at, date[1]) for at in range(section.body, section.end) if (date := _dated(note.bare(at)))]
    if _is_descending([date for _, date in dated]):
        return note.with_lines(dated[0][0], dated[0][0], block)
    return _appended(note, section, block)


def entries(note: Note, names: Sequence[str]) -> tuple[LogEntry, ...]:
    """Read the entries of a section; placeholders and bare links are none."""
    section = section_named(note, names)
    return () if section is None else tuple(_read(note, section))


def last_entry(note: Note, *, is_blocked: bool) -> LogEntry | None:
    """Tell where the work stopped: the latest entry; of one day the last, a block before all while it lasts."""
    found = [(one.date, False, at, one) for at, one in enumerate(entries(note, LOG))]
    found += [(one.date, is_blocked, at, one) for at, one in enumerate(entries(note, BLOCKS))]
    if is_blocked and any(blocks for _, blocks, _, _ in found):
        found = [one for one in found if one[1]]
    return max(found, key=lambda one: (one[0], not one[1], one[2]))[3] if found else None


def _read(note: Note, section: Section) -> Iterator[LogEntry]:
    date, lines = "", list[str]()
    for at in range(section.body, section.end):
        line = note.bare(at)
        started = _ITEM.match(line)
        if lines and (started or line[:1] == "#"):
            yield from _entry(date, lines)
            lines = []
        if started:
            lines = [started[1] or ""]
        elif line[:1] == "#":
            heading = _DATE.search(line)
            date = heading[1] if heading else date
        elif lines and line[:1] in {" ", "\t"}:
            lines.append(line.strip())
    if lines:
        yield from _entry(date, lines)


def _entry(date: str, lines: list[str]) -> Iterator[LogEntry]:
    text = _TASK.sub("", " ".join(filter(None, lines)), count=1)
    own = _DATED.match(text)
    if own:
        date, text = own[1], text[own.end() :]
    if text and text != "-" and not _LINK_ONLY.match(text):
        yield LogEntry(date, text)


def _dated(line: str) -> re.Match[str] | None:
    started = _ITEM.match(line)
    return _DATED.match(started[1]) if started and started[1] else None


def _is_descending(dates: Sequence[str]) -> bool:
    return len(dates) > 1 and dates[0] > dates[-1]


def _holds(note: Note, start: int, end: int, block: Sequence[str]) -> bool:
    """Tell whether exactly this item is there: not as the beginning of a longer one."""
    size = len(block)
    for at in range(start, end - size + 1):
        if all(note.bare(at + offset) == line for offset, line in enumerate(block)):
            after = next((other for other in range(at + size, end) if not note.is_blank(other)), end)
            if after == end or note.bare(after)[:1] not in {" ", "\t"}:
                return True
    return False


def _appended(note: Note, section: Section, block: Sequence[str]) -> Note:
    at = note.last_text(section.body, section.end)
    if at == section.body:
        return note.with_block(at, block)
    after = [""] if at < len(note.lines) and not note.is_blank(at) else []
    return note.with_lines(at, at, [*block, *after])
