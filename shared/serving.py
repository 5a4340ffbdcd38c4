"""The one door between a bus and the handlers of a service: bytes in, bytes out, one log line each.

Every bus feeds `Serving` with deliveries and gives the answers back; limits, errors, counting and the orderly stop are
here, so that they are the same in one process and over NATS.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from msgspec import Struct
from structlog.typing import FilteringBoundLogger

from shared import logs
from shared.bus import MAX_MESSAGE_BYTES, Endpoint, Listener, ServiceContract
from shared.codec import JSON, MSGPACK, decode, encode
from shared.errors import ErrorCode, ErrorDetails, KxError
from shared.identity import is_instance_id
from shared.messages import InstanceMessage, Message
from shared.subjects import EventRoute, RequestRoute, instance_of, subject_of

M = TypeVar("M", bound=Message)
R = TypeVar("R", bound=Message)

# Deliveries that wait for a handler of one endpoint. Beyond, the sender waits: in memory in its own request, over
# NATS in the client's queue of that subscription (which drops at its own bound, and the caller times out).
WAITING_REQUESTS = 256
WAITING_EVENTS = 4_096  # beyond, an event is dropped and counted: an event may be lost, the disk tells

_log: FilteringBoundLogger = structlog.get_logger()


class Answer(Struct, frozen=True, kw_only=True):
    """What goes back to a caller: the reply's bytes, or an error."""

    data: bytes = b""
    content_type: str = MSGPACK
    error: ErrorDetails | None = None


class Delivery(Struct, frozen=True, kw_only=True):
    """One message as it arrived."""

    subject: str
    data: bytes
    content_type: str = MSGPACK
    respond: Callable[[Answer], Awaitable[None]] | None = None  # None where nobody waits


class Counters:
    """What one endpoint did since it started; the numbers of the NATS micro protocol."""

    def __init__(self) -> None:
        self.requests = 0
        self.errors = 0
        self.processing_ns = 0
        self.last_error = ""

    def count(self, took_ns: int, error: ErrorDetails | None) -> None:
        """Add one request."""
        self.requests += 1
        self.processing_ns += took_ns
        if error is not None:
            self.errors += 1
            self.last_error = error.code.value


class Serving:
    """One contract while it is served.

    `run` belongs to the bus's task group, so that work in hand outlives the cancellation of whoever serves.
    """

    def __init__(self, contract: ServiceContract) -> None:
        self.contract = contract
        self.counters = tuple(Counters() for _ in contract.endpoints)
        self._endpoints = [_open_stream(WAITING_REQUESTS) for _ in contract.endpoints]
        self._listeners = [_open_stream(WAITING_EVENTS) for _ in contract.listeners]
        self._stopping = anyio.Event()
        self._finished = anyio.Event()
        self._deadline = float("inf")

    def request_intake(self, index: int) -> MemoryObjectSendStream[Delivery]:
        """Give the stream that feeds the contract's endpoint number `index`."""
        return self._endpoints[index][0]

    def event_intake(self, index: int) -> MemoryObjectSendStream[Delivery]:
        """Give the stream that feeds the contract's listener number `index`."""
        return self._listeners[index][0]

    async def run(self) -> None:
        """Handle what arrives until `stop`, then finish what is in hand until its deadline."""
        try:
            async with anyio.create_task_group() as handlers:
                for endpoint, counters, stream in zip(
                    self.contract.endpoints, self.counters, self._endpoints, strict=True
                ):
                    handlers.start_soon(self._answer_all, endpoint, counters, stream[1])
                for listener, stream in zip(self.contract.listeners, self._listeners, strict=True):
                    handlers.start_soon(self._hear_all, listener, stream[1])
                await self._stopping.wait()
                handlers.cancel_scope.deadline = self._deadline
        finally:
            for send, receive in (*self._endpoints, *self._listeners):
                send.close()
                receive.close()
            self._finished.set()

    async def stop(self, deadline: float) -> None:
        """Take nothing in any more and return once everything in hand is done or `deadline` (loop time) is over."""
        self._deadline = deadline
        self._stopping.set()
        for send, _ in (*self._endpoints, *self._listeners):
            send.close()
        await self._finished.wait()

    async def _answer_all(
        self, endpoint: Endpoint, counters: Counters, deliveries: MemoryObjectReceiveStream[Delivery]
    ) -> None:
        slots = anyio.Semaphore(endpoint.at_once)

        async def handle(delivery: Delivery) -> None:
            try:
                await self._answer(endpoint, counters, delivery)
            finally:
                slots.release()

        async with anyio.create_task_group() as group:
            await slots.acquire()
            async for delivery in deliveries:
                group.start_soon(handle, delivery)
                await slots.acquire()

    async def _answer(self, endpoint: Endpoint, counters: Counters, delivery: Delivery) -> None:
        started = time.perf_counter_ns()

        async def reply() -> bytes:
            message = read_message(delivery, endpoint.route)
            return pack(await endpoint.handle(message), delivery.content_type)

        data, error = await self._guarded(delivery, reply)
        counters.count(time.perf_counter_ns() - started, error)
        if delivery.respond is not None:
            content_type = JSON if delivery.content_type == JSON else MSGPACK
            await delivery.respond(Answer(data=data, content_type=content_type, error=error))

    async def _hear_all(self, listener: Listener, deliveries: MemoryObjectReceiveStream[Delivery]) -> None:
        async for delivery in deliveries:

            async def hear(delivery: Delivery = delivery) -> bytes:
                await listener.handle(read_message(delivery, listener.route))
                return b""

            await self._guarded(delivery, hear)

    async def _guarded(
        self, delivery: Delivery, work: Callable[[], Awaitable[bytes]]
    ) -> tuple[bytes, ErrorDetails | None]:
        """Run `work`, turn whatever it raises into an error, write the message's one log line."""
        started = time.perf_counter_ns()
        data, error, outcome = b"", None, "ok"
        unexpected: dict[str, str] = {}
        try:
            data = await work()
        except KxError as refusal:
            error, outcome = refusal.details(), "refused"
        except Exception as failure:  # noqa: BLE001 - the one door: whatever a handler raises is logged and answered
            error, outcome, unexpected = _internal(self.contract.name), "failed", logs.error_fields(failure)
        write = _log.error if unexpected else _log.info
        write(
            "message.handled",
            service=self.contract.name,
            instance=instance_of(delivery.subject),
            subject=delivery.subject,
            outcome=outcome,
            took_ms=round((time.perf_counter_ns() - started) / 1e6, 3),
            error_code=error.code.value if error else None,
            **unexpected,
        )
        return data, error


def pack(message: Message, content_type: str = MSGPACK) -> bytes:
    """Serialise `message` for the bus, within its limit."""
    try:
        data = encode(message, content_type)
    except UnicodeEncodeError as error:
        raise KxError(
            ErrorCode.MESSAGE_INVALID,
            "{type} holds text that is not valid Unicode",
            hint="remove the characters that are no text, such as a lone surrogate",
            type=type(message).__name__,
        ) from error
    if len(data) > MAX_MESSAGE_BYTES:
        raise too_large(type(message).__name__, len(data))
    return data


def read_message(delivery: Delivery, route: RequestRoute[M, R] | EventRoute[M]) -> M:
    """Parse a delivery as what its route carries, and prove that it is about the subject's instance."""
    expected = route.request if isinstance(route, RequestRoute) else route.event
    if len(delivery.data) > MAX_MESSAGE_BYTES:
        raise too_large(expected.__name__, len(delivery.data))
    if delivery.content_type not in {MSGPACK, JSON}:
        raise KxError(
            ErrorCode.MESSAGE_INVALID,
            "messages of the content type {content_type} are not understood",
            hint="send application/msgpack or application/json in the header Content-Type",
            content_type=delivery.content_type,
        )
    message = decode(delivery.data, expected, delivery.content_type)
    if isinstance(message, InstanceMessage):
        check_instance(message)
        if message.instance != instance_of(delivery.subject):
            raise KxError(
                ErrorCode.MESSAGE_INVALID,
                "a message about the instance {instance} came on the subject {subject}",
                hint="the instance in the message must be the one in its subject",
                instance=message.instance,
                subject=delivery.subject,
            )
    return message


def check_instance(message: InstanceMessage) -> None:
    """Refuse an instance that is no instance id: it becomes a token of a subject."""
    if not is_instance_id(message.instance):
        raise KxError(
            ErrorCode.MESSAGE_INVALID,
            "{instance} is no instance id",
            hint="an instance id has 16 hexadecimal digits; list them with: kx project list",
            instance=message.instance,
        )


def subject_for(route: RequestRoute[M, R] | EventRoute[M], message: M) -> str:
    """Build the subject on which `message` travels."""
    if not isinstance(message, InstanceMessage):
        return subject_of(route)
    check_instance(message)
    return subject_of(route, message.instance)


def too_large(what: str, size: int) -> KxError:
    """Make the error for a message above the bus's limit."""
    return KxError(
        ErrorCode.MESSAGE_TOO_LARGE,
        "{type} has {size} bytes; a message may have {limit}",
        hint="ask for less at once, or send it in parts",
        type=what,
        size=size,
        limit=MAX_MESSAGE_BYTES,
    )


def timed_out(subject: str, timeout_s: float) -> KxError:
    """Make the error for a request that got no reply in time."""
    return KxError(
        ErrorCode.TIMEOUT,
        "no answer on {subject} within {timeout_s} s",
        hint="the service is busy; try again, or see how it is with: kx status",
        retryable=True,
        subject=subject,
        timeout_s=timeout_s,
    )


def unavailable(service: str) -> KxError:
    """Make the error for a route that nobody answers."""
    return KxError(
        ErrorCode.SERVICE_UNAVAILABLE,
        "the service {service} is not running",
        hint="start it with: kx serve {service}",
        retryable=True,
        service=service,
    )


def _internal(service: str) -> ErrorDetails:
    return ErrorDetails(
        code=ErrorCode.INTERNAL,
        message="the service {service} failed unexpectedly",
        hint="its log names the place; please report it",
        params={"service": service},
    )


def _open_stream(
    size: int,
) -> tuple[MemoryObjectSendStream[Delivery], MemoryObjectReceiveStream[Delivery]]:
    # Unpacked, because the value anyio returns is a subclass of tuple with a type parameter of its own.
    send, receive = anyio.create_memory_object_stream[Delivery](size)
    return send, receive
