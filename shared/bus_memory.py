"""The Bus within one process: tests and the embedded mode.

Messages are encoded and decoded as on NATS, so that the same limits and errors hold; whoever asks and whoever answers
share nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Self, TypeVar

import anyio
import structlog
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectSendStream
from structlog.typing import FilteringBoundLogger

from shared.bus import GRACE_S, REQUEST_TIMEOUT_S, ServiceContract
from shared.codec import decode, decode_error, encode_error
from shared.errors import KxError
from shared.messages import Message
from shared.serving import Answer, Delivery, Serving, pack, subject_for, timed_out, unavailable
from shared.subjects import EventRoute, RequestRoute, pattern_of
from shared.tasks import task_group

Q = TypeVar("Q", bound=Message)
R = TypeVar("R", bound=Message)
Intake = MemoryObjectSendStream[Delivery]

_log: FilteringBoundLogger = structlog.get_logger()


class MemoryBus:
    """A bus that lives as long as its context is entered: `async with MemoryBus() as bus`."""

    def __init__(self) -> None:
        self._requests: dict[str, list[Intake]] = {}  # by pattern; several services of one name take turns
        self._events: dict[str, list[Intake]] = {}
        self._stack = AsyncExitStack()
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._tasks = await self._stack.enter_async_context(task_group())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stack.__aexit__(kind, error, trace)

    async def request(self, route: RequestRoute[Q, R], message: Q, *, timeout_s: float = REQUEST_TIMEOUT_S) -> R:
        """Ask and wait for the reply; see `shared.bus.Bus`."""
        subject, data = subject_for(route, message), pack(message)
        intake = self._take_turn(pattern_of(route))
        if intake is None:
            raise unavailable(route.service)
        waiting = _Waiting()
        with anyio.move_on_after(timeout_s):
            try:
                await intake.send(Delivery(subject=subject, data=data, respond=waiting.take))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                raise unavailable(route.service) from None
            await waiting.arrived.wait()
        if waiting.answer is None:
            raise timed_out(subject, timeout_s)
        if waiting.answer.error is not None:
            raise KxError.from_details(decode_error(encode_error(waiting.answer.error)))
        return decode(waiting.answer.data, route.reply)

    async def publish(self, route: EventRoute[Q], message: Q) -> None:
        """Tell whoever listens; see `shared.bus.Bus`."""
        delivery = Delivery(subject=subject_for(route, message), data=pack(message))
        for intake in self._events.get(pattern_of(route), []):
            try:
                intake.send_nowait(delivery)
            except anyio.WouldBlock:
                _log.warning("event.dropped", subject=delivery.subject)

    @asynccontextmanager
    async def serve(self, contract: ServiceContract) -> AsyncIterator[None]:
        """Answer while the context is entered; see `shared.bus.Bus`."""
        if self._tasks is None:
            raise RuntimeError("a MemoryBus serves only while it is entered")
        serving = Serving(contract)
        self._tasks.start_soon(serving.run)
        requests = [(pattern_of(e.route), serving.request_intake(i)) for i, e in enumerate(contract.endpoints)]
        events = [(pattern_of(e.route), serving.event_intake(i)) for i, e in enumerate(contract.listeners)]
        for pattern, intake in requests:
            self._requests.setdefault(pattern, []).append(intake)
        for pattern, intake in events:
            self._events.setdefault(pattern, []).append(intake)
        try:
            yield
        finally:
            for pattern, intake in requests:
                self._requests[pattern].remove(intake)
            for pattern, intake in events:
                self._events[pattern].remove(intake)
            with anyio.CancelScope(shield=True):
                await serving.stop(anyio.current_time() + GRACE_S)

    async def wait_gap(self, seen: int) -> int:
        """Wait until messages may have been lost more than `seen` times; within one process that never happens."""
        await anyio.sleep_forever()
        return seen

    def _take_turn(self, pattern: str) -> Intake | None:
        intakes = self._requests.get(pattern)
        if not intakes:
            return None
        intakes.append(intakes.pop(0))
        return intakes[-1]


class _Waiting:
    """A caller's place for the answer."""

    def __init__(self) -> None:
        self.arrived = anyio.Event()
        self.answer: Answer | None = None

    async def take(self, answer: Answer) -> None:
        self.answer = answer
        self.arrived.set()
