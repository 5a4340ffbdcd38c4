"""One connection of the command: frames in, forwarded on the bus, frames out; any number in flight at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio

from shared.bus import Bus
from shared.codec import decode, encode, encode_error
from shared.errors import ErrorCode, KxError
from shared.local_link import READ_BYTES, Ask, Frames, Told, frame
from shared.local_stream import LocalStream
from shared.messages import InstanceMessage, Message
from shared.subjects import (
    ACTIVITIES,
    ACTIVITY,
    ACTIVITY_ADD,
    ACTIVITY_UPDATE,
    ARTIFACT_ADD,
    ARTIFACT_LINK,
    ARTIFACTS,
    AUDIT,
    BASE_CREATE,
    BASE_DELETE,
    BASE_MOVE,
    BASE_UPDATE,
    BASES,
    CANDIDATES,
    COMPACT,
    FORGET,
    ITEM_CREATE,
    ITEM_DELETE,
    ITEM_EDIT,
    ITEM_IMPORT,
    ITEM_MOVE,
    ITEM_READ,
    ITEMS,
    KNOWLEDGE_SEARCH,
    LIMITS,
    LINK_SET,
    LINKS,
    LISTING,
    MEMORIES,
    PRIORITISE,
    PROGRESS,
    PROMOTE,
    PURGE,
    REBUILD,
    RECALL,
    RECONCILE,
    REMEMBER,
    RETRY_FAILED,
    REVISIONS,
    SEARCH,
    SERVICES,
    SPACE_CREATE,
    SPACE_MEMBER,
    SPACES,
    STATUS,
    SURVEY,
    WHY_NOT,
    RequestRoute,
    service_status,
)

MAX_IN_FLIGHT = 64  # beyond, the command waits in its own socket
MAX_TIMEOUT_S = 3_600.0

_HEALTH = tuple(service_status(name) for name in SERVICES)
_FORWARDED: tuple[RequestRoute[Any, Any], ...] = (
    SEARCH,
    WHY_NOT,
    STATUS,
    LISTING,
    CANDIDATES,
    PROGRESS,
    PRIORITISE,
    RECONCILE,
    SURVEY,
    REBUILD,
    RETRY_FAILED,
    PURGE,
    COMPACT,
    ACTIVITY_ADD,
    ACTIVITY_UPDATE,
    ACTIVITIES,
    ACTIVITY,
    ARTIFACT_ADD,
    ARTIFACT_LINK,
    ARTIFACTS,
    SPACES,
    SPACE_CREATE,
    SPACE_MEMBER,
    BASES,
    BASE_CREATE,
    BASE_UPDATE,
    BASE_MOVE,
    BASE_DELETE,
    ITEMS,
    ITEM_CREATE,
    ITEM_IMPORT,
    ITEM_EDIT,
    ITEM_MOVE,
    ITEM_DELETE,
    ITEM_READ,
    REVISIONS,
    KNOWLEDGE_SEARCH,
    AUDIT,
    LINK_SET,
    LINKS,
    LIMITS,
    REMEMBER,
    FORGET,
    PROMOTE,
    MEMORIES,
    RECALL,
    *_HEALTH,
)
ROUTES = {(route.service, route.verb): route for route in _FORWARDED}
OBSERVING = frozenset((route.service, route.verb) for route in _HEALTH)  # asking these uses nothing


class CommandLink:
    """One connection; `on_use` is told once, when it asks for more than how the services are."""

    def __init__(self, stream: LocalStream, bus: Bus, on_use: Callable[[], None]) -> None:
        self._stream = stream
        self._bus = bus
        self._on_use = on_use
        self._sending = anyio.Lock()
        self._slots = anyio.Semaphore(MAX_IN_FLIGHT)
        self._is_used = False

    async def run(self) -> None:
        """Forward until the command has gone; what it still waited for is given up with it.

        Raises:
            KxError: MESSAGE_INVALID, MESSAGE_TOO_LARGE: the stream of frames cannot be read any further.
        """
        frames = Frames(Ask)
        async with anyio.create_task_group() as asking:
            while data := await self._stream.receive(READ_BYTES):
                for ask in frames.feed(data):
                    assert isinstance(ask, Ask)
                    self._note(ask)
                    await self._slots.acquire()
                    asking.start_soon(self._answer, ask)
            asking.cancel_scope.cancel()

    async def _answer(self, ask: Ask) -> None:
        try:
            try:
                told = Told(ask.id, True, await self._forward(ask))
            except KxError as error:
                told = Told(ask.id, False, encode_error(error.details()))
            async with self._sending:
                await self._stream.send(frame(told))
        finally:
            self._slots.release()

    async def _forward(self, ask: Ask) -> bytes:
        route = ROUTES.get((ask.service, ask.verb))
        if route is None:
            raise KxError(
                ErrorCode.BAD_REQUEST,
                "{service}.{verb} is nothing the command may ask for",
                hint="the stack may be of another version: kx down, then kx up -d",
                service=ask.service,
                verb=ask.verb,
            )
        message = decode(ask.message, route.request)
        if isinstance(message, InstanceMessage) and message.instance != ask.instance:
            raise KxError(ErrorCode.MESSAGE_INVALID, "a message is about another instance than its frame says")
        timeout_s = min(max(ask.timeout_s, 0.0), MAX_TIMEOUT_S)
        reply: Message = await self._bus.request(route, message, timeout_s=timeout_s)
        return encode(reply)

    def _note(self, ask: Ask) -> None:
        if not self._is_used and (ask.service, ask.verb) not in OBSERVING:
            self._is_used = True
            self._on_use()
