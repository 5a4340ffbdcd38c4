"""Keep spaces, bases, items and their immutable revisions, and tell who may see which (owns `knowledge.sqlite`).

SPACES           SpacesRequest      → the caller's spaces           → Spaces
SPACE_CREATE     CreateSpace        → a team space                  → SpaceWritten
SPACE_MEMBER     SetMember          → a role in a team space        → SpaceWritten
BASES            BasesRequest       → the bases the caller sees     → Bases
BASE_CREATE      CreateBase         → a base                        → BaseWritten
BASE_UPDATE      UpdateBase         → its name or description       → BaseWritten
BASE_MOVE        MoveBase           → archived or restored          → BaseWritten
BASE_DELETE      DeleteBase         → destroyed, to the bytes       → Erased
ITEMS            ItemsRequest       → the items the caller sees     → Items
ITEM_CREATE      CreateItem         → an item, its first revision   → ItemWritten
ITEM_IMPORT      ImportItem         → an item of a file             → ItemWritten
ITEM_EDIT        EditItem           → another revision, current     → ItemWritten
ITEM_MOVE        MoveItem           → published, archived, restored → ItemWritten
ITEM_DELETE      DeleteItem         → destroyed, to the bytes       → Erased
ITEM_READ        ReadItem           → the exact bytes of a revision → RevisionText
REVISIONS        RevisionsRequest   → an item's revisions           → Revisions
AUDIT            AuditRequest       → what was done in a space      → Audit
LINK_SET         SetLink            → tied to a project, or untied  → Links
LINKS            LinksRequest       → what is tied to a project     → Links
KNOWLEDGE_SEARCH SearchKnowledge    → spaces asked, hits proven     → KnowledgeReply
REMEMBER         Remember           → a record of a project         → Remembered
FORGET           Forget             → destroyed, to the bytes       → Forgotten
PROMOTE          PromoteMemory      → a record made durable         → Remembered
MEMORIES         MemoriesRequest    → the records the caller sees   → Memories
RECALL           RecallContext      → memory, and knowledge         → RecalledContext
LIMITS           LimitsRequest      → how large what may be         → KnowledgeLimits
health           ServiceStatusRequest                               → ServiceStatus
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import anyio

from services.knowledge import bases, items, links, reading, spaces
from services.knowledge.core.limits import MAX_TEXT_BYTES, limits
from services.knowledge.derived import Derived
from services.knowledge.desk import Desk
from services.knowledge.importing import Importer
from shared import subjects
from shared.bus import GRACE_S, Bus, Endpoint, ServiceContract
from shared.extraction import can_read
from shared.kinds import DOCUMENTS
from shared.knowledge_messages import CreateItem, EditItem, ItemWritten
from shared.knowledge_upkeep_messages import KnowledgeLimits, LimitsRequest
from shared.runtime import health_endpoint
from shared.settings import Settings

SEARCHES_AT_ONCE = 8  # each asks every space
IMPORTS_AT_ONCE = 4  # each holds a whole file in memory


def _utc_now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def service(
    bus: Bus, settings: Settings, *, now: Callable[[], datetime] = _utc_now, is_once: bool = False
) -> AsyncIterator[None]:
    """Answer while the context is entered; ready when entered. `now` is the clock.

    With `is_once`, for a command that runs once, the derived trees are compared before it is ready, and what it wrote is
    in the index before it is left.
    """
    desk = Desk(settings, now)
    derived = Derived(bus, settings, desk, now)
    contract = ServiceContract(
        name=subjects.KNOWLEDGE,
        description="knowledge bases: spaces, items, immutable revisions",
        endpoints=(*truth_endpoints(desk), *derived_endpoints(derived), health_endpoint(subjects.KNOWLEDGE)),
    )
    try:
        async with anyio.create_task_group() as tasks:
            if is_once:
                await derived.compare(thorough=False)
            else:
                tasks.start_soon(derived.keep)
            async with bus.serve(contract):
                yield
            if is_once:
                await derived.settle()
            tasks.cancel_scope.cancel()
    finally:
        with anyio.move_on_after(GRACE_S, shield=True):
            await desk.close()


def truth_endpoints(desk: Desk) -> tuple[Endpoint, ...]:
    """Give the endpoints about spaces, bases, items, revisions, the audit, links and limits."""
    writing, from_disk = desk.writing, desk.reading
    return (
        Endpoint(route=subjects.SPACES, handle=writing(spaces.listed)),
        Endpoint(route=subjects.SPACE_CREATE, handle=writing(spaces.create)),
        Endpoint(route=subjects.SPACE_MEMBER, handle=writing(spaces.set_member)),
        Endpoint(route=subjects.BASES, handle=from_disk(bases.listed)),
        Endpoint(route=subjects.BASE_CREATE, handle=writing(bases.create)),
        Endpoint(route=subjects.BASE_UPDATE, handle=writing(bases.update)),
        Endpoint(route=subjects.BASE_MOVE, handle=writing(bases.move)),
        Endpoint(route=subjects.BASE_DELETE, handle=writing(bases.delete)),
        Endpoint(route=subjects.ITEMS, handle=from_disk(items.listed)),
        Endpoint(route=subjects.ITEM_CREATE, handle=_Texts(desk).create),
        Endpoint(route=subjects.ITEM_IMPORT, handle=Importer(desk).run, at_once=IMPORTS_AT_ONCE),
        Endpoint(route=subjects.ITEM_EDIT, handle=_Texts(desk).edit),
        Endpoint(route=subjects.ITEM_MOVE, handle=writing(items.move)),
        Endpoint(route=subjects.ITEM_DELETE, handle=writing(items.delete)),
        Endpoint(route=subjects.ITEM_READ, handle=from_disk(reading.read)),
        Endpoint(route=subjects.REVISIONS, handle=from_disk(reading.revisions)),
        Endpoint(route=subjects.AUDIT, handle=from_disk(reading.audit)),
        Endpoint(route=subjects.LINK_SET, handle=writing(links.put)),
        Endpoint(route=subjects.LINKS, handle=from_disk(links.listed)),
        Endpoint(route=subjects.LIMITS, handle=_Texts(desk).limits),
    )


def derived_endpoints(derived: Derived) -> tuple[Endpoint, ...]:
    """Give the endpoints of search and memory."""
    return (
        Endpoint(route=subjects.KNOWLEDGE_SEARCH, handle=derived.search.search, at_once=SEARCHES_AT_ONCE),
        Endpoint(route=subjects.REMEMBER, handle=derived.memory.remember),
        Endpoint(route=subjects.FORGET, handle=derived.memory.forget),
        Endpoint(route=subjects.PROMOTE, handle=derived.memory.promote),
        Endpoint(route=subjects.MEMORIES, handle=derived.memory.listed),
        Endpoint(route=subjects.RECALL, handle=derived.recall.recall, at_once=SEARCHES_AT_ONCE),
    )


class _Texts:
    """The operations whose content may lie beside their message."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def create(self, asked: CreateItem) -> ItemWritten:
        """Write an item."""
        content = await self._content(asked.content, asked.spool)
        return await self._desk.write(asked.caller, lambda tables, moment: items.create(tables, asked, content, moment))

    async def edit(self, asked: EditItem) -> ItemWritten:
        """Change an item."""
        has_content = asked.content is not None or asked.spool
        content = await self._content(asked.content or "", asked.spool) if has_content else None
        return await self._desk.write(asked.caller, lambda tables, moment: items.edit(tables, asked, content, moment))

    async def limits(self, _: LimitsRequest) -> KnowledgeLimits:
        """Say how large what may be."""
        self._desk.require_enabled()
        return limits(documents_available=all(map(can_read, DOCUMENTS)))

    async def _content(self, inline: str, spooled: str) -> bytes:
        self._desk.require_enabled()
        return await self._desk.spooled(spooled, max_bytes=MAX_TEXT_BYTES) if spooled else inline.encode()
