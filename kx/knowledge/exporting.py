"""Write a base into a folder: a Markdown file for each item, with `--revisions` one for each revision."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from msgspec import Struct

from kx.knowledge.asking import read_whole
from kx.knowledge.finding import all_items
from kx.knowledge.finding import revisions as all_revisions
from kx.knowledge.front_matter import Head, Page, written
from shared.atomic_file import write_atomic
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import BaseRow, ItemRow, RevisionRow

HISTORY = "revisions"  # folder of those that are not current
SLUG_CHARS = 60
ID_CHARS = 8  # of the item, in a file's name


class Export(Struct, frozen=True, kw_only=True):
    """What was written, and what was not."""

    items: int
    files: int
    archived: tuple[str, ...] = ()  # titles: what is archived nobody reads
    empty: tuple[str, ...] = ()  # titles of imports without a content


async def export_base(bus: Bus, base: BaseRow, folder: Path, *, revisions: bool) -> Export:
    """Write every current revision, or all of them, with its exact bytes.

    Raises:
        KxError: BAD_REQUEST when the folder holds something or cannot be written; DISK_FULL.
    """
    try:
        return await _export(bus, base, folder, revisions=revisions)
    except OSError as error:
        raise unwritable(folder, error) from error


def unwritable(path: Path, error: OSError) -> KxError:
    """Say that nothing can be written there."""
    return KxError(
        ErrorCode.BAD_REQUEST,
        "{path} cannot be written: {problem}",
        hint="name a place that is not there yet, in a folder you may write to",
        path=path,
        problem=error.strerror or str(error),
    )


async def _export(bus: Bus, base: BaseRow, folder: Path, *, revisions: bool) -> Export:
    _prepare(folder)
    items = files = 0
    archived: list[str] = []
    empty: list[str] = []
    async for item in all_items(bus, base.id):
        if item.status == "archived":
            archived.append(item.title)
        elif item.current_revision_id is None:
            empty.append(item.title)
        else:
            items += 1
            files += await _item(bus, item, folder, revisions=revisions)
    return Export(items=items, files=files, archived=tuple(archived), empty=tuple(empty))


async def _item(bus: Bus, item: ItemRow, folder: Path, *, revisions: bool) -> int:
    current = await read_whole(bus, item.id, item.current_revision_id)
    _write(folder / f"{_name(item)}.md", item, current.part.revision, current.content)
    if not revisions:
        return 1
    told = await all_revisions(bus, item.id)
    older = [row for row in told if row.id != current.part.revision.id]
    place = folder / HISTORY / _name(item)
    if older:
        place.mkdir(parents=True)
    for row in older:
        found = await read_whole(bus, item.id, row.id)
        _write(place / f"{row.number:04}.md", item, row, found.content)
    return 1 + len(older)


def _write(path: Path, item: ItemRow, revision: RevisionRow, content: bytes) -> None:
    head = Head(
        id=item.id,
        title=item.title,
        status=item.status,
        published=revision.published_at,
        revision=revision.id,
        number=revision.number,
        current=revision.is_current,
        hash=revision.content_hash,
        format=revision.format,
        locator=item.locator,
        origin=item.origin,
        created=revision.created,
    )
    write_atomic(path, written(Page(head, content)))


def _name(item: ItemRow) -> str:
    """Name a file for a title, with what tells equal titles apart."""
    plain = unicodedata.normalize("NFKD", item.title).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:SLUG_CHARS].strip("-")
    return f"{slug or 'item'}-{item.id.rpartition('_')[2][:ID_CHARS]}"


def _prepare(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{path} is there already and not empty",
            hint="name a folder that is not there yet",
            path=folder,
        )
    folder.mkdir(parents=True, exist_ok=True)
