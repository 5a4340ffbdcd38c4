"""Bring exported items back: the same contents, titles and states; in another base under new ids.

An item of the base is known again by its id, else by title and locator, so that the same folder twice makes nothing new.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from kx.context import Context
from kx.knowledge import outcomes
from kx.knowledge.asking import ASK_S, ME, handed_over, read_whole
from kx.knowledge.finding import all_items
from kx.knowledge.front_matter import Page
from kx.knowledge.outcomes import Imported
from kx.knowledge.sources import Source
from shared.bus import Bus
from shared.errors import KxError
from shared.knowledge_messages import BaseRow, CreateItem, EditItem, ItemMove, ItemRow, ItemWritten, MoveItem
from shared.subjects import ITEM_CREATE, ITEM_EDIT, ITEM_MOVE


class Exported(Struct, frozen=True):
    """A file that holds an exported revision."""

    source: Source
    page: Page


class Restore:
    """One run into one base."""

    def __init__(self, context: Context, bus: Bus, base: BaseRow, *, publish: bool) -> None:
        self._context = context
        self._bus = bus
        self._base = base
        self._publish = publish
        self._rows: list[ItemRow] = []  # of the base before the run, those taken up removed

    async def run(self, found: Iterable[Exported]) -> list[Imported]:
        """Bring back every item; gives what became of the file of its newest revision."""
        self._rows = [row async for row in all_items(self._bus, self._base.id)]
        groups: dict[str, list[Exported]] = {}
        for one in found:
            groups.setdefault(one.page.head.id, []).append(one)
        told = []
        for group in groups.values():
            history = sorted(group, key=lambda one: one.page.head.number)
            try:
                told.append(await self._item(history))
            except KxError as error:
                told.append(outcomes.failed(history[-1].source, error))
        return told

    async def _item(self, history: list[Exported]) -> Imported:
        newest = history[-1]
        known = await self._known(newest.page)
        if known is None:
            written = await self._create(history)
        else:
            self._rows.remove(known)
            written = await self._update(known, newest.page)
        return outcomes.done(newest.source, written, is_new=known is None)

    async def _known(self, page: Page) -> ItemRow | None:
        head = page.head
        for row in self._rows:
            if row.id == head.id:
                return row
        alike = [row for row in self._rows if (row.title, row.locator) == (head.title, head.locator)]
        for row in alike if len(alike) > 1 else ():
            if await self._holds(row, page.content):
                return row
        return alike[0] if alike else None

    async def _holds(self, row: ItemRow, content: bytes) -> bool:
        try:
            return (await read_whole(self._bus, row.id)).content == content
        except KxError:  # archived, or without any content
            return False

    async def _create(self, history: list[Exported]) -> ItemWritten:
        first = history[0].page
        text = handed_over(self._context, first.content, name=str(history[0].source.path))
        message = CreateItem(
            caller=ME,
            base=self._base.id,
            title=first.head.title,
            content=text.content,
            spool=text.spool,
            format=first.head.format,
            locator=first.head.locator,
        )
        written = await self._bus.request(ITEM_CREATE, message, timeout_s=ASK_S)
        for one in history:
            if one is not history[0]:
                written = await self._edit(written.item, one.page)
            if one.page.head.published and written.item.status == "draft":
                written = await self._move(written.item, "publish")
        return _changed(await self._to_state(written.item, history[-1].page))

    async def _update(self, known: ItemRow, page: Page) -> ItemWritten:
        if known.status == "archived":
            if page.head.status == "archived":
                return ItemWritten(item=known, is_changed=False)
            known = (await self._move(known, "restore")).item
        edited = await self._edit(known, page)
        moved = await self._to_state(edited.item, page)
        return _changed(moved) if edited.is_changed or moved.is_changed else moved

    async def _edit(self, item: ItemRow, page: Page) -> ItemWritten:
        text = handed_over(self._context, page.content, name=page.head.title)
        message = EditItem(
            caller=ME,
            item=item.id,
            title=page.head.title,
            locator=page.head.locator,
            content=None if text.spool else text.content,
            spool=text.spool,
            format=page.head.format,
        )
        return await self._bus.request(ITEM_EDIT, message, timeout_s=ASK_S)

    async def _to_state(self, item: ItemRow, page: Page) -> ItemWritten:
        """Publish and archive as exported; what is published does not become a draft again."""
        written = ItemWritten(item=item, is_changed=False)
        wanted = page.head.status
        if item.status == "draft" and (wanted == "published" or self._publish):
            written = await self._move(item, "publish")
        if wanted == "archived":
            written = await self._move(item, "archive")
        return written

    async def _move(self, item: ItemRow, move: ItemMove) -> ItemWritten:
        return await self._bus.request(ITEM_MOVE, MoveItem(caller=ME, item=item.id, move=move), timeout_s=ASK_S)


def _changed(written: ItemWritten) -> ItemWritten:
    return ItemWritten(item=written.item, is_changed=True, notes=written.notes)
