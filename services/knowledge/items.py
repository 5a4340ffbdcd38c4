"""What the endpoints about items do: list, write, edit, move, destroy. Works inside one transaction."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from services.knowledge.access import FoundBase, FoundItem, find_base, find_item, standings
from services.knowledge.adapters.ids import fresh, keyed
from services.knowledge.adapters.store import Tables
from services.knowledge.bases import destroyed, unconfirmed
from services.knowledge.changes import Done, Moment
from services.knowledge.core.erasure import markers_of
from services.knowledge.core.lifecycle import is_citable, is_first_published, moved
from services.knowledge.core.limits import MAX_KEY_CHARS, MAX_LOCATOR_CHARS, MAX_TITLE_CHARS
from services.knowledge.core.records import Base, Item, Revision
from services.knowledge.core.revision import canonical, content_hash, format_named, provenance
from services.knowledge.core.roles import Right, sees_base
from services.knowledge.core.words import line, name_of
from services.knowledge.pages import check_page, fitting
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import (
    CreateItem,
    DeleteItem,
    EditItem,
    Erased,
    ItemRow,
    Items,
    ItemsRequest,
    ItemWritten,
    MoveItem,
)
from shared.knowledge_reference import Reference


class Draft(Struct, frozen=True, kw_only=True):
    """What a new revision says, and by which operation."""

    content: bytes
    format: str
    tool: str
    source: dict[str, str] = {}


def listed(tables: Tables, asked: ItemsRequest) -> Items:
    """List the items that the caller sees, by base and title.

    Raises:
        KxError: BAD_REQUEST, KNOWLEDGE_UNKNOWN, KNOWLEDGE_FORBIDDEN.
    """
    check_page(asked.offset, asked.limit)
    if asked.base is not None:
        seen = [find_base(tables, asked.caller, asked.base, Right.READ)]
    else:
        mine = standings(tables, asked.caller)
        pairs = [(base, one) for one in mine for base in tables.spaces.bases(one.space.id)]
        seen = [FoundBase(base, one) for base, one in pairs if sees_base(one, base)]
    bases = {one.base.id: one.base for one in seen}
    edited = [one.base.id for one in seen if one.standing.is_editor]
    read = [one.base.id for one in seen if not one.standing.is_editor]
    items, total = tables.items.page(edited, read, asked.status, offset=asked.offset, limit=asked.limit)
    return Items(items=fitting(row(tables, one, bases[one.base]) for one in items), total=total)


def create(tables: Tables, asked: CreateItem, content: bytes, moment: Moment) -> Done[ItemWritten]:
    """Write an item with its first revision. Idempotent by principal, base and the caller's key; without one it is not.

    Raises:
        KxError: BAD_REQUEST, CONTENT_TOO_LARGE, KNOWLEDGE_UNKNOWN, KNOWLEDGE_FORBIDDEN.
    """
    found = find_base(tables, asked.caller, asked.base, Right.ITEM_WRITE)
    title = name_of("title", asked.title, MAX_TITLE_CHARS)
    key = line("key", asked.key, MAX_KEY_CHARS)
    item_id = keyed("itm", asked.caller.principal, found.base.id, key) if key else fresh("itm")
    made = tables.items.find(item_id) if key else None
    if made is not None:
        return written(tables, made, found.base, made)
    item = Item(
        id=item_id,
        base=found.base.id,
        title=title,
        locator=line("locator", asked.locator, MAX_LOCATOR_CHARS),
        status="draft",
        was="draft",
        origin="user_created",
        current=None,
        number=0,
        author=asked.caller.principal,
        failure="",
        file_hash="",
        created=moment.at,
        updated=moment.at,
    )
    draft = Draft(content=canonical(content), format=format_named(asked.format), tool="item_create")
    tables.items.add(item)
    moment.record(tables, found.base.space, "item.created", item.id)
    item = with_revision(tables, item, draft, moment, found.base)
    if asked.publish:
        item = published(tables, item, moment, found.base)
    return written(tables, item, found.base, None)


def edit(tables: Tables, asked: EditItem, content: bytes | None, moment: Moment) -> Done[ItemWritten]:
    """Change an item; a content or format that differs is a new revision, current at once. Idempotent.

    Raises:
        KxError: as `create`; KNOWLEDGE_CONFLICT when another revision is current than the caller says.
    """
    found = find_item(tables, asked.caller, asked.item, Right.ITEM_WRITE)
    item = found.item
    if asked.if_revision is not None and asked.if_revision != item.current:
        raise KxError(
            ErrorCode.KNOWLEDGE_CONFLICT,
            "{item} was changed meanwhile: {current} is current",
            hint="read that revision and edit it",
            item=item.id,
            current=item.current or "no revision",
        )
    title = item.title if asked.title is None else name_of("title", asked.title, MAX_TITLE_CHARS)
    locator = item.locator if asked.locator is None else line("locator", asked.locator, MAX_LOCATOR_CHARS)
    if locator != item.locator and item.origin == "file":
        _require_free(tables, item, locator)
    changed = replace(item, title=title, locator=locator)
    draft = _edited(tables, item, asked, content)
    if draft is not None:
        changed = with_revision(tables, changed, draft, moment, found.base)
    elif changed != item:
        changed = replace(changed, updated=moment.at)
        tables.items.save(changed)
    if changed != item and draft is None:
        moment.record(tables, found.base.space, "item.updated", item.id)
    return written(tables, changed, found.base, item)


def move(tables: Tables, asked: MoveItem, moment: Moment) -> Done[ItemWritten]:
    """Publish, archive or restore an item. Idempotent.

    Raises:
        KxError: BAD_REQUEST, KNOWLEDGE_UNKNOWN, KNOWLEDGE_FORBIDDEN.
    """
    found = find_item(tables, asked.caller, asked.item, Right.ITEM_WRITE)
    if asked.move == "publish":
        return written(tables, published(tables, found.item, moment, found.base), found.base, found.item)
    changed = moved(found.item, asked.move)
    if changed is not found.item:
        changed = replace(changed, updated=moment.at)
        tables.items.save(changed)
        moment.record(tables, found.base.space, f"item.{asked.move}d", changed.id, status=changed.status)
        _record_publication(tables, changed, moment)
    return written(tables, changed, found.base, found.item)


def delete(tables: Tables, asked: DeleteItem, moment: Moment) -> Done[Erased]:
    """Destroy an item and all its revisions.

    Raises:
        KxError: KNOWLEDGE_UNKNOWN, KNOWLEDGE_FORBIDDEN; BAD_REQUEST when it is not confirmed by its id.
    """
    found: FoundItem = find_item(tables, asked.caller, asked.item, Right.ITEM_DELETE)
    item = found.item
    if asked.confirm != item.id:
        raise unconfirmed(item.id)
    revisions = tables.items.count_revisions(item.id)
    markers = markers_of(destroyed(tables, item))
    moment.record(tables, found.base.space, "item.deleted", item.id, revisions=revisions)
    return Done(reply=Erased(items=1, revisions=revisions), space=found.base.space, erased=(item.id,), markers=markers)


def with_revision(tables: Tables, item: Item, draft: Draft, moment: Moment, base: Base) -> Item:
    """Write the next revision of an item and make it the current one."""
    revision = Revision(
        id=fresh("rev"),
        item=item.id,
        number=tables.items.next_number(item.id),
        format=draft.format,
        content_hash=content_hash(draft.content),
        content_bytes=len(draft.content),
        source=draft.source,
        provenance=provenance(moment.caller, tool=draft.tool, at=moment.at),
        created=moment.at,
        published_at=moment.at if item.status == "published" else None,
    )
    tables.items.add_revision(revision, draft.content)
    changed = replace(item, current=revision.id, number=revision.number, failure="", updated=moment.at)
    tables.items.save(changed)
    moment.record(
        tables, base.space, "item.revised", item.id, revision=revision.id, number=revision.number, status=item.status
    )
    return changed


def published(tables: Tables, item: Item, moment: Moment, base: Base) -> Item:
    """Publish an item, and record it of its current revision."""
    changed = moved(item, "publish")
    if changed is not item:
        changed = replace(changed, updated=moment.at)
        tables.items.save(changed)
        moment.record(tables, base.space, "item.published", item.id, revision=item.current)
    _record_publication(tables, changed, moment)
    return changed


def written(
    tables: Tables, item: Item, base: Base, before: Item | None, notes: tuple[str, ...] = ()
) -> Done[ItemWritten]:
    """Make the answer of an operation that left the item as it is now; `before` is what it was, None if it is new."""
    is_changed = item != before
    reply = ItemWritten(item=row(tables, item, base), is_changed=is_changed, notes=notes)
    return Done(reply=reply, space=base.space if is_changed else "")


def row(tables: Tables, item: Item, base: Base) -> ItemRow:
    """Give an item as it is told."""
    current = tables.items.revision(item.current) if item.current is not None else None
    is_cited = current is not None and is_citable(base, item, current)
    return ItemRow(
        id=item.id,
        base=item.base,
        base_name=base.name,
        title=item.title,
        locator=item.locator,
        status=item.status,
        origin=item.origin,
        current_revision_id=item.current,
        number=item.number,
        author=item.author,
        created=item.created,
        updated=item.updated,
        failure=item.failure,
        reference=str(Reference(item.id, current.id)) if is_cited and current is not None else "",
    )


def _record_publication(tables: Tables, item: Item, moment: Moment) -> None:
    current = tables.items.revision(item.current) if item.current is not None else None
    if current is not None and is_first_published(item, current):
        tables.items.publish(current.id, moment.at)


def _edited(tables: Tables, item: Item, asked: EditItem, content: bytes | None) -> Draft | None:
    """Give what the next revision says; None where it would say what the current one says."""
    if content is None and asked.format is None:
        return None
    current = tables.items.revision(item.current) if item.current is not None else None
    kept = tables.items.content(current.id) if current is not None else b""
    text = canonical(content) if content is not None else kept or b""
    kind = format_named(asked.format) if asked.format is not None else current.format if current else "markdown"
    if current is not None and content_hash(text) == current.content_hash and kind == current.format:
        return None
    return Draft(content=text, format=kind, tool="item_edit")


def _require_free(tables: Tables, item: Item, locator: str) -> None:
    other = tables.items.of_file(item.base, locator)
    if other is not None and other.id != item.id:
        raise KxError(
            ErrorCode.KNOWLEDGE_EXISTS,
            "another item of the base was imported from {locator}",
            hint="choose another locator",
            locator=locator,
        )
