"""What the endpoints about artifacts do: add, link, list. Everything here blocks."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from services.megabrain.activities import MAX_ROWS
from services.megabrain.adapters.projects import VaultProject
from services.megabrain.adapters.vault import ChangedUnderneathError, Stored
from services.megabrain.core.activity import Activity, with_artifact, with_updated, without_artifact
from services.megabrain.core.artifacts import (
    Artifact,
    Store,
    address,
    linked,
    newest_first,
    note_line,
    page,
    published,
    read_store,
    store_bytes,
)
from services.megabrain.core.note import Note
from services.megabrain.core.words import MAX_FIELD_CHARS, MAX_TITLE_CHARS, one_line
from services.megabrain.shelf import FOLDER, SUFFIX, Notes
from shared.errors import ErrorCode, KxError
from shared.megabrain_messages import (
    AddArtifact,
    ArtifactRow,
    Artifacts,
    ArtifactsRequest,
    ArtifactWritten,
    LinkArtifact,
)
from shared.relpath import join

STORE = "megabrain/artifacts.json"
STORE_OF_ORIGINAL = "artefatos/artefatos.json"  # used on where the original left one
PAGE = "ARTEFATOS.md"


class Written(Struct, frozen=True):
    """A reply, and the files that were written for it."""

    reply: ArtifactWritten
    paths: tuple[str, ...]


class Kept(Struct, frozen=True):
    """The store as it is on disk."""

    rel: str
    stored: Stored | None
    store: Store


def add(notes: Notes, project: VaultProject, asked: AddArtifact, now: datetime) -> Written:
    """Record a publication in the store, on the page and in the note of its activity.

    Raises:
        KxError: BAD_REQUEST, ACTIVITY_UNKNOWN, PATH_OUTSIDE_ROOT, VAULT_*, DISK_FULL.
    """
    given = {
        "url": address(asked.url),
        "titulo": one_line("title", asked.title, MAX_TITLE_CHARS),
        "descricao": one_line("description", asked.description, 2_000),
        "arquivo": one_line("file", asked.file, 1_000),
        "agente": one_line("agent", asked.agent),
        "label": one_line("label", asked.label, MAX_FIELD_CHARS),
        "sessao": one_line("session", asked.session),
    }
    today = now.date().isoformat()
    with project.vault.locked():
        kept = _kept(project)
        activity = _activity(notes, project, asked.activity, given["sessao"])
        given["atividade"] = activity.slug if activity is not None else ""
        is_new = kept.store.find(given["url"]) is None
        store, artifact = published(kept.store, given, today)
        return _written(notes, project, kept, store, artifact, now, is_new=is_new)


def link(notes: Notes, project: VaultProject, asked: LinkArtifact, now: datetime) -> Written:
    """Tie a recorded artifact to an activity.

    Raises:
        KxError: ARTIFACT_UNKNOWN, ACTIVITY_UNKNOWN, BAD_REQUEST, PATH_OUTSIDE_ROOT, VAULT_*, DISK_FULL.
    """
    with project.vault.locked():
        kept = _kept(project)
        activity = notes.find(project, asked.activity)
        store, artifact = linked(kept.store, address(asked.url), activity.slug, now.date().isoformat())
        return _written(notes, project, kept, store, artifact, now, is_new=False)


def listed(notes: Notes, project: VaultProject, asked: ArtifactsRequest) -> Artifacts:
    """List artifacts, the one published last first.

    Raises:
        KxError: ACTIVITY_UNKNOWN, BAD_REQUEST, VAULT_DAMAGED.
    """
    if not 1 <= asked.limit <= MAX_ROWS or asked.offset < 0:
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "offset {offset} and limit {limit} cannot be used",
            hint="offset from 0, limit from 1 to {most}",
            offset=asked.offset,
            limit=asked.limit,
            most=MAX_ROWS,
        )
    slug = notes.find(project, asked.activity).slug if asked.activity.strip() else ""
    wanted = [one for one in newest_first(_kept(project).store.artifacts) if not slug or one.atividade == slug]
    activities = notes.all(project).activities
    return Artifacts(
        project=project.name,
        artifacts=tuple(_row(one, activities) for one in wanted[asked.offset : asked.offset + asked.limit]),
        total=len(wanted),
    )


def _written(  # noqa: PLR0913 - what the two operations that write have in common
    notes: Notes, project: VaultProject, kept: Kept, store: Store, artifact: Artifact, now: datetime, *, is_new: bool
) -> Written:
    """Write the truth first; page and note can be written again from it."""
    paths: list[str] = []
    told: list[str] = []
    if store.document != kept.store.document:
        _write(project, kept.rel, store_bytes(store), kept.stored)
        paths.append(project.vault.shown(kept.rel))
    before = kept.store.find(artifact.url)
    for slug in dict.fromkeys((before.atividade if before is not None else None, artifact.atividade)):
        if not slug:
            continue
        try:
            paths += _in_note(notes, project, slug, artifact, now)
        except KxError as error:
            told.append(f"the note of the activity was not written: {error}")
    activities = notes.all(project).activities
    try:
        paths += _on_page(project, kept.rel, store, activities, now)
    except KxError as error:
        told.append(f"the page of artifacts was not written: {error}")
    reply = ArtifactWritten(artifact=_row(artifact, activities), is_new=is_new, notes=tuple(told))
    return Written(reply, tuple(paths))


def _in_note(notes: Notes, project: VaultProject, slug: str, artifact: Artifact, now: datetime) -> list[str]:
    def edit(note: Note, _: Activity) -> Note:
        is_here = slug == artifact.atividade
        url = artifact.url
        changed = with_artifact(note, note_line(artifact), url) if is_here else without_artifact(note, url)
        return changed if changed == note else with_updated(changed, now.isoformat(timespec="seconds"))

    before, after = notes.change(project, slug, edit)
    return [] if before is after else [project.vault.shown(join(FOLDER, after.slug + SUFFIX))]


def _on_page(
    project: VaultProject, rel: str, store: Store, activities: tuple[Activity, ...], now: datetime
) -> list[str]:
    data = page(project.name, store.artifacts, activities, project.vault.shown(rel), now.date().isoformat())
    seen = project.vault.read(PAGE)
    if seen is not None and seen.data == data:
        return []
    _write(project, PAGE, data, seen)
    return [project.vault.shown(PAGE)]


def _write(project: VaultProject, rel: str, data: bytes, seen: Stored | None) -> None:
    try:
        project.vault.write(rel, data, seen)
    except ChangedUnderneathError:
        raise KxError(
            ErrorCode.VAULT_BUSY,
            "another program is writing in {path}",
            hint="try again",
            retryable=True,
            path=project.vault.shown(rel),
        ) from None


def _kept(project: VaultProject) -> Kept:
    """Find the store: ours, else the original's, else ours to be."""
    for rel in (STORE, STORE_OF_ORIGINAL):
        stored = project.vault.read(rel)
        if stored is not None:
            return Kept(rel, stored, read_store(stored.data, project.vault.shown(rel), project.name))
    return Kept(STORE, None, read_store(None, project.vault.shown(STORE), project.name))


def _activity(notes: Notes, project: VaultProject, ref: str, session: str) -> Activity | None:
    """Find the activity that is named, else the one changed last of those that recorded the session."""
    if ref.strip():
        return notes.find(project, ref)
    if not session:
        return None
    of_session = [one for one in notes.all(project).activities if session in one.sessions]
    return max(of_session, key=lambda one: one.updated, default=None)


def _row(one: Artifact, activities: tuple[Activity, ...]) -> ArtifactRow:
    tied = next((activity for activity in activities if activity.slug == one.atividade), None)
    return ArtifactRow(
        url=one.url[:2_000],
        title=one.titulo[:MAX_FIELD_CHARS],
        version=one.versao,
        created=one.criado,
        updated=one.atualizado,
        description=one.descricao[:500],
        activity=one.atividade or "",
        activity_id=tied.id if tied is not None else 0,
        file=(one.arquivo or "")[:500],
        agent=one.agente[:MAX_FIELD_CHARS],
        session=(one.sessao or "")[:MAX_FIELD_CHARS],
    )
