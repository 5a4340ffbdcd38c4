"""The bus as the command reaches it in a running stack: requests over the gateway's local socket.

Importing a NATS client would cost more than a whole search; this needs the standard library, anyio and msgspec.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Self, TypeVar

import anyio
from anyio import to_thread

from shared.bus import REQUEST_TIMEOUT_S, ServiceContract
from shared.codec import decode, decode_error
from shared.errors import KxError
from shared.local_link import PROTOCOL, READ_BYTES, Ask, Frames, Hello, Told, frame
from shared.local_stream import LocalStream
from shared.messages import InstanceMessage, Message
from shared.serving import check_instance, pack, timed_out
from shared.stack_file import StackFile, greet, unreachable
from shared.subjects import EventRoute, RequestRoute
from shared.tasks import task_group

Q = TypeVar("Q", bound=Message)
R = TypeVar("R", bound=Message)

LATE_S = 2.0  # the gateway counts the timeout; this is for its answer to come back


class SocketBus:
    """Asks through one connection, any number of requests at once: `async with SocketBus.connect(stack) as bus`."""

    def __init__(self, stream: LocalStream, stack: StackFile) -> None:
        self._stream = stream
        self._stack = stack
        self._sending = anyio.Lock()
        self._waiting: dict[int, _Waiting] = {}
        self._asked = 0
        self._is_open = True

    @classmethod
    @asynccontextmanager
    async def connect(cls, stack: StackFile) -> AsyncIterator[Self]:
        """Greet the gateway and keep the connection while entered.

        Raises:
            KxError: STACK_UNREACHABLE, STACK_OUTDATED, or what the gateway has against us.
        """
        greeted = await to_thread.run_sync(greet, stack, Hello(kx=PROTOCOL, role="command"))
        async with LocalStream(greeted) as stream, task_group() as tasks:
            bus = cls(stream, stack)
            tasks.start_soon(bus._read)
            yield bus
            tasks.cancel_scope.cancel()

    async def request(self, route: RequestRoute[Q, R], message: Q, *, timeout_s: float = REQUEST_TIMEOUT_S) -> R:
        """Ask and wait for the reply; see `shared.bus.Bus`.

        Raises:
            KxError: as a bus does; STACK_UNREACHABLE when the connection is lost.
        """
        instance = message.instance if isinstance(message, InstanceMessage) else None
        if isinstance(message, InstanceMessage):
            check_instance(message)
        data = pack(message)
        self._asked += 1
        ask = Ask(self._asked, route.service, route.verb, instance, data, timeout_s)
        waiting = self._waiting[ask.id] = _Waiting()
        try:
            await self._send(frame(ask))
            with anyio.move_on_after(timeout_s + LATE_S):
                await waiting.arrived.wait()
        finally:
            del self._waiting[ask.id]
        if waiting.told is None:
            raise (
                timed_out(f"{route.service}.{route.verb}", timeout_s) if self._is_open else unreachable(self._stack.pid)
            )
        if not waiting.told.ok:
            raise KxError.from_details(decode_error(waiting.told.data))
        return decode(waiting.told.data, route.reply)

    async def publish(self, route: EventRoute[Q], message: Q) -> None:
        """Refuse: the command tells nobody anything."""
        raise NotImplementedError

    def serve(self, contract: ServiceContract) -> AbstractAsyncContextManager[None]:
        """Refuse: the command answers nobody."""
        raise NotImplementedError

    async def wait_gap(self, seen: int) -> int:
        """Wait for ever: the command follows no events, so it can miss none."""
        await anyio.sleep_forever()
        return seen

    async def _send(self, data: bytes) -> None:
        async with self._sending:
            if not (self._is_open and await self._stream.send(data)):
                raise unreachable(self._stack.pid)

    async def _read(self) -> None:
        frames = Frames(Told)
        while data := await self._stream.receive(READ_BYTES):
            for told in frames.feed(data):
                if isinstance(told, Told) and told.id in self._waiting:
                    self._waiting[told.id].take(told)
        self._is_open = False
        for waiting in self._waiting.values():
            waiting.arrived.set()


class _Waiting:
    """A caller's place for the answer."""

    def __init__(self) -> None:
        self.arrived = anyio.Event()
        self.told: Told | None = None

    def take(self, told: Told) -> None:
        self.told = told
        self.arrived.set()
