"""What the endpoint that imports does: a file to an item, or to the next revision of the item it was before.

The file is read between two transactions: a document takes seconds in a process of its own, and nobody waits for it.
"""

from __future__ import annotations

import hashlib

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from services.knowledge.access import find_base
from services.knowledge.adapters.ids import fresh
from services.knowledge.adapters.store import Tables
from services.knowledge.changes import Done, Moment
from services.knowledge.core.files import base_name, heading_of, kind_of, require_allowed, suffix_of
from services.knowledge.core.limits import MAX_DOCUMENT_BYTES, MAX_LOCATOR_CHARS, MAX_TITLE_CHARS
from services.knowledge.core.records import Base, Item
from services.knowledge.core.revision import MARKDOWN, canonical, content_hash
from services.knowledge.core.roles import Right
from services.knowledge.core.words import line, name_of
from services.knowledge.desk import Desk
from services.knowledge.items import Draft, published, with_revision, written
from shared.decoding import Refused, decode
from shared.errors import ErrorCode, KxError
from shared.extraction import extract
from shared.kinds import classify
from shared.knowledge_messages import ImportItem, ItemWritten

MAX_FAILURE_CHARS = 500
_LEAVES_A_DRAFT = {ErrorCode.EXTRACTION_FAILED, ErrorCode.EXTRACTION_REFUSED, ErrorCode.CONTENT_TOO_LARGE}


class ReadFile(Struct, frozen=True, kw_only=True):
    """What was made of a file; without a draft, why not."""

    locator: str
    title: str
    file_hash: str  # sha256, hexadecimal
    draft: Draft | None
    failure: str = ""
    notes: tuple[str, ...] = ()


class Importer:
    """Imports files."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def run(self, asked: ImportItem) -> ItemWritten:
        """Make an item or a revision of a file; idempotent by base, locator and the file's bytes.

        Raises:
            KxError: BAD_REQUEST, PATH_DENIED, CONTENT_TOO_LARGE, EXTRACTION_MISSING, KNOWLEDGE_*, DISK_FULL.
        """
        self._desk.require_enabled()
        data = await self._desk.spooled(asked.spool, max_bytes=MAX_DOCUMENT_BYTES)
        require_allowed(asked.file_name, asked.locator, asked.title)
        name = base_name(asked.file_name)
        locator = line("locator", asked.locator, MAX_LOCATOR_CHARS) or name
        digest = await to_thread.run_sync(lambda: hashlib.sha256(data).hexdigest())
        title = line("title", asked.title, MAX_TITLE_CHARS)
        kind = kind_of(name)

        def known(tables: Tables) -> Item | None:
            base = find_base(tables, asked.caller, asked.base, Right.ITEM_WRITE).base
            return tables.items.of_file(base.id, locator)

        before = await self._desk.read(known)
        if before is not None and _is_same_file(before, digest):
            read = ReadFile(locator=locator, title=title, file_hash=digest, draft=None)
        elif kind == "document":
            read = await _from_document(data, name, digest, locator, title)
        else:
            read = await to_thread.run_sync(lambda: _from_text(data, name, digest, locator, title))
        return await self._desk.write(asked.caller, lambda tables, moment: _keep(tables, asked, read, moment))


async def _from_document(data: bytes, name: str, digest: str, locator: str, title: str) -> ReadFile:
    try:
        found = await extract(data, suffix=suffix_of(name), name=name)
        content = canonical(found.markdown.encode())
    except KxError as error:
        if error.code not in _LEAVES_A_DRAFT:
            raise
        failure = str(error)[:MAX_FAILURE_CHARS]
        return ReadFile(
            locator=locator,
            title=title or _title(name),
            file_hash=digest,
            draft=None,
            failure=failure,
            notes=(failure,),
        )
    source = {"file_name": name, "file_sha256": digest, "kind": found.kind, "parts": str(found.parts)}
    draft = Draft(content=content, format=MARKDOWN, tool="item_import", source=source)
    own = title or _title(found.title) or _title(name)
    return ReadFile(locator=locator, title=own, file_hash=digest, draft=draft, notes=found.notes)


def _from_text(data: bytes, name: str, digest: str, locator: str, title: str) -> ReadFile:
    decoded = decode(data)
    if isinstance(decoded, Refused):
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{file} is no text: {reason}",
            hint="save it as UTF-8; a document must end with its own suffix",
            file=name,
            reason=decoded.detail,
        )
    language = classify(name, decoded.text[:200].partition("\n")[0]).language
    source = {"file_name": name, "file_sha256": digest, "kind": language}
    draft = Draft(content=canonical(decoded.text.encode()), format=language, tool="item_import", source=source)
    own = heading_of(decoded.text) if language == MARKDOWN else ""
    return ReadFile(locator=locator, title=title or _title(own) or _title(name), file_hash=digest, draft=draft)


def _keep(tables: Tables, asked: ImportItem, read: ReadFile, moment: Moment) -> Done[ItemWritten]:
    """Write what was read; asked again who may, because a file takes its time."""
    base = find_base(tables, asked.caller, asked.base, Right.ITEM_WRITE).base
    before = tables.items.of_file(base.id, read.locator)
    if before is None and read.draft is None and not read.failure:
        raise KxError(
            ErrorCode.KNOWLEDGE_CONFLICT,
            "the item of {locator} was deleted meanwhile",
            hint="import the file again",
            retryable=True,
            locator=read.locator,
        )
    item = before or _new(tables, read, base, moment)
    if read.failure:
        item = _failed(tables, item, read, moment, base)
    elif read.draft is not None:
        item = _revised(tables, item, asked, read, moment, base)
    notes = read.notes
    if asked.publish and item.status == "archived":
        notes = (*notes, "the item is archived: restore it to have it found")
    elif asked.publish and item.current is not None:
        item = published(tables, item, moment, base)
    return written(tables, item, base, before, notes)


def _new(tables: Tables, read: ReadFile, base: Base, moment: Moment) -> Item:
    item = Item(
        id=fresh("itm"),
        base=base.id,
        title=name_of("title", read.title, MAX_TITLE_CHARS),
        locator=read.locator,
        status="draft",
        was="draft",
        origin="file",
        current=None,
        number=0,
        author=moment.caller.principal,
        failure="",
        file_hash="",
        created=moment.at,
        updated=moment.at,
    )
    tables.items.add(item)
    moment.record(tables, base.space, "item.imported", item.id)
    return item


def _failed(tables: Tables, item: Item, read: ReadFile, moment: Moment, base: Base) -> Item:
    """Say why; what was there before stays as it is."""
    changed = replace(item, failure=read.failure, file_hash=read.file_hash)
    if changed != item:
        changed = replace(changed, updated=moment.at)
        tables.items.save(changed)
        moment.record(tables, base.space, "item.import_failed", item.id)
    return changed


def _revised(tables: Tables, item: Item, asked: ImportItem, read: ReadFile, moment: Moment, base: Base) -> Item:
    assert read.draft is not None
    title = read.title if asked.title or item.current is None else item.title
    changed = replace(item, title=title, file_hash=read.file_hash, failure="")
    current = tables.items.revision(item.current) if item.current is not None else None
    is_same = current is not None and (current.content_hash, current.format) == (
        content_hash(read.draft.content),
        read.draft.format,
    )
    if not is_same:
        return with_revision(tables, changed, read.draft, moment, base)
    if changed != item:
        changed = replace(changed, updated=moment.at)
        tables.items.save(changed)
    return changed


def _is_same_file(item: Item, digest: str) -> bool:
    return item.file_hash == digest and not item.failure and item.current is not None


def _title(text: str) -> str:
    return line("title", text[:MAX_TITLE_CHARS], MAX_TITLE_CHARS)
