"""Random lives of knowledge bases, and a model that says what may be seen of them; written without the service's code."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from services.knowledge import bases, items, spaces
from services.knowledge.desk import Desk
from shared import knowledge_messages as kb
from shared.errors import KxError
from shared.knowledge_messages import Caller

WRITERS = ("owner", "admin", "member")
READERS = (*WRITERS, "viewer")


class Kept:
    """What the model knows of an item."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.status = "draft"
        self.was = "draft"
        self.current = ""
        self.texts: dict[str, bytes] = {}  # by revision
        self.published: set[str] = set()  # revisions that were the current one of a published item

    def look(self) -> None:
        """Note that what is current now is published, where it is."""
        if self.status == "published":
            self.published.add(self.current)


class History:
    """One team space that lives."""

    def __init__(self, desk: Desk, seed: int) -> None:
        self.desk = desk
        self.name = f"Team {seed}"
        self.random = random.Random(seed)
        self.space = ""
        self.bases: dict[str, str] = {}  # name → active or archived
        self.ids: dict[str, str] = {}  # name → id
        self.items: dict[str, Kept] = {}
        self.gone: list[tuple[str, str]] = []  # destroyed: item, revision

    async def begin(self) -> None:
        """Found the space and its members."""
        owner = Caller(principal="owner")
        self.space = (await self._write(spaces.create, kb.CreateSpace(caller=owner, name=self.name))).space.id
        for name in ("admin", "member", "viewer"):
            await self._write(
                spaces.set_member, kb.SetMember(caller=owner, space=self.space, principal=name, role=name)
            )
        await self.found_base()

    async def step(self) -> None:
        """Do one thing that somebody may do."""
        await self.random.choice(
            (
                self.write_item, self.write_item, self.edit, self.edit, self.edit, self.publish, self.publish,
                self.archive, self.restore, self.move_base, self.found_base, self.destroy,
            )
        )()  # fmt: skip

    async def found_base(self) -> None:
        """Found a base."""
        name = f"base{len(self.ids)}"
        asked = kb.CreateBase(caller=self._caller("owner", "admin"), name=name, space=self.space)
        self.ids[name] = (await self._write(bases.create, asked)).base.id
        self.bases[name] = "active"

    async def write_item(self) -> None:
        """Write an item."""
        name, text = self.random.choice(sorted(self.bases)), self._text()
        is_published = self.random.random() < 0.3
        asked = kb.CreateItem(caller=self._caller(), base=self.ids[name], title="T", publish=is_published)
        made = (await self._write(_with(items.create, text), asked)).item
        kept = self.items[made.id] = Kept(name)
        kept.status = "published" if is_published else "draft"
        self._revised(kept, made, text)

    async def edit(self) -> None:
        """Edit an item."""
        if chosen := self._some():
            item, kept = chosen
            text = self._text()
            asked = kb.EditItem(caller=self._caller(), item=item, if_revision=kept.current)
            self._revised(kept, (await self._write(_with(items.edit, text), asked)).item, text)

    async def publish(self) -> None:
        """Publish an item; what is archived is not."""
        if chosen := self._some():
            item, kept = chosen
            try:
                await self._move(item, "publish")
            except KxError:
                assert kept.status == "archived"
                return
            assert kept.status != "archived"
            kept.status = "published"
            kept.look()

    async def archive(self) -> None:
        """Archive an item."""
        if chosen := self._some():
            item, kept = chosen
            await self._move(item, "archive")
            if kept.status != "archived":
                kept.was, kept.status = kept.status, "archived"

    async def restore(self) -> None:
        """Restore an item."""
        if chosen := self._some():
            item, kept = chosen
            await self._move(item, "restore")
            if kept.status == "archived":
                kept.status = kept.was
            kept.look()

    async def move_base(self) -> None:
        """Archive or restore a base."""
        name = self.random.choice(sorted(self.bases))
        move: kb.BaseMove = self.random.choice(("archive", "restore", "restore"))
        await self._write(
            bases.move, kb.MoveBase(caller=self._caller("owner", "admin"), base=self.ids[name], move=move)
        )
        self.bases[name] = {"archive": "archived", "restore": "active"}[move]

    async def destroy(self) -> None:
        """Destroy an item, seldom."""
        chosen = self._some()
        if chosen and self.random.random() < 0.2:
            item, kept = chosen
            caller = self._caller("owner", "admin")
            await self._write(items.delete, kb.DeleteItem(caller=caller, item=item, confirm=item))
            self.gone += [(item, revision) for revision in kept.texts]
            del self.items[item]

    def found(self) -> dict[tuple[str, str], bytes]:
        """Give what a query search may find, by the model."""
        return {
            (item, kept.current): kept.texts[kept.current]
            for item, kept in self.items.items()
            if kept.status == "published" and self.bases[kept.base] == "active"
        }

    def citable(self) -> dict[tuple[str, str], bytes]:
        """Give what a reader may read by its citation, by the model."""
        return {
            (item, revision): kept.texts[revision]
            for item, kept in self.items.items()
            if kept.status == "published" and self.bases[kept.base] == "active"
            for revision in kept.published
        }

    def ever(self) -> list[tuple[str, str]]:
        """Give every revision that there ever was."""
        return [(item, one) for item, kept in self.items.items() for one in kept.texts] + self.gone

    def _revised(self, kept: Kept, row: kb.ItemRow, text: bytes) -> None:
        revision = row.current_revision_id
        assert revision is not None
        assert row.number == len(kept.texts) + 1
        kept.texts[revision] = text
        kept.current = revision
        kept.look()

    def _some(self) -> tuple[str, Kept] | None:
        return self.random.choice(list(self.items.items())) if self.items else None

    def _caller(self, *names: str) -> Caller:
        return Caller(principal=self.random.choice(names or WRITERS))

    def _text(self) -> bytes:
        return f"# Text\n\n{self.random.getrandbits(128):032x} ação\n".encode()

    async def _move(self, item: str, move: kb.ItemMove) -> None:
        await self._write(items.move, kb.MoveItem(caller=self._caller(), item=item, move=move))

    async def _write(self, operation: Any, asked: Any) -> Any:
        return await self.desk.writing(operation)(asked)


def _with(operation: Callable[..., Any], text: bytes) -> Callable[..., Any]:
    return lambda tables, asked, moment: operation(tables, asked, text, moment)
