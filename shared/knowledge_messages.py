"""The messages of knowledge bases: spaces, bases, items, immutable revisions, search and exact citations (pure).

As those of `shared.messages`, of which they are a part in a file of their own. They belong to no project: their subjects
name no tree. Each carries its caller; what the caller may do is role and scopes together.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from shared.access import LOCAL_PRINCIPAL, SCOPES, Scope
from shared.messages import LaneReport, Message, Pending

SpaceKind = Literal["personal", "team"]
Role = Literal["owner", "admin", "member", "viewer"]
BaseStatus = Literal["active", "archived"]
ItemStatus = Literal["draft", "published", "archived"]
ItemOrigin = Literal["user_created", "file"]
ItemMove = Literal["publish", "archive", "restore"]
BaseMove = Literal["archive", "restore"]
SearchMode = Literal["hybrid", "rrf", "semantic", "lexical"]

INLINE_CONTENT_BYTES = 131_072  # of UTF-8 in one message; more goes through the spool
PAGE_BYTES = 131_072  # of a revision's content in one reply
PERSONAL = ""  # in the place of a space: the caller's own


class Caller(Struct, frozen=True, kw_only=True):
    """On whose behalf a message is sent; written by the gateway from the token, by the command for this user."""

    principal: str = LOCAL_PRINCIPAL
    scopes: tuple[Scope, ...] = SCOPES
    client: str = ""  # what the program calls itself, for provenance


class KnowledgeMessage(Message, frozen=True, kw_only=True):
    """A message of the knowledge service."""

    caller: Caller


# --- spaces -------------------------------------------------------------------------------------------------------


class Member(Struct, frozen=True, kw_only=True):
    """A principal's role in a space."""

    principal: str
    role: Role


class SpaceRow(Struct, frozen=True, kw_only=True):
    """One space the caller belongs to."""

    id: str
    kind: SpaceKind
    name: str
    role: Role  # of the caller
    bases: int
    members: tuple[Member, ...] = ()  # told to its owner and admins


class SpacesRequest(KnowledgeMessage, frozen=True, kw_only=True):
    """Ask for the spaces of the caller, the personal one first."""


class Spaces(Message, frozen=True, kw_only=True):
    """The spaces of the caller."""

    spaces: tuple[SpaceRow, ...]


class CreateSpace(KnowledgeMessage, frozen=True, kw_only=True):
    """Found a team space; the caller is its owner. The same name twice is refused."""

    name: str


class SetMember(KnowledgeMessage, frozen=True, kw_only=True):
    """Give a principal a role in a team space, or with none take it away. The owner stays."""

    space: str  # id or name
    principal: str
    role: Role | None


class SpaceWritten(Message, frozen=True, kw_only=True):
    """The space as it is now."""

    space: SpaceRow


# --- bases --------------------------------------------------------------------------------------------------------


class BaseRow(Struct, frozen=True, kw_only=True):
    """One base."""

    id: str
    space: str  # id
    name: str
    description: str
    status: BaseStatus
    items: int  # all of them; those the caller may see are in `published` and `drafts`
    published: int
    drafts: int  # 0 for who may not read drafts
    created: str  # RFC 3339, UTC
    updated: str


class BasesRequest(KnowledgeMessage, frozen=True, kw_only=True):
    """Ask for the bases of a space, or of all the caller's spaces."""

    space: str | None = None  # id or name; PERSONAL is the caller's own, None all
    offset: int = 0


class Bases(Message, frozen=True, kw_only=True):
    """The bases, by space and name; as many as a message holds."""

    bases: tuple[BaseRow, ...]
    total: int = 0


class CreateBase(KnowledgeMessage, frozen=True, kw_only=True):
    """Found a base. The same name twice in a space is refused."""

    name: str
    description: str = ""
    space: str = PERSONAL  # id or name


class UpdateBase(KnowledgeMessage, frozen=True, kw_only=True):
    """Change a base's name or description; None leaves it."""

    base: str  # id, or a name unique among the caller's bases
    name: str | None = None
    description: str | None = None


class MoveBase(KnowledgeMessage, frozen=True, kw_only=True):
    """Archive a base (hides all of it at once) or restore it. Idempotent."""

    base: str
    move: BaseMove


class DeleteBase(KnowledgeMessage, frozen=True, kw_only=True):
    """Destroy a base, its items and all their revisions, for good and to the bytes."""

    base: str
    confirm: str  # the base's name, exactly


class BaseWritten(Message, frozen=True, kw_only=True):
    """The base as it is now."""

    base: BaseRow


class Erased(Message, frozen=True, kw_only=True):
    """What was destroyed; `residue` counts files in which bytes of it were still found."""

    items: int
    revisions: int
    residue: int = 0


# --- items and revisions ------------------------------------------------------------------------------------------


class ItemRow(Struct, frozen=True, kw_only=True):
    """One item, without its content."""

    id: str
    base: str  # id
    base_name: str
    title: str
    locator: str  # where it comes from or belongs: a path, an address; may be empty
    status: ItemStatus
    origin: ItemOrigin
    current_revision_id: str | None  # None: an import that has no content yet
    number: int  # of the current revision, 0 without one
    author: str  # principal
    created: str  # RFC 3339, UTC
    updated: str
    failure: str = ""  # why an import left no content, an English sentence
    reference: str = ""  # knowledge:{item}@{revision}, once it may be cited


class RevisionRow(Struct, frozen=True, kw_only=True):
    """One revision, without its content."""

    id: str
    item: str  # id
    number: int  # 1, 2, ...
    format: str  # markdown, or the kind of text: json, python, ...
    content_hash: str  # sha256 of the content's UTF-8, hexadecimal
    content_bytes: int
    source: dict[str, str]  # of an import: file name, its hash, its kind, parts
    provenance: dict[str, str]  # principal, client, tool, when
    created: str
    published_at: str | None  # when it first was the current revision of a published item
    is_current: bool


class ItemsRequest(KnowledgeMessage, frozen=True, kw_only=True):
    """Ask for items, a page at a time; drafts only for who may read them."""

    base: str | None = None  # id or name; None: all the caller's bases
    status: ItemStatus | None = None
    offset: int = 0
    limit: int = 100  # 1..500


class Items(Message, frozen=True, kw_only=True):
    """A page of items, by base and title."""

    items: tuple[ItemRow, ...]
    total: int


class CreateItem(KnowledgeMessage, frozen=True, kw_only=True):
    """Write an item: a draft with its first revision, or with `publish` published at once.

    Idempotent by caller, base and `key`; without a key each message makes another item.
    """

    base: str
    title: str
    content: str = ""
    spool: str = ""  # in the place of a content too long for a message
    format: str = "markdown"
    locator: str = ""
    publish: bool = False
    key: str = ""  # the caller's name for this request, at most 200 characters: again it gives the item as it is now


class ImportItem(KnowledgeMessage, frozen=True, kw_only=True):
    """Make an item of a file, or a revision of the item imported from it before; an unchanged file makes nothing.

    A document is extracted first; if that fails the item stays a draft and says why. The file is known again by its
    locator within the base.
    """

    base: str
    file_name: str  # its last component decides what it is
    spool: str  # its bytes
    locator: str = ""  # the file's name without it
    title: str = ""  # the document's own, or the file's name, without it
    publish: bool = False


class EditItem(KnowledgeMessage, frozen=True, kw_only=True):
    """Change an item; a changed content is a new revision, and the current one at once. None leaves a field."""

    item: str
    title: str | None = None
    locator: str | None = None
    content: str | None = None
    spool: str = ""
    format: str | None = None
    if_revision: str | None = None  # refused with KNOWLEDGE_CONFLICT when another revision is current


class MoveItem(KnowledgeMessage, frozen=True, kw_only=True):
    """Publish, archive or restore an item. Idempotent."""

    item: str
    move: ItemMove


class DeleteItem(KnowledgeMessage, frozen=True, kw_only=True):
    """Destroy an item and all its revisions, for good and to the bytes."""

    item: str
    confirm: str  # the item's id, exactly


class ItemWritten(Message, frozen=True, kw_only=True):
    """The item as it is now; `is_changed` is false when it was so before."""

    item: ItemRow
    is_changed: bool = True
    notes: tuple[str, ...] = ()  # English sentences


class ReadItem(KnowledgeMessage, frozen=True, kw_only=True):
    """Read a revision: pinned by its id, else the current one. Unknown and forbidden are one answer."""

    item: str
    revision: str | None = None
    offset: int = 0  # bytes of the content's UTF-8


class RevisionText(Message, frozen=True, kw_only=True):
    """A part of a revision, at most PAGE_BYTES; parts put together are its exact bytes."""

    item: ItemRow
    revision: RevisionRow
    content: bytes
    offset: int
    next_offset: int | None = None


class RevisionsRequest(KnowledgeMessage, frozen=True, kw_only=True):
    """Ask for an item's revisions, the newest first; those never published only for who may read drafts."""

    item: str
    before: int | None = None  # only those of a lower number


class Revisions(Message, frozen=True, kw_only=True):
    """The revisions of an item; as many as a message holds."""

    revisions: tuple[RevisionRow, ...]
    complete: bool = True  # false: ask again for those before the last


# --- search -------------------------------------------------------------------------------------------------------


class SearchKnowledge(KnowledgeMessage, frozen=True, kw_only=True):
    """Search the published current revisions of active bases the caller may read."""

    query: str
    top: int = 10  # 1..100
    offset: int = 0
    mode: SearchMode = "hybrid"
    k: int = 60
    alpha: float = 0.5
    space: str | None = None  # id or name; None: all
    base: str | None = None
    items: tuple[str, ...] | None = None  # only these, by id: what is linked to a project


class KnowledgeHit(Struct, frozen=True, kw_only=True):
    """One passage of a published current revision."""

    knowledge_item_id: str
    knowledge_revision_id: str
    title: str
    content: str  # exactly lines start_line..end_line of the revision
    reference: str  # knowledge:{item}@{revision}
    score: float
    base: str  # name
    space: str  # name
    start_line: int
    end_line: int
    heading: str = ""


class KnowledgeReply(Message, frozen=True, kw_only=True):
    """The ranked answer."""

    query: str
    mode: SearchMode
    results: tuple[KnowledgeHit, ...]
    total: int
    lanes: dict[str, LaneReport]
    pending: Pending
    took_ms: float
    notes: tuple[str, ...] = ()
