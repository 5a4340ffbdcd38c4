"""Knowledge over a real database, on a bus of its own: what its tests ask."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from services.knowledge.adapters.schema import FILE_NAME
from services.knowledge.service import service
from shared import knowledge_messages as kb
from shared import spool
from shared import subjects as s
from shared.access import Scope
from shared.bus import Bus
from shared.bus_memory import MemoryBus
from shared.knowledge_messages import Caller
from shared.messages import Message
from shared.settings import Settings, ensure_home
from shared.subjects import RequestRoute
from tests.support.configs import make_settings

Q = TypeVar("Q", bound=Message)
R = TypeVar("R", bound=Message)


class Clock:
    """A clock of which each look is a second later."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 30, 10, 0, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Look at it."""
        self.time += timedelta(seconds=1)
        return self.time


class Asker:
    """One principal who asks."""

    def __init__(self, bus: Bus, settings: Settings, caller: Caller) -> None:
        self.bus = bus
        self.caller = caller
        self._settings = settings

    def named(self, principal: str, *scopes: Scope) -> Asker:
        """Ask as somebody else, with all scopes when none is named."""
        caller = Caller(principal=principal, scopes=scopes) if scopes else Caller(principal=principal)
        return Asker(self.bus, self._settings, caller)

    async def ask(self, route: RequestRoute[Q, R], message: Q) -> R:
        """Send any message."""
        return await self.bus.request(route, message, timeout_s=60)

    async def space(self, name: str, **members: kb.Role) -> kb.SpaceRow:
        """Found a team space with members."""
        row = (await self.ask(s.SPACE_CREATE, kb.CreateSpace(caller=self.caller, name=name))).space
        for principal, role in members.items():
            asked = kb.SetMember(caller=self.caller, space=row.id, principal=principal, role=role)
            row = (await self.ask(s.SPACE_MEMBER, asked)).space
        return row

    async def base(self, name: str, space: str = kb.PERSONAL) -> kb.BaseRow:
        """Found a base."""
        return (await self.ask(s.BASE_CREATE, kb.CreateBase(caller=self.caller, name=name, space=space))).base

    async def move_base(self, base: str, move: kb.BaseMove) -> kb.BaseRow:
        """Archive or restore a base."""
        return (await self.ask(s.BASE_MOVE, kb.MoveBase(caller=self.caller, base=base, move=move))).base

    async def item(self, base: str, title: str, content: str, *, publish: bool = False) -> kb.ItemRow:
        """Write an item."""
        asked = kb.CreateItem(caller=self.caller, base=base, title=title, content=content, publish=publish)
        return (await self.ask(s.ITEM_CREATE, asked)).item

    async def edit(self, item: str, content: str) -> kb.ItemRow:
        """Edit an item."""
        return (await self.ask(s.ITEM_EDIT, kb.EditItem(caller=self.caller, item=item, content=content))).item

    async def move(self, item: str, move: kb.ItemMove) -> kb.ItemRow:
        """Publish, archive or restore an item."""
        return (await self.ask(s.ITEM_MOVE, kb.MoveItem(caller=self.caller, item=item, move=move))).item

    async def put(self, base: str, name: str, data: bytes, *, publish: bool = False) -> kb.ItemWritten:
        """Import a file."""
        asked = kb.ImportItem(
            caller=self.caller, base=base, file_name=name, spool=spool.put(self._settings, data), publish=publish
        )
        return await self.ask(s.ITEM_IMPORT, asked)

    async def part(self, item: str, revision: str | None = None, offset: int = 0) -> kb.RevisionText:
        """Read a part of a revision."""
        asked = kb.ReadItem(caller=self.caller, item=item, revision=revision, offset=offset)
        return await self.ask(s.ITEM_READ, asked)

    async def read(self, item: str, revision: str | None = None) -> bytes:
        """Read all of a revision."""
        whole, offset = b"", 0
        while True:
            part = await self.part(item, revision, offset)
            whole += part.content
            if part.next_offset is None:
                return whole
            offset = part.next_offset

    async def items(self, base: str | None = None) -> list[kb.ItemRow]:
        """List the items that are seen."""
        return list((await self.ask(s.ITEMS, kb.ItemsRequest(caller=self.caller, base=base, limit=500))).items)


class KnowledgeBench:
    """A home folder, and the service over it."""

    def __init__(self, home: Path) -> None:
        self.settings: Settings = make_settings(home)
        ensure_home(self.settings)
        self.clock = Clock()

    @property
    def path(self) -> Path:
        """The database."""
        return self.settings.home / FILE_NAME

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Asker]:
        """Run it on a bus of its own; asks as the user of the machine."""
        async with MemoryBus() as bus, service(bus, self.settings, now=self.clock):
            yield Asker(bus, self.settings, Caller(client="test"))
