"""What `/api/v1` takes (pure): one Struct a body or a query, from which the OpenAPI document is made."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from shared.knowledge_messages import ItemStatus, SearchMode

MAX_TITLE_CHARS = 300
MAX_NAME_CHARS = 200  # of a base or a space
MAX_CONTENT_CHARS = 10_000_000

Id = Annotated[str, Meta(description="Id, or a name where it is unique.", min_length=1, max_length=MAX_TITLE_CHARS)]
Title = Annotated[str, Meta(min_length=1, max_length=MAX_TITLE_CHARS)]
Content = Annotated[str, Meta(description="The whole text.", max_length=MAX_CONTENT_CHARS)]
Format = Annotated[
    str,
    Meta(
        description="markdown, or the kind of text: json, python …",
        min_length=1,
        max_length=40,
        pattern="^[A-Za-z0-9+.#_-]+$",
    ),
]
Locator = Annotated[str, Meta(description="Where it comes from or belongs: a path, an address.", max_length=1_000)]


class Body(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A JSON object; what it does not know it refuses."""


class SearchBody(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Search published current revisions."""

    query: Annotated[str, Meta(min_length=1, max_length=10_000)]
    top: Annotated[int, Meta(ge=1, le=100)] = 10
    offset: Annotated[int, Meta(ge=0, le=10_000)] = 0
    mode: SearchMode = "hybrid"
    k: Annotated[int, Meta(ge=1, le=1_000)] = 60
    alpha: Annotated[float, Meta(ge=0, le=1)] = 0.5
    space: Id | None = None
    base: Id | None = None


class BaseBody(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Found a base."""

    name: Annotated[str, Meta(min_length=1, max_length=MAX_NAME_CHARS)]
    description: Annotated[str, Meta(max_length=2_000)] = ""
    space: Annotated[str, Meta(description="Id or name; your own space without it.", max_length=MAX_NAME_CHARS)] = ""


class ItemBody(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Write an item: a draft, or published at once."""

    base: Id
    title: Title
    content: Content
    format: Format = "markdown"
    locator: Locator = ""
    publish: bool = False
    key: Annotated[
        str, Meta(description="Your name for this request: sent again it gives the item it made.", max_length=200)
    ] = ""


class ItemPatch(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Change an item; what is left out stays. A changed content is a new revision."""

    title: Title | None = None
    content: Content | None = None
    format: Format | None = None
    locator: Locator | None = None
    if_revision: Annotated[str, Meta(description="Refuse with 409 unless this one is current.")] | None = None


class NoBody(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing."""


class NoQuery(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing."""


class BasesQuery(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which bases."""

    space: Id | None = None
    offset: Annotated[int, Meta(ge=0, le=1_000_000)] = 0


class RevisionsQuery(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which revisions."""

    before: Annotated[int, Meta(description="Only those of a lower number.", ge=1, le=2**53)] | None = None


class ItemsQuery(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which items."""

    base: Id | None = None
    status: ItemStatus | None = None
    offset: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    limit: Annotated[int, Meta(ge=1, le=500)] = 100


class ReadQuery(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which revision."""

    revision: Annotated[str, Meta(description="The current one without it.", min_length=1, max_length=100)] | None = (
        None
    )


class ImportQuery(Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the bytes of the body are; as fields of a form beside `file` they may come too."""

    base: Id
    file_name: Annotated[str, Meta(description="Its ending decides what it is.", min_length=1, max_length=255)]
    locator: Locator = ""
    title: Annotated[str, Meta(max_length=MAX_TITLE_CHARS)] = ""
    publish: bool = False
