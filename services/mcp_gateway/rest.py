"""What the operations of `/api/v1` do: requests to knowledge, in the name of the token's principal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from anyio import to_thread
from msgspec import Struct

from services.mcp_gateway.core import rest_answers as gives
from services.mcp_gateway.core import rest_inputs as takes
from shared import spool
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import (
    INLINE_CONTENT_BYTES,
    BasesRequest,
    Caller,
    CreateBase,
    CreateItem,
    EditItem,
    ImportItem,
    ItemMove,
    ItemsRequest,
    ItemWritten,
    MoveItem,
    ReadItem,
    RevisionsRequest,
    RevisionText,
    SearchKnowledge,
    SpacesRequest,
)
from shared.knowledge_upkeep_messages import LimitsRequest
from shared.settings import Settings
from shared.subjects import (
    BASE_CREATE,
    BASES,
    ITEM_CREATE,
    ITEM_EDIT,
    ITEM_IMPORT,
    ITEM_MOVE,
    ITEM_READ,
    ITEMS,
    KNOWLEDGE_SEARCH,
    LIMITS,
    REVISIONS,
    SPACES,
)

REQUEST_S = 30.0
IMPORT_S = 60.0  # a document may be extracted for ten seconds, behind others


class RestCall(Struct, frozen=True, kw_only=True):
    """One request that has been read; `asked` is its body, or its query where it has none."""

    caller: Caller
    asked: Struct
    item: str = ""  # of the path
    data: bytes = b""  # of a file


class Rest:
    """Carries operations out."""

    def __init__(self, bus: Bus, settings: Settings) -> None:
        self._bus = bus
        self._settings = settings

    async def knowledge_search(self, call: RestCall) -> gives.SearchFound:
        """Search."""
        asked = call.asked
        assert isinstance(asked, takes.SearchBody)
        request = SearchKnowledge(
            caller=call.caller,
            query=asked.query,
            top=asked.top,
            offset=asked.offset,
            mode=asked.mode,
            k=asked.k,
            alpha=asked.alpha,
            space=asked.space,
            base=asked.base,
        )
        found = await self._bus.request(KNOWLEDGE_SEARCH, request, timeout_s=REQUEST_S)
        down = [
            f"the {name} lane is {lane.state}: {lane.reason}"
            for name, lane in found.lanes.items()
            if lane.state in {"off", "failed"} and lane.reason not in found.notes
        ]
        return gives.SearchFound(
            results=found.results,
            total=found.total,
            mode=found.mode,
            took_ms=found.took_ms,
            notes=(*found.notes, *down),
        )

    async def limits(self, _: RestCall) -> gives.Limits:
        """Tell sizes."""
        told = await self._bus.request(LIMITS, LimitsRequest(), timeout_s=REQUEST_S)
        return gives.Limits(
            max_text_bytes=told.max_text_bytes,
            max_document_bytes=told.max_document_bytes,
            max_title_chars=told.max_title_chars,
            text_suffixes=told.text_suffixes,
            document_suffixes=told.document_suffixes,
            documents_available=told.documents_available,
        )

    async def spaces(self, call: RestCall) -> gives.SpacesFound:
        """List spaces."""
        found = await self._bus.request(SPACES, SpacesRequest(caller=call.caller), timeout_s=REQUEST_S)
        return gives.SpacesFound(spaces=found.spaces)

    async def bases(self, call: RestCall) -> gives.BasesFound:
        """List bases."""
        asked = call.asked
        assert isinstance(asked, takes.BasesQuery)
        request = BasesRequest(caller=call.caller, space=asked.space, offset=asked.offset)
        found = await self._bus.request(BASES, request, timeout_s=REQUEST_S)
        return gives.BasesFound(bases=found.bases, total=found.total)

    async def base_create(self, call: RestCall) -> gives.BaseKept:
        """Found a base."""
        asked = call.asked
        assert isinstance(asked, takes.BaseBody)
        request = CreateBase(caller=call.caller, name=asked.name, description=asked.description, space=asked.space)
        return gives.BaseKept(base=(await self._bus.request(BASE_CREATE, request, timeout_s=REQUEST_S)).base)

    async def items(self, call: RestCall) -> gives.ItemsFound:
        """List items."""
        asked = call.asked
        assert isinstance(asked, takes.ItemsQuery)
        request = ItemsRequest(
            caller=call.caller, base=asked.base, status=asked.status, offset=asked.offset, limit=asked.limit
        )
        found = await self._bus.request(ITEMS, request, timeout_s=REQUEST_S)
        return gives.ItemsFound(items=found.items, total=found.total)

    async def item_create(self, call: RestCall) -> gives.ItemKept:
        """Write an item."""
        asked = call.asked
        assert isinstance(asked, takes.ItemBody)
        content, spooled = await self._handed_over(asked.content)
        request = CreateItem(
            caller=call.caller,
            base=asked.base,
            title=asked.title,
            content=content or "",
            spool=spooled,
            format=asked.format,
            locator=asked.locator,
            publish=asked.publish,
            key=asked.key,
        )
        return _kept(await self._bus.request(ITEM_CREATE, request, timeout_s=REQUEST_S))

    async def item_import(self, call: RestCall) -> gives.ItemKept:
        """Take a file in."""
        asked = call.asked
        assert isinstance(asked, takes.ImportQuery)
        request = ImportItem(
            caller=call.caller,
            base=asked.base,
            file_name=asked.file_name,
            spool=await to_thread.run_sync(spool.put, self._settings, call.data),
            locator=asked.locator,
            title=asked.title,
            publish=asked.publish,
        )
        return _kept(await self._bus.request(ITEM_IMPORT, request, timeout_s=IMPORT_S))

    async def item_read(self, call: RestCall) -> gives.RevisionRead:
        """Read a revision whole."""
        asked = call.asked
        assert isinstance(asked, takes.ReadQuery)
        content = bytearray()
        part = await self._part(call, asked.revision, 0)
        content += part.content
        while part.next_offset is not None:
            # Pinned from here on: an edit in between must not mix two revisions.
            part = await self._part(call, part.revision.id, part.next_offset)
            content += part.content
        return gives.RevisionRead(
            item=part.item,
            revision=part.revision,
            content=content.decode(),
            reference=f"knowledge:{part.item.id}@{part.revision.id}",
        )

    async def item_edit(self, call: RestCall) -> gives.ItemKept:
        """Change an item."""
        asked = call.asked
        assert isinstance(asked, takes.ItemPatch)
        content, spooled = await self._handed_over(asked.content)
        request = EditItem(
            caller=call.caller,
            item=call.item,
            title=asked.title,
            locator=asked.locator,
            content=content,
            spool=spooled,
            format=asked.format,
            if_revision=asked.if_revision,
        )
        return _kept(await self._bus.request(ITEM_EDIT, request, timeout_s=REQUEST_S))

    async def item_publish(self, call: RestCall) -> gives.ItemKept:
        """Publish an item."""
        return await self._move(call, "publish")

    async def item_archive(self, call: RestCall) -> gives.ItemKept:
        """Archive an item."""
        return await self._move(call, "archive")

    async def item_restore(self, call: RestCall) -> gives.ItemKept:
        """Restore an item."""
        return await self._move(call, "restore")

    async def revisions(self, call: RestCall) -> gives.RevisionsFound:
        """List revisions."""
        asked = call.asked
        assert isinstance(asked, takes.RevisionsQuery)
        request = RevisionsRequest(caller=call.caller, item=call.item, before=asked.before)
        found = await self._bus.request(REVISIONS, request, timeout_s=REQUEST_S)
        return gives.RevisionsFound(revisions=found.revisions, complete=found.complete)

    async def _move(self, call: RestCall, move: ItemMove) -> gives.ItemKept:
        request = MoveItem(caller=call.caller, item=call.item, move=move)
        return _kept(await self._bus.request(ITEM_MOVE, request, timeout_s=REQUEST_S))

    async def _part(self, call: RestCall, revision: str | None, offset: int) -> RevisionText:
        request = ReadItem(caller=call.caller, item=call.item, revision=revision, offset=offset)
        return await self._bus.request(ITEM_READ, request, timeout_s=REQUEST_S)

    async def _handed_over(self, content: str | None) -> tuple[str | None, str]:
        """Give what goes into the message: the content itself, or the name under which it is in the spool."""
        if content is None:
            return None, ""
        try:
            data = content.encode()
        except UnicodeEncodeError as error:
            raise KxError(
                ErrorCode.BAD_REQUEST, "the content has half of a character in it", hint="send it as UTF-8"
            ) from error
        if len(data) <= INLINE_CONTENT_BYTES:
            return content, ""
        return None, await to_thread.run_sync(spool.put, self._settings, data)


Handler = Callable[[Rest, RestCall], Awaitable[Struct]]
HANDLERS: Mapping[str, Handler] = {
    handler.__name__: handler
    for handler in (
        Rest.knowledge_search, Rest.limits, Rest.spaces, Rest.bases, Rest.base_create, Rest.items, Rest.item_create,
        Rest.item_import, Rest.item_read, Rest.item_edit, Rest.item_publish, Rest.item_archive, Rest.item_restore,
        Rest.revisions,
    )
}  # fmt: skip


def _kept(reply: ItemWritten) -> gives.ItemKept:
    return gives.ItemKept(item=reply.item, changed=reply.is_changed, notes=reply.notes)
