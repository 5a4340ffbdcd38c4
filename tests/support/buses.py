"""What the contract suite needs of a bus, so that the same tests run on each of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from shared import messages as m
from shared import subjects
from shared.bus import Bus, Endpoint, Listener, ServiceContract
from shared.bus_memory import MemoryBus
from shared.bus_nats import NatsBus
from shared.identity import InstanceId
from tests.support.nats_server import NatsServer

INSTANCE = InstanceId("0123456789abcdef")
OTHER_INSTANCE = InstanceId("fedcba9876543210")


class Buses:
    """Connections to one bus, by user."""

    def __init__(self, command: Bus, indexer: Bus, query: Bus, watcher: Bus) -> None:
        self.command = command
        self.indexer = indexer
        self.query = query
        self.watcher = watcher


@asynccontextmanager
async def memory_buses() -> AsyncIterator[Buses]:
    """Give one bus in memory to everybody."""
    async with MemoryBus() as bus:
        yield Buses(bus, bus, bus, bus)


@asynccontextmanager
async def nats_buses(server: NatsServer) -> AsyncIterator[Buses]:
    """Give each user a connection of its own."""
    async with (
        connect(server, subjects.COMMAND) as command,
        connect(server, subjects.INDEXER) as indexer,
        connect(server, subjects.QUERY) as query,
        connect(server, subjects.WATCHER) as watcher,
    ):
        yield Buses(command, indexer, query, watcher)


@asynccontextmanager
async def connect(server: NatsServer, user: str) -> AsyncIterator[NatsBus]:
    """Connect as one user."""
    async with NatsBus.connect(lambda: server.address(user), name=user) as bus:
        yield bus


def query_contract(handle: Callable[[Any], Awaitable[m.Message]], *, at_once: int = 32) -> ServiceContract:
    """Make a query service whose search and status are answered by `handle`."""
    return ServiceContract(
        name=subjects.QUERY,
        description="answers searches",
        endpoints=(
            Endpoint(route=subjects.SEARCH, handle=handle, at_once=at_once),
            Endpoint(route=subjects.STATUS, handle=handle),
        ),
    )


def listening_contract(handle: Callable[[Any], Awaitable[None]]) -> ServiceContract:
    """Make a query service that only hears of commits."""
    return ServiceContract(
        name=subjects.QUERY,
        description="follows commits",
        endpoints=(),
        listeners=(Listener(route=subjects.INDEX_COMMITTED, handle=handle),),
    )


def make_search(query: str = "hello", instance: InstanceId = INSTANCE) -> m.SearchRequest:
    """Make a search."""
    return m.SearchRequest(instance=instance, query=query)


def make_reply(query: str = "hello", *, notes: tuple[str, ...] = ()) -> m.SearchReply:
    """Make an answer without results."""
    return m.SearchReply(
        query=query,
        mode="rrf",
        project="demo",
        results=(),
        lanes={},
        pending=m.Pending(text=0, vectors=0),
        total=0,
        took_ms=1.0,
        notes=notes,
    )


async def echo(request: m.SearchRequest) -> m.SearchReply:
    """Answer with the query itself."""
    return make_reply(request.query)
