"""What becomes of an item and a base by publishing, archiving and restoring (pure).

An item: `draft` –publish→ `published`; either –archive→ `archived` –restore→ what it was. A base: `active` –archive→
`archived` –restore→ `active`. A move that was made already changes nothing.
"""

from __future__ import annotations

from msgspec.structs import replace

from services.knowledge.core.records import Base, Item, Revision
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import BaseMove, BaseStatus, ItemMove, ItemStatus

ITEM_MOVES: dict[tuple[ItemStatus, ItemMove], ItemStatus | None] = {  # None: what it was before it was archived
    ("draft", "publish"): "published",
    ("published", "publish"): "published",
    ("draft", "archive"): "archived",
    ("published", "archive"): "archived",
    ("archived", "archive"): "archived",
    ("draft", "restore"): "draft",
    ("published", "restore"): "published",
    ("archived", "restore"): None,
}
BASE_MOVES: dict[BaseMove, BaseStatus] = {"archive": "archived", "restore": "active"}


def moved(item: Item, move: ItemMove) -> Item:
    """Give the item after a move; the same item when it was made already.

    Raises:
        KxError: BAD_REQUEST to publish what is archived or has no content.
    """
    if move == "publish" and item.current is None:
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{item} has no content to publish",
            hint="import its file again, or give it a content",
            item=item.id,
        )
    if (item.status, move) not in ITEM_MOVES:
        raise KxError(
            ErrorCode.BAD_REQUEST, "{item} is archived", hint="restore it first, then publish it", item=item.id
        )
    status = ITEM_MOVES[item.status, move] or item.was
    was = item.status if status == "archived" and item.status != "archived" else item.was
    return item if status == item.status else replace(item, status=status, was=was)


def base_moved(base: Base, move: BaseMove) -> Base:
    """Give the base after a move; the same base when it was made already."""
    status = BASE_MOVES[move]
    return base if status == base.status else replace(base, status=status)


def is_first_published(item: Item, current: Revision | None) -> bool:
    """Tell whether the current revision is, now and for the first time, that of a published item."""
    return item.status == "published" and current is not None and current.published_at is None


def is_found(base: Base, item: Item) -> bool:
    """Tell whether a query search may see the item, in its current revision alone."""
    return base.status == "active" and item.status == "published" and item.current is not None


def is_citable(base: Base, item: Item, revision: Revision) -> bool:
    """Tell whether every reader of the space may read this revision: now, and by its citation."""
    return base.status == "active" and item.status == "published" and revision.published_at is not None


def is_hidden(base: Base, item: Item) -> bool:
    """Tell whether nobody may read any revision of the item until something is restored."""
    return base.status == "archived" or item.status == "archived"
