"""The Bus over NATS: one connection a process, kept for ever, its services found again after every gap.

With `bus_link` the only asyncio island. Endpoints speak the NATS micro protocol, so other clients find and call them:
docs/messages.md.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import TypeVar

import anyio
import anyio.to_thread
import structlog
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectSendStream
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.nuid import NUID
from structlog.typing import FilteringBoundLogger

from shared import bus_micro
from shared.bus import GRACE_S, MAX_MESSAGE_BYTES, REQUEST_TIMEOUT_S, ServiceContract
from shared.bus_address import BusAddress
from shared.bus_link import BROKEN, Link
from shared.codec import JSON, MSGPACK, decode, decode_error, encode_error
from shared.errors import ErrorCode, KxError, fill
from shared.messages import Message
from shared.permissions import DISCOVERY_VERBS
from shared.serving import Answer, Delivery, Serving, pack, subject_for, timed_out, too_large, unavailable
from shared.subjects import EventRoute, RequestRoute, pattern_of
from shared.tasks import task_group

Q = TypeVar("Q", bound=Message)
R = TypeVar("R", bound=Message)

WAIT_FOR_BUS_S = 10.0  # a cold start of the server takes 0.1 s; a busy machine at login far longer
# A request finds the bus away: a restarted one is back within this, and whoever waits longer should hear of it.
GAP_WAIT_S = 1.0
FIRST_DELAY_S, MAX_DELAY_S = 0.05, 2.0  # between tries to connect, doubling
NO_RESPONDERS = "503"
HEADER_TEXT_CHARS = 500

_log: FilteringBoundLogger = structlog.get_logger()


class NatsBus:
    """A bus that survives the loss of its server; made by `connect`."""

    def __init__(self, find: Callable[[], BusAddress], name: str, link: Link, tasks: TaskGroup) -> None:
        self._find = find
        self._name = name
        self._tasks = tasks
        self._link: Link | None = link
        self._linked = anyio.Event()
        self._served: list[_Served] = []
        self._gaps = 0

    @classmethod
    @asynccontextmanager
    async def connect(
        cls, find: Callable[[], BusAddress], *, name: str, wait_s: float = WAIT_FOR_BUS_S
    ) -> AsyncIterator[NatsBus]:
        """Connect, and stay connected while entered.

        `find` says where the bus is; it is asked again before every try, because a restarted bus has another port and
        other passwords. Until the first connection stands it is tried for `wait_s` seconds, at least once.

        Raises:
            KxError: `KX_BUS_UNAVAILABLE` from the last try.
        """
        link = await _first_link(find, name, wait_s)
        async with task_group() as tasks:
            bus = cls(find, name, link, tasks)
            tasks.start_soon(bus._keep_connected, link)
            try:
                yield bus
            finally:
                tasks.cancel_scope.cancel()
                if bus._link is not None:
                    await bus._link.close()

    async def request(self, route: RequestRoute[Q, R], message: Q, *, timeout_s: float = REQUEST_TIMEOUT_S) -> R:
        """Ask and wait for the reply; see `shared.bus.Bus`.

        Raises:
            KxError: also `KX_BUS_UNAVAILABLE` when the bus is away or went away meanwhile (the request may have been
                handled).
        """
        subject, data = subject_for(route, message), pack(message)
        reply: Msg | None = None
        with anyio.move_on_after(timeout_s) as limit:
            link = self._link or await self._wait_for_link()
            reply = await link.ask(subject, data) if link is not None else None
            if reply is None:
                raise _bus_away()
        if limit.cancelled_caught or reply is None:
            raise timed_out(subject, timeout_s)
        return _read_reply(reply, route)

    async def publish(self, route: EventRoute[Q], message: Q) -> None:
        """Tell whoever listens; while the bus is away nobody hears it. See `shared.bus.Bus`."""
        subject, data = subject_for(route, message), pack(message)
        if self._link is None or not await self._link.send(subject, data):
            _log.debug("event.dropped", subject=subject)

    @asynccontextmanager
    async def serve(self, contract: ServiceContract) -> AsyncIterator[None]:
        """Answer while the context is entered, over every gap of the bus; see `shared.bus.Bus`."""
        served = _Served(contract)
        self._tasks.start_soon(served.serving.run)
        self._served.append(served)
        try:
            if self._link is not None:
                await served.subscribe(self._link)
            yield
        finally:
            self._served.remove(served)
            deadline = anyio.current_time() + GRACE_S
            with anyio.CancelScope(shield=True):
                with anyio.CancelScope(deadline=deadline):
                    await served.unsubscribe()
                await served.serving.stop(deadline)

    async def wait_gap(self, seen: int) -> int:
        """Wait until the bus was away, and came back, more than `seen` times; return how often.

        Events of a gap are lost: whoever follows them reconciles when this returns.
        """
        while self._gaps <= seen:
            await self._linked.wait()
        return self._gaps

    async def _wait_for_link(self) -> Link | None:
        with anyio.move_on_after(GAP_WAIT_S):
            await self._linked.wait()
        return self._link

    async def _keep_connected(self, link: Link) -> None:
        while True:
            await link.lost.wait()
            self._link = None
            _log.warning("bus.lost", service=self._name)
            link = await self._next_link()
            self._link, self._gaps = link, self._gaps + 1
            for served in tuple(self._served):
                await served.subscribe(link)
            self._linked.set()
            self._linked = anyio.Event()
            _log.info("bus.found", service=self._name, gaps=self._gaps)

    async def _next_link(self) -> Link:
        delay = FIRST_DELAY_S
        while True:
            try:
                return await _open(self._find, self._name)
            except KxError as error:
                _log.debug("bus.away", service=self._name, error_code=error.code.value)
            await anyio.sleep(delay)
            delay = min(delay * 2, MAX_DELAY_S)


class _Served:
    """A contract on the wire: its subscriptions of the current connection, and what they feed."""

    def __init__(self, contract: ServiceContract) -> None:
        self.serving = Serving(contract)
        self._contract = contract
        self._identity = bus_micro.Identity(
            service_id=NUID().next().decode(), started=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        )
        self._link: Link | None = None
        self._subscriptions: list[Subscription] = []

    async def subscribe(self, link: Link) -> None:
        """Take in messages from `link`; they are being delivered when this returns, or the link is lost."""
        self._link, self._subscriptions = link, []
        try:
            for index, endpoint in enumerate(self._contract.endpoints):
                take = _feed(link, self.serving.request_intake(index))
                await self._add(link, pattern_of(endpoint.route), take, queue=bus_micro.QUEUE_GROUP)
            for index, listener in enumerate(self._contract.listeners):
                take = _feed(link, self.serving.event_intake(index))
                await self._add(link, pattern_of(listener.route), take)
            for verb in DISCOVERY_VERBS:
                for subject in bus_micro.control_subjects(verb, self._contract.name, self._identity.service_id):
                    await self._add(link, subject, self._describe(link, verb))
            await link.round_trip()
        except BROKEN:
            _log.debug("bus.lost_while_subscribing", service=self._contract.name)

    async def unsubscribe(self) -> None:
        """Take in nothing more; what has arrived is handed on before this returns, unless the link is lost."""
        if self._link is None:
            return
        async with anyio.create_task_group() as group:
            group.start_soon(_cancel_after, self._link.lost, group.cancel_scope)
            with suppress(*BROKEN):
                await self._link.unsubscribe(self._subscriptions)
            group.cancel_scope.cancel()

    async def _add(self, link: Link, subject: str, take: Callable[[Msg], Awaitable[None]], *, queue: str = "") -> None:
        self._subscriptions.append(await link.subscribe(subject, take, queue=queue))

    def _describe(self, link: Link, verb: str) -> Callable[[Msg], Awaitable[None]]:
        async def describe(message: Msg) -> None:
            if message.reply:
                described = bus_micro.describe(verb, self._contract, self._identity, self.serving.counters)
                await link.send(message.reply, described)

        return describe


def _feed(link: Link, intake: MemoryObjectSendStream[Delivery]) -> Callable[[Msg], Awaitable[None]]:
    async def take(message: Msg) -> None:
        async def respond(answer: Answer) -> None:
            data, headers = _reply_of(answer)
            await link.send(message.reply, data, headers)

        delivery = Delivery(
            subject=message.subject,
            data=message.data,
            content_type=_content_type(message),
            respond=respond if message.reply else None,
        )
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await intake.send(delivery)

    return take


def _content_type(message: Msg) -> str:
    headers = {name.lower(): value for name, value in (message.headers or {}).items()}
    stated = headers.get("content-type")
    if stated is None:  # no msgpack message begins with this byte: it would be the number 123
        return JSON if message.data.startswith(b"{") else MSGPACK
    return stated.partition(";")[0].strip().lower()


def _reply_of(answer: Answer) -> tuple[bytes, dict[str, str] | None]:
    headers = {"Content-Type": JSON} if answer.content_type == JSON else {}
    if answer.error is None:
        return answer.data, headers or None
    text = fill(answer.error.message, answer.error.params)[:HEADER_TEXT_CHARS]
    headers[bus_micro.ERROR_HEADER] = text.encode("utf-8", "replace").decode("utf-8")
    headers[bus_micro.ERROR_CODE_HEADER] = answer.error.code.value
    return encode_error(answer.error, answer.content_type), headers


def _read_reply(reply: Msg, route: RequestRoute[Q, R]) -> R:
    headers = reply.headers or {}
    if not reply.data and headers.get("Status") == NO_RESPONDERS:
        raise unavailable(route.service)
    if bus_micro.ERROR_CODE_HEADER in headers:
        raise KxError.from_details(decode_error(reply.data))
    if len(reply.data) > MAX_MESSAGE_BYTES:
        raise too_large(route.reply.__name__, len(reply.data))
    return decode(reply.data, route.reply)


def _bus_away() -> KxError:
    return KxError(
        ErrorCode.BUS_UNAVAILABLE,
        "the connection to the bus is lost; trying to get it back",
        hint="if it stays so, start the bus with: kx serve bus",
        retryable=True,
    )


async def _first_link(find: Callable[[], BusAddress], name: str, wait_s: float) -> Link:
    give_up = anyio.current_time() + wait_s
    while True:
        try:
            return await _open(find, name)
        except KxError:
            if anyio.current_time() >= give_up:
                raise
        await anyio.sleep(FIRST_DELAY_S)


async def _open(find: Callable[[], BusAddress], name: str) -> Link:
    address = await anyio.to_thread.run_sync(find)  # it reads a file
    link = Link(address.user)
    await link.open(address, name)
    return link


async def _cancel_after(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()
