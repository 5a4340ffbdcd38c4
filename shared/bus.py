"""The Bus port: how services talk, and what each promise is worth.

Two implementations keep one contract suite: `bus_nats` (processes) and `bus_memory` (one process, tests). A request
is answered at most once and may be lost with its service; an event may be lost without anyone noticing. Nothing is
kept on the bus: the database is the queue.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from shared.messages import Message
from shared.subjects import EventRoute, RequestRoute

Q = TypeVar("Q", bound=Message)
R = TypeVar("R", bound=Message)

MAX_MESSAGE_BYTES = 256 * 1024
REQUEST_TIMEOUT_S = 5.0
# Handlers of one endpoint that run at once; a caller beyond waits in the bus, and times out there.
HANDLERS_AT_ONCE = 32
GRACE_S = 3.0  # what work in hand gets to finish once a service stops taking in


class Endpoint(Struct, frozen=True, kw_only=True):
    """Who answers a route. The handler gets the decoded message, already proven to be about the subject's instance."""

    route: RequestRoute[Any, Any]
    handle: Callable[[Any], Awaitable[Message]]
    at_once: int = HANDLERS_AT_ONCE


class Listener(Struct, frozen=True, kw_only=True):
    """Who hears an event; events of one listener arrive one after the other."""

    route: EventRoute[Any]
    handle: Callable[[Any], Awaitable[None]]


class ServiceContract(Struct, frozen=True, kw_only=True):
    """All that a service takes from the bus."""

    name: str
    description: str
    endpoints: tuple[Endpoint, ...]
    listeners: tuple[Listener, ...] = ()


class Bus(Protocol):
    """What a service may do with the bus."""

    async def request(self, route: RequestRoute[Q, R], message: Q, *, timeout_s: float = REQUEST_TIMEOUT_S) -> R:
        """Ask and wait for the reply.

        Raises:
            KxError: what the handler raised; `KX_TIMEOUT` after `timeout_s`; `KX_SERVICE_UNAVAILABLE` when nobody
                answers that route; `KX_MESSAGE_TOO_LARGE` above `MAX_MESSAGE_BYTES` in either direction.
        """
        ...

    async def publish(self, route: EventRoute[Q], message: Q) -> None:
        """Tell whoever listens; returns before anyone has heard it."""
        ...

    async def wait_gap(self, seen: int) -> int:
        """Return once the bus was away and is back for more than the `seen`-th time; the new count.

        Events between may be lost: whoever depends on them looks at the disk instead. In memory it never returns.
        """
        ...

    def serve(self, contract: ServiceContract) -> AbstractAsyncContextManager[None]:
        """Answer while the context is entered.

        Ready when entered. Leaving stops the intake first, then gives what is in hand `GRACE_S`.
        """
        ...
