"""Find bases and items by what people call them: an id, a reference, a name."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from kx.knowledge.asking import ASK_S, ME
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import (
    BaseRow,
    BasesRequest,
    ItemRow,
    ItemsRequest,
    ItemStatus,
    RevisionRow,
    RevisionsRequest,
)
from shared.knowledge_reference import Reference, parse_reference
from shared.subjects import BASES, ITEMS, REVISIONS

PAGE = 500
PREFIX = "knowledge:"
_ID = re.compile(r"[\w-]{16,}", re.ASCII)


def pinned(text: str) -> Reference:
    """Read a reference, with or without its prefix; anything else is a title.

    >>> pinned("knowledge:3f2a@9c0d"), pinned("3f2a"), pinned("Mail to a@b.c").item
    (Reference(item='3f2a', revision='9c0d'), Reference(item='3f2a', revision=None), 'Mail to a@b.c')
    """
    try:
        return parse_reference(text)
    except KxError:
        if text.startswith(PREFIX):
            raise
        return Reference(text)


async def bases(bus: Bus, space: str | None = None) -> tuple[BaseRow, ...]:
    """Give the caller's bases."""
    rows: list[BaseRow] = []
    total = 1
    while len(rows) < total:
        page = await bus.request(BASES, BasesRequest(caller=ME, space=space, offset=len(rows)), timeout_s=ASK_S)
        rows += page.bases
        total = page.total if page.bases else 0
    return tuple(rows)


async def revisions(bus: Bus, item: str) -> tuple[RevisionRow, ...]:
    """Give the revisions of an item, the newest first."""
    rows: list[RevisionRow] = []
    before: int | None = None
    while True:
        page = await bus.request(REVISIONS, RevisionsRequest(caller=ME, item=item, before=before), timeout_s=ASK_S)
        rows += page.revisions
        if page.complete or not page.revisions:
            return tuple(rows)
        before = rows[-1].number


async def find_base(bus: Bus, text: str) -> BaseRow | None:
    """Give the base of this id or name, None when there is none.

    Raises:
        KxError: BAD_REQUEST when several have the name.
    """
    rows = await bases(bus)
    found = [row for row in rows if row.id == text] or [row for row in rows if row.name == text]
    _refuse_several(text, [row.id for row in found])
    return found[0] if found else None


async def known_base(bus: Bus, text: str) -> BaseRow:
    """Give the base of this id or name.

    Raises:
        KxError: KNOWLEDGE_UNKNOWN; BAD_REQUEST when several have the name.
    """
    found = await find_base(bus, text)
    if found is None:
        raise KxError(
            ErrorCode.KNOWLEDGE_UNKNOWN,
            "there is no base {base}",
            hint="see them with: kx kb list; or create it: kx kb create {base}",
            base=text,
        )
    return found


async def item_id(bus: Bus, text: str) -> str:
    """Give the id of an item named by its id or by its title.

    Raises:
        KxError: KNOWLEDGE_UNKNOWN; BAD_REQUEST when several have the title.
    """
    if _ID.fullmatch(text):
        return text
    found = [row.id async for row in all_items(bus) if row.title == text]
    _refuse_several(text, found)
    if not found:
        raise KxError(
            ErrorCode.KNOWLEDGE_UNKNOWN,
            "there is no item {item}",
            hint="see them with: kx kb items",
            item=text,
        )
    return found[0]


async def all_items(bus: Bus, base: str | None = None, status: ItemStatus | None = None) -> AsyncIterator[ItemRow]:
    """Give the items of a base, or of all of them, page by page."""
    offset, total = 0, 1
    while offset < total:
        message = ItemsRequest(caller=ME, base=base, status=status, offset=offset, limit=PAGE)
        page = await bus.request(ITEMS, message, timeout_s=ASK_S)
        for row in page.items:
            yield row
        offset, total = offset + len(page.items), page.total if page.items else 0


def _refuse_several(text: str, ids: list[str]) -> None:
    if len(ids) > 1:
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{name} is the name of {count}: {ids}",
            hint="give the id of the one that is meant",
            name=text,
            count=len(ids),
            ids=", ".join(ids),
        )
