"""Find what a caller names, as far as it is there for the caller: the one place where rights are asked.

Unknown and forbidden are one answer to whoever may not read a thing; who may read it but not do what was asked is told
so. Everything here works inside one transaction.
"""

from __future__ import annotations

from typing import NoReturn

from msgspec import Struct

from services.knowledge.adapters.store import Tables
from services.knowledge.core.records import Base, Item
from services.knowledge.core.roles import (
    READ_SCOPE,
    WRITE_SCOPE,
    Right,
    Standing,
    rights,
    scope_rights,
    sees_base,
    sees_item,
)
from services.knowledge.core.words import folded
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import PERSONAL, Caller


class FoundBase(Struct, frozen=True):
    """A base that the caller sees, and what it may do there."""

    base: Base
    standing: Standing


class FoundItem(Struct, frozen=True):
    """An item that the caller sees, its base, and what it may do there."""

    item: Item
    base: Base
    standing: Standing


def standings(tables: Tables, caller: Caller) -> tuple[Standing, ...]:
    """Give the spaces of the caller with what it may do in each, the personal one first.

    Raises:
        KxError: KNOWLEDGE_FORBIDDEN without any scope of knowledge.
    """
    require_scope(caller, Right.READ)
    return tuple(
        Standing(space=one.space, role=one.role, rights=rights(one.role, caller.scopes))
        for one in tables.spaces.memberships(caller.principal)
    )


def find_space(tables: Tables, caller: Caller, typed: str, right: Right) -> Standing:
    """Find a space of the caller by id or name; PERSONAL is its own.

    Raises:
        KxError: KNOWLEDGE_UNKNOWN, KNOWLEDGE_FORBIDDEN; BAD_REQUEST for a name of several.
    """
    mine = standings(tables, caller)
    if typed == PERSONAL:
        found = [one for one in mine if one.space.kind == "personal"]
    else:
        found = [one for one in mine if one.space.id == typed] or [
            one for one in mine if folded(one.space.name) == folded(typed)
        ]
    if not found:
        raise unknown(typed)
    if len(found) > 1:
        _ambiguous(typed)
    _require(found[0], right)
    return found[0]


def find_base(tables: Tables, caller: Caller, typed: str, right: Right) -> FoundBase:
    """Find a base by id, or by a name unique among those the caller sees.

    Raises:
        KxError: as `find_space`.
    """
    mine = standings(tables, caller)
    base = tables.spaces.base(typed)
    if base is not None:
        found = [FoundBase(base, one) for one in mine if one.space.id == base.space]
    else:
        named = [(tables.spaces.base_named(one.space.id, typed), one) for one in mine]
        bases = [(tables.spaces.base(name), one) for name, one in named if name is not None]
        found = [FoundBase(base, one) for base, one in bases if base is not None]
    found = [one for one in found if sees_base(one.standing, one.base)]
    if not found:
        raise unknown(typed)
    if len(found) > 1:
        _ambiguous(typed)
    _require(found[0].standing, right)
    return found[0]


def find_item(tables: Tables, caller: Caller, typed: str, right: Right) -> FoundItem:
    """Find an item by id.

    Raises:
        KxError: KNOWLEDGE_UNKNOWN, KNOWLEDGE_FORBIDDEN.
    """
    require_scope(caller, Right.READ)
    found = seen_item(tables, caller, typed)
    if found is None:
        raise unknown(typed)
    _require(found.standing, right)
    return found


def seen_item(tables: Tables, caller: Caller, item_id: str) -> FoundItem | None:
    """Give the item of this id if it is there for the caller."""
    item = tables.items.find(item_id)
    base = tables.spaces.base(item.base) if item is not None else None
    membership = tables.spaces.membership(caller.principal, base.space) if base is not None else None
    if item is None or base is None or membership is None:
        return None
    standing = Standing(space=membership.space, role=membership.role, rights=rights(membership.role, caller.scopes))
    return FoundItem(item, base, standing) if sees_item(standing, base, item) else None


def require_scope(caller: Caller, right: Right) -> None:
    """Prove that the caller's scopes could give a right in some role; nothing is looked at.

    Raises:
        KxError: KNOWLEDGE_FORBIDDEN.
    """
    if right not in scope_rights(caller.scopes):
        scope = READ_SCOPE if right is Right.READ else WRITE_SCOPE
        raise KxError(
            ErrorCode.KNOWLEDGE_FORBIDDEN,
            "this needs the scope {scope}",
            hint="use a token with it: kx token create",
            scope=scope,
        )


def unknown(typed: str) -> KxError:
    """Make the one answer about what is not there for the caller, for whatever reason."""
    return KxError(
        ErrorCode.KNOWLEDGE_UNKNOWN,
        "there is no {id} in the knowledge bases",
        hint="see what is there: kx kb list, kx kb items",
        id=typed[:200] or "space",
    )


def _require(standing: Standing, right: Right) -> None:
    if right in standing.rights:
        return
    raise KxError(
        ErrorCode.KNOWLEDGE_FORBIDDEN,
        "the role {role} with these scopes does not allow this",
        hint="ask the owner of the space for another role, or use a token with the scope {scope}",
        role=standing.role,
        scope=WRITE_SCOPE,
    )


def _ambiguous(typed: str) -> NoReturn:
    raise KxError(ErrorCode.BAD_REQUEST, "{name} names more than one", hint="use the id", name=typed[:200])
