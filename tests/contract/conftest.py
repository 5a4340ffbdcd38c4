"""The buses of the contract suite: the same tests run on each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.support.buses import Buses, memory_buses, nats_buses
from tests.support.nats_server import NatsServer, running_nats_server


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
