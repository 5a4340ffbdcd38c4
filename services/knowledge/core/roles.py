"""Who may do what: the role in the space and the scopes of the token, together (pure).

A token never lends a right that the role has not, and a role never one that the token has not.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from msgspec import Struct

from services.knowledge.core.lifecycle import is_citable, is_found, is_hidden
from services.knowledge.core.records import Base, Item, Revision, Space
from shared.access import ADMIN, Scope
from shared.knowledge_messages import Role

READ_SCOPE: Scope = "knowledge:read"
WRITE_SCOPE: Scope = "knowledge:write"


class Right(StrEnum):
    """What an operation needs."""

    READ = "read"  # search, read the current revision, read a pinned one
    READ_DRAFTS = "read_drafts"  # drafts, revisions never published; to see what is archived
    ITEM_WRITE = "item_write"  # create, edit, publish, archive, restore
    ITEM_DELETE = "item_delete"  # for good
    BASE_ADMIN = "base_admin"  # create, update, archive, restore, delete
    SPACE_ADMIN = "space_admin"  # members, the audit


_ALL = frozenset(Right)
_READER = frozenset({Right.READ})
ROLE_RIGHTS: dict[Role, frozenset[Right]] = {
    "owner": _ALL,
    "admin": _ALL,
    "member": frozenset({Right.READ, Right.READ_DRAFTS, Right.ITEM_WRITE}),
    "viewer": _READER,
}
SCOPE_RIGHTS: dict[Scope, frozenset[Right]] = {READ_SCOPE: _READER, WRITE_SCOPE: _ALL, ADMIN: _ALL}


class Standing(Struct, frozen=True, kw_only=True):
    """What one caller may do in one space."""

    space: Space
    role: Role
    rights: frozenset[Right]

    @property
    def is_editor(self) -> bool:
        """Tell whether drafts and archived things are seen."""
        return Right.READ_DRAFTS in self.rights


def scope_rights(scopes: Collection[Scope]) -> frozenset[Right]:
    """Give what scopes allow at most, in whatever role."""
    return frozenset().union(*(SCOPE_RIGHTS.get(scope, frozenset()) for scope in scopes))


def rights(role: Role, scopes: Collection[Scope]) -> frozenset[Right]:
    """Give what a role and scopes allow together."""
    return ROLE_RIGHTS[role] & scope_rights(scopes)


def sees_base(standing: Standing, base: Base) -> bool:
    """Tell whether the base is there for the caller; an archived one is there for editors alone, to be restored."""
    return Right.READ in standing.rights and (base.status == "active" or standing.is_editor)


def sees_item(standing: Standing, base: Base, item: Item) -> bool:
    """Tell whether the item is there for the caller."""
    return sees_base(standing, base) and (standing.is_editor or is_found(base, item))


def reads(standing: Standing, base: Base, item: Item, revision: Revision) -> bool:
    """Tell whether the caller may read the content of a revision; what is archived nobody reads."""
    if Right.READ not in standing.rights or is_hidden(base, item):
        return False
    return standing.is_editor or is_citable(base, item, revision)
