"""What the endpoints about bases do: list, found, change, archive, destroy. Works inside one transaction."""

from __future__ import annotations

from msgspec.structs import replace

from services.knowledge.access import find_base, find_space, standings
from services.knowledge.adapters.ids import fresh
from services.knowledge.adapters.store import Tables
from services.knowledge.changes import Done, Moment
from services.knowledge.core.erasure import markers_of
from services.knowledge.core.lifecycle import base_moved
from services.knowledge.core.limits import MAX_BASES, MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS
from services.knowledge.core.records import Base, Item
from services.knowledge.core.roles import Right, Standing, sees_base
from services.knowledge.core.words import lines, name_of
from services.knowledge.pages import fitting
from services.knowledge.spaces import exists, personal
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import (
    PERSONAL,
    BaseRow,
    Bases,
    BasesRequest,
    BaseWritten,
    CreateBase,
    DeleteBase,
    Erased,
    MoveBase,
    UpdateBase,
)


def listed(tables: Tables, asked: BasesRequest) -> Bases:
    """List the bases that the caller sees, by space and name.

    Raises:
        KxError: KNOWLEDGE_UNKNOWN, KNOWLEDGE_FORBIDDEN, BAD_REQUEST.
    """
    mine = standings(tables, asked.caller)
    if asked.space == PERSONAL:
        mine = tuple(one for one in mine if one.space.kind == "personal")
    elif asked.space is not None:
        mine = (find_space(tables, asked.caller, asked.space, Right.READ),)
    seen = [(base, one) for one in mine for base in tables.spaces.bases(one.space.id) if sees_base(one, base)]
    rows = (row(tables, base, standing) for base, standing in seen[max(0, asked.offset) :])
    return Bases(bases=fitting(rows), total=len(seen))


def create(tables: Tables, asked: CreateBase, moment: Moment) -> Done[BaseWritten]:
    """Found a base.

    Raises:
        KxError: BAD_REQUEST, KNOWLEDGE_UNKNOWN, KNOWLEDGE_FORBIDDEN, KNOWLEDGE_EXISTS.
    """
    if asked.space == PERSONAL:
        personal(tables, asked.caller, moment)
    standing = find_space(tables, asked.caller, asked.space, Right.BASE_ADMIN)
    name = name_of("name", asked.name, MAX_NAME_CHARS)
    if tables.spaces.base_named(standing.space.id, name) is not None:
        raise exists(name)
    if len(tables.spaces.bases(standing.space.id)) >= MAX_BASES:
        raise KxError(
            ErrorCode.BAD_REQUEST, "a space has at most {limit} bases", hint="use one that is there", limit=MAX_BASES
        )
    base = Base(
        id=fresh("bas"),
        space=standing.space.id,
        name=name,
        description=lines("description", asked.description, MAX_DESCRIPTION_CHARS),
        status="active",
        created=moment.at,
        updated=moment.at,
    )
    tables.spaces.add_base(base)
    moment.record(tables, base.space, "base.created", base.id)
    return Done(reply=BaseWritten(base=row(tables, base, standing)), space=base.space)


def update(tables: Tables, asked: UpdateBase, moment: Moment) -> Done[BaseWritten]:
    """Change the name or the description of a base. Idempotent.

    Raises:
        KxError: as `create`.
    """
    found = find_base(tables, asked.caller, asked.base, Right.BASE_ADMIN)
    base = found.base
    name = base.name if asked.name is None else name_of("name", asked.name, MAX_NAME_CHARS)
    description = (
        base.description
        if asked.description is None
        else lines("description", asked.description, MAX_DESCRIPTION_CHARS)
    )
    if tables.spaces.base_named(base.space, name) not in {None, base.id}:
        raise exists(name)
    changed = replace(base, name=name, description=description)
    if changed == base:
        return Done(reply=BaseWritten(base=row(tables, base, found.standing)))
    return _saved(tables, changed, found.standing, moment, "base.updated")


def move(tables: Tables, asked: MoveBase, moment: Moment) -> Done[BaseWritten]:
    """Archive a base or restore it. Idempotent.

    Raises:
        KxError: KNOWLEDGE_UNKNOWN, KNOWLEDGE_FORBIDDEN, BAD_REQUEST.
    """
    found = find_base(tables, asked.caller, asked.base, Right.BASE_ADMIN)
    changed = base_moved(found.base, asked.move)
    if changed is found.base:
        return Done(reply=BaseWritten(base=row(tables, changed, found.standing)))
    return _saved(tables, changed, found.standing, moment, f"base.{asked.move}d")


def delete(tables: Tables, asked: DeleteBase, moment: Moment) -> Done[Erased]:
    """Destroy a base, its items and all their revisions.

    Raises:
        KxError: KNOWLEDGE_UNKNOWN, KNOWLEDGE_FORBIDDEN; BAD_REQUEST when it is not confirmed by its name.
    """
    found = find_base(tables, asked.caller, asked.base, Right.BASE_ADMIN)
    base = found.base
    if asked.confirm != base.name:
        raise unconfirmed(base.name)
    items = tables.items.of_base(base.id)
    markers = [base.name.encode(), base.description.encode()]
    revisions = 0
    for item in items:
        markers += destroyed(tables, item)
        revisions += item.number
    tables.journal.unlink_all(base.id)
    tables.spaces.drop_base(base.id)
    moment.record(tables, base.space, "base.deleted", base.id, items=len(items), revisions=revisions)
    return Done(
        reply=Erased(items=len(items), revisions=revisions),
        space=base.space,
        erased=tuple(item.id for item in items),
        markers=markers_of(markers),
    )


def destroyed(tables: Tables, item: Item) -> list[bytes]:
    """Destroy an item in the tables; gives bytes of it that must be nowhere any more."""
    texts = [item.title.encode(), item.locator.encode()]
    for content in tables.items.contents(item.id):
        texts += markers_of([content])
    tables.items.destroy(item.id)
    return texts


def unconfirmed(expected: str) -> KxError:
    """Make the error of a deletion that was not confirmed."""
    return KxError(
        ErrorCode.BAD_REQUEST,
        "a deletion for good is confirmed by {expected}",
        hint="nothing was deleted; to hide it and keep it, archive it",
        expected=expected,
    )


def row(tables: Tables, base: Base, standing: Standing) -> BaseRow:
    """Give a base as the caller may see it."""
    items, published, drafts = tables.spaces.counts(base.id)
    return BaseRow(
        id=base.id,
        space=base.space,
        name=base.name,
        description=base.description,
        status=base.status,
        items=items if standing.is_editor else published,
        published=published,
        drafts=drafts if standing.is_editor else 0,
        created=base.created,
        updated=base.updated,
    )


def _saved(tables: Tables, base: Base, standing: Standing, moment: Moment, action: str) -> Done[BaseWritten]:
    saved = replace(base, updated=moment.at)
    tables.spaces.save_base(saved)
    moment.record(tables, base.space, action, base.id)
    return Done(reply=BaseWritten(base=row(tables, saved, standing)), space=base.space)
