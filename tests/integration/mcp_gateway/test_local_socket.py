"""The local socket: who owns it, who may enter, what the command gets through it."""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
from pathlib import Path

import anyio
import httpx2
import pytest
from anyio import to_thread
from msgspec.structs import replace

from kx.client import services
from kx.socket_bus import SocketBus
from services.mcp_gateway.adapters.command_link import ROUTES
from shared import messages as m
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.local_link import MAX_FRAME_BYTES, PROTOCOL, Hello, line, socket_path
from shared.process_identity import own_identity
from shared.stack_file import GREETING_S, StackFile, greet, read_stack_file, running_stack, write_stack_file
from shared.subjects import COMMAND, GATEWAY, RECONCILE, RETRY_FAILED, SEARCH, TOUCHED, service_status
from tests.support.gateway_bench import fake_services, make_hit, running_gateway
from tests.support.http_bench import make_token
from tests.support.processes import eventually

pytestmark = pytest.mark.anyio

INSTANCE = InstanceId("0123456789abcdef")
SEARCH_IT = m.SearchRequest(instance=INSTANCE, query="breaker")


async def test_a_command_asks_many_things_at_once_through_one_connection(settings):
    """Issue 3: the bus as the command knows it, without a NATS client."""
    async with (
        fake_services() as (bus, fakes),
        running_gateway(bus, settings) as stack,
        SocketBus.connect(stack) as reached,
    ):
        fakes.search = replace(fakes.search, results=(make_hit(),), total=1)
        replies: list[m.SearchReply] = []

        async def ask() -> None:
            replies.append(await reached.request(SEARCH, SEARCH_IT))

        async with anyio.create_task_group() as asking:
            for _ in range(100):
                asking.start_soon(ask)
    assert replies == [fakes.search] * 100


async def test_errors_come_through_with_their_code(settings):
    """A refusal of a service, a service that is not there, a route the command may not use, a reply too late."""
    async with (
        fake_services() as (bus, fakes),
        running_gateway(bus, settings) as stack,
        SocketBus.connect(stack) as reached,
    ):
        fakes.walk_may_end = anyio.Event()
        for route, message, code in (
            (RETRY_FAILED, m.RetryFailed(instance=INSTANCE), ErrorCode.SERVICE_UNAVAILABLE),
            (TOUCHED, m.PathsTouched(instance=INSTANCE, paths=("a",)), ErrorCode.BAD_REQUEST),
            (RECONCILE, m.ReconcileTree(instance=INSTANCE), ErrorCode.TIMEOUT),
        ):
            with pytest.raises(KxError) as refused:
                await reached.request(route, message, timeout_s=0.1)
            assert refused.value.code is code
        fakes.walk_may_end.set()


def test_nothing_is_forwarded_that_the_command_may_not_ask():
    """The gateway's rights on the bus are wider than those of who connects as a command."""
    assert [key for key, route in ROUTES.items() if COMMAND not in route.callers] == []


async def test_only_agents_and_working_commands_count_as_clients(settings):
    """The supervisor asks how many clients there are and must not count itself."""
    async with fake_services() as (bus, _), running_gateway(bus, settings) as stack, SocketBus.connect(stack) as one:
        question = m.ServiceStatusRequest()
        assert (await one.request(service_status(GATEWAY), question)).detail == "clients=0"
        async with SocketBus.connect(stack) as other:
            await other.request(SEARCH, SEARCH_IT)
            assert (await one.request(service_status(GATEWAY), question)).detail == "clients=1"


async def test_who_asks_over_http_counts_as_a_client(settings, open_project):
    """A stack that lingers does not end under an agent that holds no connection; who has no token is nobody."""
    over_http = replace(settings, http="on", http_port=0)
    token = make_token(over_http, open_project)
    async with (
        fake_services() as (bus, _),
        running_gateway(bus, over_http) as stack,
        SocketBus.connect(stack) as one,
        httpx2.AsyncClient(trust_env=False) as http,
    ):
        told = over_http.run_dir / "http.json"
        await to_thread.run_sync(lambda: eventually(told.exists, within_s=30))
        url = json.loads(told.read_bytes())["url"]
        for presented, clients in ((f"{token}0", 0), (token, 1), (token, 1)):
            await http.post(url, headers={"Authorization": f"Bearer {presented}"}, content=b"{}")
            answered = await one.request(service_status(GATEWAY), m.ServiceStatusRequest())
            assert answered.detail == f"clients={clients}"


async def test_the_socket_and_its_folder_belong_to_the_user_alone(settings):
    """MISSION 1.4: private to the user."""
    async with fake_services() as (bus, _), running_gateway(bus, settings):
        path = socket_path(settings.socket_dir)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_another_user_is_not_let_in(settings, monkeypatch):
    """The kernel says who the other end is; the folder alone is not trusted."""
    monkeypatch.setattr("services.mcp_gateway.adapters.local_socket.peer_uid", lambda _: os.geteuid() + 1)
    async with fake_services() as (bus, _), running_gateway(bus, settings) as stack:
        with pytest.raises(KxError) as refused:
            await to_thread.run_sync(greet, stack, Hello(kx=PROTOCOL, role="command"))
        assert refused.value.code is ErrorCode.STACK_UNREACHABLE


async def test_a_socket_left_behind_is_replaced_and_a_living_owner_is_not(settings):
    """A stale file is no owner; two gateways of one home are one too many."""
    path = socket_path(settings.socket_dir)
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()
    async with fake_services() as (bus, _), running_gateway(bus, settings) as stack:
        with pytest.raises(BaseException) as refused:
            async with running_gateway(bus, settings):
                pass
        assert code_in(refused.value) is ErrorCode.ALREADY_RUNNING
        async with SocketBus.connect(stack) as reached:
            await reached.request(SEARCH, SEARCH_IT)
    assert not path.exists()
    assert read_stack_file(settings.run_dir) is None


def code_in(error: BaseException) -> ErrorCode | None:
    while isinstance(error, BaseExceptionGroup):
        (error,) = error.exceptions
    return error.code if isinstance(error, KxError) else None


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="a probe"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="a browser"),
        pytest.param(b"\xff" * 70_000, id="no line"),
        pytest.param(line(Hello(kx=99, role="command")), id="another version"),
        pytest.param(
            line(Hello(kx=PROTOCOL, role="command")) + struct.pack(">I", MAX_FRAME_BYTES + 1), id="a huge frame"
        ),
        pytest.param(line(Hello(kx=PROTOCOL, role="command")) + struct.pack(">I", 3) + b"\xc1\xc1\xc1", id="no frame"),
        pytest.param(line(Hello(kx=PROTOCOL, role="mcp", project_root="/nowhere")), id="no project"),
    ],
)
async def test_whatever_connects_harms_nobody(sent, settings):
    """The gateway closes that connection and serves the next."""

    def intrude(path: str) -> bytes:
        with socket.socket(socket.AF_UNIX) as intruder:
            intruder.settimeout(GREETING_S)
            intruder.connect(path)
            try:
                intruder.sendall(sent)
                intruder.shutdown(socket.SHUT_WR)
            except OSError:
                return b""
            return b"".join(iter(lambda: received(intruder), b""))

    async with fake_services() as (bus, _), running_gateway(bus, settings) as stack:
        await to_thread.run_sync(intrude, stack.socket)
        async with SocketBus.connect(stack) as reached:
            await reached.request(SEARCH, SEARCH_IT)


def received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65_536)
    except ConnectionResetError:
        return b""


# --- finding a stack --------------------------------------------------------------------------------------------------


def stack_of(path: Path, **fields) -> StackFile:
    own = own_identity()
    given = {"pid": own.pid, "boot_id": own.boot_id, "start_ticks": own.start_ticks, "protocol": PROTOCOL}
    return StackFile(**(given | fields), socket=str(path), bus_port=4222)


@pytest.mark.parametrize("fields", [{"start_ticks": 1}, {"boot_id": "another"}, {"pid": 4_194_300}], ids=str)
async def test_a_stack_whose_process_has_gone_is_none(fields, settings):
    """DESIGN 4: a reused pid is not the process that wrote the file."""
    write_stack_file(settings.run_dir, stack_of(settings.run_dir / "kx.sock", **fields))
    assert running_stack(settings.run_dir) is None


async def test_a_stack_of_another_version_is_named(settings):
    """DESIGN 4: KX_STACK_OUTDATED with what to do."""
    write_stack_file(settings.run_dir, stack_of(settings.run_dir / "kx.sock", protocol=PROTOCOL + 1))
    with pytest.raises(KxError) as refused:
        running_stack(settings.run_dir)
    assert refused.value.code is ErrorCode.STACK_OUTDATED


async def test_a_living_stack_that_does_not_answer_is_never_replaced_by_an_embedded_one(settings):
    """DESIGN 4: alive but silent is an error, because a second writer would follow."""
    write_stack_file(settings.run_dir, stack_of(settings.run_dir / "kx.sock"))
    with pytest.raises(KxError) as refused:
        async with services(settings, writes=True, mode="test"):
            pass
    assert refused.value.code is ErrorCode.STACK_UNREACHABLE


async def test_a_gateway_that_hangs_up_is_unreachable(settings):
    """What answers and says nothing is no gateway."""
    with socket.socket(socket.AF_UNIX) as listener:
        path = settings.run_dir / "kx.sock"
        listener.bind(str(path))
        listener.listen()

        def hang_up() -> None:
            listener.accept()[0].close()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(to_thread.run_sync, hang_up)
            with pytest.raises(KxError) as refused:
                await to_thread.run_sync(greet, stack_of(path), Hello(kx=PROTOCOL, role="command"))
    assert refused.value.code is ErrorCode.STACK_UNREACHABLE
