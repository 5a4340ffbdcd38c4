"""The notes of one vault: found by number or slug, changed one at a time, listed in the map of contents.

Everything here blocks. What is written is re-read under the lock just before, so that neither another writer nor an
editor loses anything.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable

from msgspec import Struct

from services.megabrain.adapters.projects import VaultProject
from services.megabrain.adapters.vault import ChangedUnderneathError, Stamp
from services.megabrain.core.activity import Activity, read_activity
from services.megabrain.core.contents import with_map
from services.megabrain.core.note import Note
from services.megabrain.core.words import slug_of
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.relpath import join

FOLDER = "megabrain"
SUFFIX = ".md"
MAP = "_index/MOC-Atividades.md"
COUNTER = "megabrain/.last-id"
ATTEMPTS = 5  # an editor that saves five times within some milliseconds is no editor
CACHED = 20_000  # notes kept parsed


class Shelf(Struct, frozen=True):
    """What the notes of a vault say, and which cannot be read."""

    activities: tuple[Activity, ...]
    problems: tuple[KxError, ...]


Parsed = tuple[Stamp, Activity | KxError | None]


class Notes:
    """The notes of every project's vault; keeps what it parsed. Safe across threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parsed: dict[tuple[InstanceId, str], Parsed] = {}

    def all(self, project: VaultProject) -> Shelf:
        """Read every activity, by number; denied notes and links are none."""
        stamps = project.vault.stamps(FOLDER)
        names = [one for one in stamps if one.endswith(SUFFIX) and not one.startswith(".")]
        found = [
            self._one(project, rel, stamps[one]) for one in names if not _denied(project, rel := join(FOLDER, one))
        ]
        activities = [one for one in found if isinstance(one, Activity)]
        activities.sort(key=lambda one: (one.id, one.slug))
        return Shelf(tuple(activities), tuple(one for one in found if isinstance(one, KxError)))

    def find(self, project: VaultProject, ref: str) -> Activity:
        """Find an activity by "#3", "3" or its slug; of a title the slug is understood.

        Raises:
            KxError: ACTIVITY_UNKNOWN, VAULT_DAMAGED when its note is, BAD_REQUEST when a number is used twice.
        """
        typed = ref.strip()
        shelf = self.all(project)
        number = re.fullmatch(r"#?\s*(\d{1,9})", typed)
        by_slug = [one for one in shelf.activities if one.slug in {typed, typed.removesuffix(SUFFIX), slug_of(typed)}]
        by_id = [one for one in shelf.activities if number and one.id == int(number[1]) > 0]
        if len(by_id) > 1:
            raise KxError(
                ErrorCode.BAD_REQUEST,
                "{ref} is the number of several notes: {slugs}",
                hint="give the slug, and give one of them another id in an editor",
                ref=typed,
                slugs=", ".join(one.slug for one in by_id),
            )
        found = by_id or by_slug
        if found:
            return found[0]
        self._raise_if_damaged(project, typed)
        raise KxError(
            ErrorCode.ACTIVITY_UNKNOWN,
            "there is no activity {ref}",
            hint="see them with: kx activity status",
            ref=typed[:200] or '""',
        )

    def create(self, project: VaultProject, title: str, draft: Callable[[int], Note]) -> Activity:
        """Write a new note under the next number, which is never used again. Only under the lock.

        Raises:
            KxError: ACTIVITY_EXISTS, PATH_DENIED, VAULT_DAMAGED, VAULT_UNWRITABLE, DISK_FULL.
        """
        number = self._next_id(project)
        slug = slug_of(title) or f"atividade-{number}"
        rel = join(FOLDER, slug + SUFFIX)
        if any(_same_name(one, slug + SUFFIX) for one in project.vault.names(FOLDER)):
            raise KxError(
                ErrorCode.ACTIVITY_EXISTS,
                "the activity {slug} is there already",
                hint="record in it: kx activity update {slug} --progress '…'; or choose another title",
                slug=slug,
            )
        if pattern := _denied(project, rel):
            raise _denied_error(project.vault.shown(rel), pattern)
        counter = project.vault.read(COUNTER)
        note = draft(number)
        try:
            project.vault.write(COUNTER, f"{number}\n".encode(), counter)  # first: a number may be lost, not used twice
            project.vault.write(rel, note.to_bytes(), None)
        except ChangedUnderneathError:
            raise _busy(project.vault.shown(rel)) from None
        made = read_activity(slug, note)
        assert made is not None
        return made

    def change(
        self, project: VaultProject, ref: str, edit: Callable[[Note, Activity], Note]
    ) -> tuple[Activity, Activity]:
        """Edit the note of an activity as it is on disk now; gives it before and after. Only under the lock.

        Raises:
            KxError: those of `find` and of `edit`, VAULT_BUSY, VAULT_UNWRITABLE, DISK_FULL.
        """
        for _ in range(ATTEMPTS):
            slug = self.find(project, ref).slug
            rel = join(FOLDER, slug + SUFFIX)
            stored = project.vault.read(rel)
            note = Note.parse(stored.data) if stored is not None else None
            before = read_activity(slug, note) if note is not None else None
            if stored is None or note is None or before is None:
                continue  # it changed since the listing
            try:
                changed = edit(note, before)
                after = read_activity(slug, changed)
            except KxError as error:
                raise _named(error, project.vault.shown(rel)) from None
            assert after is not None
            if changed == note:
                return before, before
            try:
                project.vault.write(rel, changed.to_bytes(), stored)
            except ChangedUnderneathError:
                continue
            return before, after
        raise _busy(ref)

    def sync_map(self, project: VaultProject, today: str) -> bool:
        """Bring the map of contents up to date; tells whether it was written. Only under the lock."""
        for _ in range(ATTEMPTS):
            stored = project.vault.read(MAP)
            page = Note.parse(stored.data) if stored is not None else None
            try:
                changed = with_map(page, self.all(project).activities, today)
            except KxError as error:
                raise _named(error, project.vault.shown(MAP)) from None
            if changed == page:
                return False
            try:
                project.vault.write(MAP, changed.to_bytes(), stored)
            except ChangedUnderneathError:
                continue
            return True
        raise _busy(MAP)

    def text(self, project: VaultProject, activity: Activity) -> str:
        """Give the text of a note, as it is on disk now.

        Raises:
            KxError: ACTIVITY_UNKNOWN when it is gone.
        """
        stored = project.vault.read(join(FOLDER, activity.slug + SUFFIX))
        if stored is None:
            raise KxError(ErrorCode.ACTIVITY_UNKNOWN, "there is no activity {ref}", ref=activity.slug)
        return Note.parse(stored.data).text()

    def _one(self, project: VaultProject, rel: str, stamp: Stamp) -> Activity | KxError | None:
        known = self._parsed.get((project.instance, rel))
        if known is not None and known[0] == stamp:
            return known[1]
        parsed: Activity | KxError | None = None
        try:
            stored = project.vault.read(rel)
            if stored is not None:
                stamp = stored.stamp
                parsed = read_activity(rel.removeprefix(FOLDER + "/").removesuffix(SUFFIX), Note.parse(stored.data))
        except KxError as error:
            parsed = None if error.code is ErrorCode.PATH_OUTSIDE_ROOT else _named(error, project.vault.shown(rel))
        with self._lock:
            if len(self._parsed) >= CACHED:
                self._parsed.clear()
            self._parsed[project.instance, rel] = (stamp, parsed)
        return parsed

    def _raise_if_damaged(self, project: VaultProject, typed: str) -> None:
        for slug in (typed.removesuffix(SUFFIX), slug_of(typed)):
            rel = join(FOLDER, slug + SUFFIX)
            if not slug or "/" in slug or slug.startswith("."):
                continue
            if pattern := _denied(project, rel):
                raise _denied_error(project.vault.shown(rel), pattern)
            stamp = project.vault.stamp(rel)
            found = self._one(project, rel, stamp) if stamp is not None else None
            if isinstance(found, KxError):
                raise found

    def _next_id(self, project: VaultProject) -> int:
        stored = project.vault.read(COUNTER)
        last = 0
        if stored is not None:
            if not re.fullmatch(rb"\d{1,9}\s*", stored.data):
                raise KxError(
                    ErrorCode.VAULT_DAMAGED,
                    "{file} cannot be used: {problem}",
                    hint="write the highest number that any activity ever had into it",
                    file=project.vault.shown(COUNTER),
                    problem="it holds no number",
                )
            last = int(stored.data)
        return max([last, *(one.id for one in self.all(project).activities)]) + 1


def _same_name(one: str, other: str) -> bool:
    """Compare names as the least exact file system does."""
    return unicodedata.normalize("NFC", one).casefold() == unicodedata.normalize("NFC", other).casefold()


def _denied(project: VaultProject, rel: str) -> str | None:
    return project.deny.denies(project.vault.shown(rel))


def _denied_error(path: str, pattern: str) -> KxError:
    return KxError(
        ErrorCode.PATH_DENIED,
        "{path} is denied by {pattern}",
        hint="choose another title; what is denied is never indexed nor shown",
        path=path,
        pattern=pattern,
    )


def _named(error: KxError, path: str) -> KxError:
    """Put the file's name into an error of a note that did not know it."""
    if "file" in error.params:
        error.params["file"] = path
    return error


def _busy(what: str) -> KxError:
    return KxError(
        ErrorCode.VAULT_BUSY,
        "another program is writing in {path}",
        hint="try again",
        retryable=True,
        path=what,
    )
