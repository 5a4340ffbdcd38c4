"""What the endpoints about activities do: add, update, list, get. Everything here blocks."""

from __future__ import annotations

import re
from datetime import date, datetime

from msgspec import Struct

from services.megabrain.adapters.projects import VaultProject
from services.megabrain.core.activity import NO_SQUAD, STATES, Activity, Change, Draft, new_note, with_change
from services.megabrain.core.words import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS, folded, many_lines, one_line
from services.megabrain.shelf import FOLDER, MAP, SUFFIX, Notes
from shared.errors import ErrorCode, KxError, fill
from shared.megabrain_messages import (
    Activities,
    ActivitiesRequest,
    ActivityRequest,
    ActivityRow,
    ActivityText,
    ActivityWritten,
    AddActivity,
    UpdateActivity,
)
from shared.relpath import join

MAX_ROWS = 200
MAX_STOPPED_CHARS = 300
MAX_PART_CHARS = 50_000  # of a note in one message: four bytes a character at most
MAX_TAGS = 20
MAX_BRANCHES = 50
MAX_PROBLEMS = 20


class Written(Struct, frozen=True):
    """A reply, and the files that were written for it."""

    reply: ActivityWritten
    paths: tuple[str, ...]


def add(notes: Notes, project: VaultProject, asked: AddActivity, now: datetime) -> Written:
    """Write the note of a new activity and list it in the map.

    Raises:
        KxError: BAD_REQUEST, ACTIVITY_EXISTS, PATH_DENIED, PATH_OUTSIDE_ROOT, VAULT_*, DISK_FULL.
    """
    title = one_line("title", asked.title, MAX_TITLE_CHARS)
    if not title:
        raise KxError(ErrorCode.BAD_REQUEST, "the title is empty", hint="name the activity in a few words")
    draft = _draft(project, asked, title, now)
    with project.vault.locked():
        made = notes.create(project, title, lambda number: new_note(_numbered(draft, number)))
        return _written(notes, project, made, now)


def update(notes: Notes, project: VaultProject, asked: UpdateActivity, now: datetime) -> Written:
    """Write progress, a block, the end or a new beginning into the note of an activity.

    Raises:
        KxError: ACTIVITY_UNKNOWN, ACTIVITY_CLOSED, BAD_REQUEST, PATH_OUTSIDE_ROOT, VAULT_*, DISK_FULL.
    """
    change = Change(
        kind=asked.kind,
        text=many_lines("text", asked.text),
        today=now.date().isoformat(),
        now=now.isoformat(timespec="seconds"),
        session=one_line("session", asked.session),
    )
    with project.vault.locked():
        before, after = notes.change(project, asked.ref, lambda note, found: with_change(note, found, change))
        return _written(notes, project, after, now, is_changed=before is not after)


def status(notes: Notes, project: VaultProject, asked: ActivitiesRequest) -> Activities:
    """List activities, the one changed last first, and count all by state.

    Raises:
        KxError: BAD_REQUEST.
    """
    _check_page(asked.limit, asked.offset)
    shelf = notes.all(project)
    counts = dict.fromkeys(STATES, 0)
    for one in shelf.activities:
        counts[one.state] = counts.get(one.state, 0) + 1
    wanted = [one for one in shelf.activities if not asked.state or one.state == asked.state]
    wanted.sort(key=lambda one: (one.updated[:10], _time_of(one), one.id), reverse=True)
    return Activities(
        project=project.name,
        activities=tuple(row(project, one) for one in wanted[asked.offset : asked.offset + asked.limit]),
        total=len(wanted),
        counts={_sendable(name): count for name, count in counts.items()},
        notes=tuple(fill(error.message, error.params) for error in shelf.problems[:MAX_PROBLEMS]),
    )


def get(notes: Notes, project: VaultProject, asked: ActivityRequest) -> ActivityText:
    """Give a part of a note.

    Raises:
        KxError: ACTIVITY_UNKNOWN, BAD_REQUEST, VAULT_DAMAGED.
    """
    if not 1 <= asked.limit <= MAX_PART_CHARS or asked.offset < 0:
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "offset {offset} and limit {limit} cannot be used",
            hint="offset from 0, limit from 1 to {most}",
            offset=asked.offset,
            limit=asked.limit,
            most=MAX_PART_CHARS,
        )
    found = notes.find(project, asked.ref)
    text = notes.text(project, found)
    end = _part_end(text, asked.offset, asked.limit)
    return ActivityText(
        activity=row(project, found),
        text=text[asked.offset : end],
        offset=asked.offset,
        total_chars=len(text),
        next_offset=end if end < len(text) else None,
    )


def row(project: VaultProject, one: Activity) -> ActivityRow:
    """Give an activity as it is sent."""
    stopped = one.stopped.text if one.stopped is not None else ""
    return ActivityRow(
        id=one.id,
        slug=one.slug,
        title=_sendable(one.title),
        state=_sendable(one.state),
        squad=_sendable(one.squad),
        path=project.vault.shown(join(FOLDER, one.slug + SUFFIX)),
        module=_sendable(one.module),
        started=_sendable(one.started),
        due=_sendable(one.due),
        updated=_sendable(one.updated),
        stopped=_sendable(stopped, MAX_STOPPED_CHARS),
        stopped_at=one.stopped.date if one.stopped is not None else "",
    )


def _written(
    notes: Notes, project: VaultProject, after: Activity, now: datetime, *, is_changed: bool = True
) -> Written:
    """List what was written; a map that cannot be written loses nothing, because it is derived."""
    paths = [project.vault.shown(join(FOLDER, after.slug + SUFFIX))] if is_changed else []
    told: tuple[str, ...] = ()
    try:
        if notes.sync_map(project, now.date().isoformat()):
            paths.append(project.vault.shown(MAP))
    except KxError as error:
        told = (f"the map of contents was not written: {error}",)
    return Written(ActivityWritten(activity=row(project, after), notes=told, is_changed=is_changed), tuple(paths))


def _draft(project: VaultProject, asked: AddActivity, title: str, now: datetime) -> Draft:
    if len(asked.tags) > MAX_TAGS or len(asked.branches) > MAX_BRANCHES:
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "at most {tags} tags and {branches} branches are taken",
            hint="name fewer of them",
            tags=MAX_TAGS,
            branches=MAX_BRANCHES,
        )
    return Draft(
        id=0,
        title=title,
        squad=_squad(project.squads, one_line("squad", asked.squad)),
        state=asked.state,
        started=_day("started", asked.started) or now.date().isoformat(),
        updated=now.isoformat(timespec="seconds"),
        module=one_line("module", asked.module),
        due=_day("due", asked.due),
        doc=one_line("doc", asked.doc, 2_000),
        session=one_line("session", asked.session),
        tags=tuple(tag for tag in (_tag(text) for text in asked.tags) if tag),
        branches=tuple(_branch(text) for text in asked.branches if text.strip()),
        description=many_lines("description", asked.description, MAX_DESCRIPTION_CHARS),
    )


def _numbered(draft: Draft, number: int) -> Draft:
    from msgspec.structs import replace

    return replace(draft, id=number)


def _squad(known: tuple[str, ...], asked: str) -> str:
    return next((one for one in known if folded(one) == folded(asked)), NO_SQUAD)


def _tag(text: str) -> str:
    return "-".join(one_line("tag", text).lstrip("#").split())


def _branch(text: str) -> tuple[str, str]:
    repository, colon, branch = one_line("branch", text).replace("|", "\\|").partition(":")
    return (repository.strip(), branch.strip()) if colon else ("", repository.strip())


def _day(name: str, text: str) -> str:
    """Check a day, so that the lists can be ordered by it."""
    day = text.strip()
    try:
        return date.fromisoformat(day).isoformat() if day else ""
    except ValueError:
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{name} is {value}, which is no day",
            hint="write days as 2026-01-31",
            name=name,
            value=day[:40],
        ) from None


def _check_page(limit: int, offset: int) -> None:
    if not 1 <= limit <= MAX_ROWS or offset < 0:
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "offset {offset} and limit {limit} cannot be used",
            hint="offset from 0, limit from 1 to {most}",
            offset=offset,
            limit=limit,
            most=MAX_ROWS,
        )


def _time_of(one: Activity) -> str:
    found = re.match(r"\d{4}-\d\d-\d\d[T ](\d\d:\d\d(?::\d\d)?)", one.updated)
    return found[1] if found else ""


def _part_end(text: str, offset: int, limit: int) -> int:
    end = offset + limit
    if end >= len(text):
        return len(text)
    line = text.rfind("\n", offset, end)
    return line + 1 if line >= offset + limit // 2 else end


def _sendable(text: str, limit: int = 400) -> str:
    """Bring a text of a note onto one line of bounded length that is valid Unicode."""
    line = " ".join(text.split()).encode("utf-8", "replace").decode()
    return line if len(line) <= limit else line[: limit - 1] + "…"
