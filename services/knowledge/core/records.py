"""The rows of the database as values (pure); what crosses a process boundary is in `shared.knowledge_messages`."""

from __future__ import annotations

from msgspec import Struct

from shared.knowledge_messages import BaseStatus, ItemOrigin, ItemStatus, Role, SpaceKind


class Space(Struct, frozen=True, kw_only=True):
    """One space."""

    id: str
    kind: SpaceKind
    name: str
    owner: str  # principal
    created: str  # RFC 3339, UTC, as every time here


class Membership(Struct, frozen=True, kw_only=True):
    """A space and the role of one principal in it."""

    space: Space
    role: Role


class Base(Struct, frozen=True, kw_only=True):
    """One base."""

    id: str
    space: str  # id
    name: str
    description: str
    status: BaseStatus
    created: str
    updated: str


class Item(Struct, frozen=True, kw_only=True):
    """One item, without its revisions."""

    id: str
    base: str  # id
    title: str
    locator: str
    status: ItemStatus
    was: ItemStatus  # before it was archived: what restoring makes of it
    origin: ItemOrigin
    current: str | None  # id of the current revision
    number: int  # of the current revision, 0 without one
    author: str  # principal
    failure: str
    file_hash: str  # sha256 of the file it was imported from last, "" without one
    created: str
    updated: str


class Revision(Struct, frozen=True, kw_only=True):
    """One revision, without its content."""

    id: str
    item: str  # id
    number: int  # 1, 2, ...
    format: str
    content_hash: str  # sha256 of the content, hexadecimal
    content_bytes: int
    source: dict[str, str]
    provenance: dict[str, str]
    created: str
    published_at: str | None
