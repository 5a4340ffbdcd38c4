"""The buses of the contract suite: the same tests run on each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from blockbuster import BlockBuster

from tests.support.buses import Buses, memory_buses, nats_buses
from tests.support.nats_server import NatsServer, running_nats_server

SERVER_STEPS = {"start", "kill", "address", "wait_listening", "_listens"}


@pytest.fixture(autouse=True)
def only_tests_may_block(blocking_is_an_error: BlockBuster) -> None:
    """Starting and killing a server, and what the command does, is the test's own doing."""
    for function in blocking_is_an_error.functions.values():
        function.can_block_in("tests/support/nats_server.py", SERVER_STEPS)
        function.can_block_in("kx/bus_users.py", {"tool_user", "forget_user", "read_tool_users"})
        function.can_block_in("kx/bus_server.py", {"reload_users"})


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    """One server for all tests that leave it alone."""
    with running_nats_server(tmp_path_factory.mktemp("bus")) as server:
        yield server


@pytest.fixture(params=["memory", pytest.param("nats", marks=pytest.mark.connected)])
async def buses(request: pytest.FixtureRequest, anyio_backend: str) -> AsyncIterator[Buses]:
    if request.param == "memory":
        async with memory_buses() as found:
            yield found
    else:
        async with nats_buses(request.getfixturevalue("shared_server")) as found:
            yield found
