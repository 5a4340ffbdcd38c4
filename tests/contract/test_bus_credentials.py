"""Another program's credentials: one instance's questions, nothing else (row A6)."""

from __future__ import annotations

import json
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from nats import errors as nats_errors
from nats.aio.client import Client

from kx.bus_probe import is_let_in
from kx.bus_server import reload_users
from kx.bus_users import TOOLS_FILE, ToolUser, forget_user, read_tool_users, tool_user
from shared import subjects
from shared.bus_address import BusAddress
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from tests.support.buses import INSTANCE, OTHER_INSTANCE, connect, echo, query_contract
from tests.support.nats_server import NatsServer, raw_client, running_nats_server

pytestmark = [pytest.mark.anyio, pytest.mark.connected]

STEP_S = 10


def question(instance: InstanceId) -> bytes:
    return json.dumps({"instance": instance, "query": "olá"}).encode()


@asynccontextmanager
async def tool(server: NatsServer, user: ToolUser) -> AsyncIterator[Client]:
    port = server.address(subjects.QUERY).port
    client = await raw_client(BusAddress(port=port, user=user.name, password=user.password))
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def let_in(server: NatsServer, user: ToolUser) -> AsyncIterator[Client]:
    """Connect as soon as the server has read its configuration again."""
    with anyio.fail_after(STEP_S):
        while True:
            try:
                async with tool(server, user):
                    break
            except (nats_errors.Error, OSError):
                await anyio.sleep(0.01)
    async with tool(server, user) as client:
        yield client


async def test_tool_is_let_in_by_a_running_bus_that_keeps_everybody_else(tmp_path: Path) -> None:
    """Issue 3: any NATS client gets search by request-reply with its own credentials."""
    subject = subjects.subject_of(subjects.SEARCH, INSTANCE)
    with running_nats_server(tmp_path) as server:
        async with connect(server, subjects.QUERY) as bus, bus.serve(query_contract(echo)):
            user = tool_user(tmp_path, INSTANCE)
            reload_users(tmp_path)
            async with let_in(server, user) as client:
                reply = await client.request(subject, question(INSTANCE), timeout=STEP_S)
            with anyio.move_on_after(0.1) as gap:
                await bus.wait_gap(0)
            assert gap.cancelled_caught, "the service lost its connection"
    assert json.loads(reply.data)["query"] == "olá"


async def test_tool_of_one_instance_gets_nothing_of_another(tmp_path: Path) -> None:
    """Row A13: neither by the other's subject nor by its own subject with the other's id."""
    user = tool_user(tmp_path, INSTANCE)
    refusals: list[str] = []

    async def on_error(error: Exception) -> None:
        refusals.append(str(error))

    with running_nats_server(tmp_path) as server:
        async with (
            connect(server, subjects.QUERY) as bus,
            bus.serve(query_contract(echo)),
            tool(server, user) as client,
        ):
            client._error_cb = on_error
            other = subjects.subject_of(subjects.SEARCH, OTHER_INSTANCE)
            with pytest.raises(nats_errors.TimeoutError):
                await client.request(other, question(OTHER_INSTANCE), timeout=0.2)
            own = subjects.subject_of(subjects.SEARCH, INSTANCE)
            reply = await client.request(own, question(OTHER_INSTANCE), timeout=STEP_S)
    assert "permissions violation for publish" in refusals[0].lower()
    assert (reply.headers or {})["Nats-Service-Error-Code"] == "KX_MESSAGE_INVALID"


async def test_tool_discovers_services_and_no_project(tmp_path: Path) -> None:
    """Issue 3: `nats micro` works with a program's own credentials, and tells nothing of other trees."""
    user = tool_user(tmp_path, INSTANCE)
    with running_nats_server(tmp_path) as server:
        async with (
            connect(server, subjects.QUERY) as bus,
            bus.serve(query_contract(echo)),
            tool(server, user) as client,
        ):
            told = [await client.request(f"$SRV.{verb}", b"", timeout=STEP_S) for verb in ("PING", "INFO", "STATS")]
            named = await client.request(f"$SRV.INFO.{subjects.QUERY}", b"", timeout=STEP_S)
    assert {json.loads(reply.data)["name"] for reply in told} == {subjects.QUERY}
    assert json.loads(named.data)["endpoints"]
    assert not any(INSTANCE.encode() in reply.data for reply in told)


async def test_revoked_tool_is_hung_up_on_and_not_let_in(tmp_path: Path) -> None:
    """Row A6: credentials that were taken back are worth nothing, at once."""
    user, other = tool_user(tmp_path, INSTANCE, "ci"), tool_user(tmp_path, INSTANCE)
    with running_nats_server(tmp_path) as server:
        port = server.address(subjects.QUERY).port
        async with tool(server, user) as client, tool(server, other) as stays:
            gone = anyio.Event()

            async def hung_up() -> None:
                gone.set()

            client._closed_cb = hung_up
            assert forget_user(tmp_path, "ci")
            reload_users(tmp_path)
            with anyio.fail_after(STEP_S):
                await gone.wait()
            assert stays.is_connected
        assert not await to_thread.run_sync(is_let_in, port, user.name, user.password)
        assert await to_thread.run_sync(is_let_in, port, other.name, other.password)
    assert read_tool_users(tmp_path) == (other,)
    assert not forget_user(tmp_path, "ci")


@pytest.mark.parametrize(
    "name", ["query.>", "a b", "", "x" * 41, "naïve"], ids=["subject", "space", "empty", "long", "accent"]
)
def test_name_that_is_no_token_is_refused(tmp_path: Path, name: str) -> None:
    """A user's name becomes part of its inbox subject."""
    with pytest.raises(KxError) as refused:
        forget_user(tmp_path, name)
    assert refused.value.code is ErrorCode.BAD_REQUEST


def test_name_is_one_instance_s_user(tmp_path: Path) -> None:
    """A name given twice for different trees would let one program read both, or neither."""
    made = tool_user(tmp_path, INSTANCE, "ci")
    assert made.name == "tool-ci"
    assert tool_user(tmp_path, INSTANCE, "tool-ci") == made
    with pytest.raises(KxError) as refused:
        tool_user(tmp_path, OTHER_INSTANCE, "ci")
    assert refused.value.code is ErrorCode.BAD_REQUEST


def test_user_of_an_instance_stays_the_same(tmp_path: Path) -> None:
    """Asking again gives the credentials that programs already have."""
    first = tool_user(tmp_path, INSTANCE)
    other = tool_user(tmp_path, OTHER_INSTANCE)
    assert tool_user(tmp_path, INSTANCE) == first
    assert read_tool_users(tmp_path) == (first, other)
    assert stat.S_IMODE((tmp_path / TOOLS_FILE).stat().st_mode) == 0o600


def test_broken_file_is_no_empty_one(tmp_path: Path) -> None:
    """Row B8: what cannot be read is not overwritten."""
    (tmp_path / TOOLS_FILE).write_text("{")
    with pytest.raises(KxError) as caught:
        tool_user(tmp_path, INSTANCE)
    assert caught.value.code == ErrorCode.CONFIG_UNREADABLE
    assert (tmp_path / TOOLS_FILE).read_text() == "{"


def test_reload_without_a_bus_does_nothing(tmp_path: Path) -> None:
    """The next start reads the file; no stale process id gets a signal."""
    tool_user(tmp_path, INSTANCE)
    reload_users(tmp_path)
