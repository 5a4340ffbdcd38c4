"""What the bus over NATS promises beyond the contract: other programs, credentials, gaps, hostile messages."""

from __future__ import annotations

import json
import random
import signal
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from nats import errors as nats_errors
from nats.aio.client import Client

from kx.bus_server import CONFIG_FILE, LOCK_FILE
from shared import messages as m
from shared import subjects
from shared.bus import MAX_MESSAGE_BYTES
from shared.bus_address import BUS_FILE, BusAddress
from shared.bus_config import HEADER_BYTES
from shared.bus_nats import NatsBus
from shared.codec import encode
from shared.errors import ErrorCode, KxError
from shared.permissions import USERS
from tests.support.buses import (
    INSTANCE,
    OTHER_INSTANCE,
    connect,
    echo,
    make_reply,
    make_search,
    nats_buses,
    query_contract,
)
from tests.support.nats_server import NatsServer, listening_addresses, raw_client, running_nats_server

pytestmark = [pytest.mark.anyio, pytest.mark.connected]

STEP_S = 10  # for what should happen soon
SUBJECT = subjects.subject_of(subjects.SEARCH, INSTANCE)


@asynccontextmanager
async def any_program(server: NatsServer, user: str = subjects.COMMAND) -> AsyncIterator[Client]:
    client = await raw_client(server.address(user))
    try:
        yield client
    finally:
        await client.close()


@pytest.fixture
async def program(shared_server: NatsServer) -> AsyncIterator[Client]:
    """A plain NATS client with the command's credentials, and a query service that echoes."""
    async with (
        connect(shared_server, subjects.QUERY) as bus,
        bus.serve(query_contract(echo)),
        any_program(shared_server) as client,
    ):
        yield client


# --- other programs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Content-Type": "application/json"}, id="stated"),
        pytest.param({"content-type": "Application/JSON; charset=utf-8"}, id="spelt otherwise"),
        pytest.param(None, id="seen from its first byte"),
    ],
)
async def test_json_is_answered_in_json(program: Client, headers: dict[str, str] | None) -> None:
    """DESIGN 3: other tools may speak JSON."""
    question = {"type": "SearchRequest", "instance": INSTANCE, "query": "olá", "of_a_later_version": 1}
    reply = await program.request(SUBJECT, json.dumps(question).encode(), headers=headers, timeout=STEP_S)
    assert json.loads(reply.data)["query"] == "olá"
    assert reply.headers == {"Content-Type": "application/json"}


async def test_error_is_a_micro_error_with_our_code_and_details(program: Client) -> None:
    """DESIGN 3: errors are the headers of the micro protocol, the body says the rest."""
    question = {"type": "SearchRequest", "instance": OTHER_INSTANCE, "query": "x"}
    reply = await program.request(SUBJECT, json.dumps(question).encode(), timeout=STEP_S)
    assert reply.headers is not None
    assert reply.headers["Nats-Service-Error-Code"] == "KX_MESSAGE_INVALID"
    assert OTHER_INSTANCE in reply.headers["Nats-Service-Error"]
    assert json.loads(reply.data)["code"] == "KX_MESSAGE_INVALID"


async def test_message_about_another_instance_than_its_subject_is_refused(program: Client) -> None:
    """DESIGN 3: the receiver compares, so that rights on a subject are rights on a tree."""
    reply = await program.request(SUBJECT, encode(make_search(instance=OTHER_INSTANCE)), timeout=STEP_S)
    assert reply.headers is not None
    assert reply.headers["Nats-Service-Error-Code"] == "KX_MESSAGE_INVALID"


async def test_unknown_content_type_is_refused(program: Client) -> None:
    """A program that sends something else learns what is understood."""
    reply = await program.request(SUBJECT, b"<xml/>", headers={"Content-Type": "text/xml"}, timeout=STEP_S)
    assert reply.headers is not None
    assert "text/xml" in reply.headers["Nats-Service-Error"]


@pytest.mark.parametrize("asked", ["$SRV.PING", "$SRV.PING.query"])
async def test_discovery_finds_the_service(program: Client, asked: str) -> None:
    """Issue 3: `nats micro` discovery works."""
    ping = json.loads((await program.request(asked, timeout=STEP_S)).data)
    assert (ping["type"], ping["name"]) == ("io.nats.micro.v1.ping_response", "query")
    info = json.loads((await program.request(f"$SRV.INFO.query.{ping['id']}", timeout=STEP_S)).data)
    assert [endpoint["subject"] for endpoint in info["endpoints"]] == ["kx.v1.*.query.search", "kx.v1.*.query.status"]
    assert info["description"] == "answers searches"


async def test_statistics_count_requests_and_errors(program: Client) -> None:
    """Issue 3: `nats micro stats` tells what was handled."""
    for payload in (encode(make_search()), b"\xc1"):
        await program.request(SUBJECT, payload, timeout=STEP_S)
    stats = json.loads((await program.request("$SRV.STATS.query", timeout=STEP_S)).data)
    search = stats["endpoints"][0]
    assert (search["num_requests"], search["num_errors"]) == (2, 1)
    assert search["last_error"] == "KX_MESSAGE_INVALID"
    assert search["average_processing_time"] > 0


# --- credentials (row A6) ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("user", "password"),
    [
        pytest.param("query", "wrong", id="wrong password"),
        pytest.param("nobody", "x", id="unknown user"),
        pytest.param("query", "", id="empty password"),
    ],
)
async def test_wrong_credentials_are_refused(shared_server: NatsServer, user: str, password: str) -> None:
    """Row A6: nobody gets in without the credentials in the 0600 file."""
    address = BusAddress(port=shared_server.address("query").port, user=user, password=password)
    with pytest.raises(KxError) as caught:
        async with NatsBus.connect(lambda: address, name="x", wait_s=0):
            pytest.fail("was let in")
    assert caught.value.code == ErrorCode.BUS_UNAVAILABLE


async def test_connection_without_credentials_is_refused(shared_server: NatsServer) -> None:
    """Row A6: an unauthenticated client would read every message."""
    stream = await anyio.connect_tcp("127.0.0.1", shared_server.address("query").port)
    async with stream:
        await stream.send(b"CONNECT {}\r\nSUB > 1\r\nPING\r\n")
        received = b""
        with anyio.fail_after(STEP_S):
            try:
                while True:
                    received += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                pass
    assert b"Authorization Violation" in received
    assert b"PONG" not in received


@pytest.mark.parametrize(
    "subject",
    [">", "_INBOX_command.>", "_INBOX.>", "*.>", "$SYS.>", "$JS.>", "kx.>", "kx.v1.embedder.embed", "$SRV.>"],
)
async def test_nobody_may_listen_beyond_its_own_subjects(shared_server: NatsServer, subject: str) -> None:
    """Row A6: the query service cannot read replies to others, nor their requests."""
    refused = anyio.Event()
    refusal: list[str] = []
    heard: list[bytes] = []

    async def on_error(error: Exception) -> None:
        refusal.append(str(error))
        refused.set()

    async def hear(message: Any) -> None:
        heard.append(message.data)

    async with any_program(shared_server, subjects.QUERY) as client, nats_buses(shared_server) as buses:
        client._error_cb = on_error
        await client.subscribe(subject, cb=hear)
        with anyio.fail_after(STEP_S):
            await refused.wait()
        async with buses.query.serve(query_contract(echo)):
            await buses.command.request(subjects.SEARCH, make_search())
        await client.flush()
    assert "permissions violation" in refusal[0].lower()
    assert heard == []


@pytest.mark.parametrize(
    ("user", "subject"),
    [
        pytest.param(subjects.QUERY, f"kx.v1.{INSTANCE}.indexer.purge", id="query purges"),
        pytest.param(subjects.QUERY, f"kx.v1.{INSTANCE}.indexer.committed", id="query forges an event"),
        pytest.param(subjects.WATCHER, f"kx.v1.{INSTANCE}.query.search", id="watcher searches"),
        pytest.param(subjects.EMBEDDER, "kx.v1.embedder.embed", id="embedder asks itself"),
        pytest.param(subjects.EMBEDDER, "_INBOX_command.x.1", id="embedder forges a reply"),
        pytest.param(subjects.COMMAND, f"kx.v1.{INSTANCE}.indexer.committed", id="command forges an event"),
        pytest.param(subjects.COMMAND, "$SYS.REQ.SERVER.PING", id="command asks the server"),
    ],
)
async def test_nobody_may_publish_beyond_its_own_subjects(shared_server: NatsServer, user: str, subject: str) -> None:
    """Row A6: other services' subjects are closed."""
    refused = anyio.Event()

    async def on_error(error: Exception) -> None:
        if "permissions violation for publish" in str(error).lower():
            refused.set()

    async with any_program(shared_server, user) as client:
        client._error_cb = on_error
        await client.publish(subject, b"x")
        with anyio.fail_after(STEP_S):
            await refused.wait()


async def test_secrets_are_readable_by_their_owner_alone(shared_server: NatsServer) -> None:
    """Row A6: credentials lie in 0600 files."""
    for name in (CONFIG_FILE, BUS_FILE, LOCK_FILE):
        assert stat.S_IMODE((shared_server.run_dir / name).stat().st_mode) == 0o600
    passwords = {shared_server.address(user).password for user in USERS}
    assert len(passwords) == len(USERS)


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="reads the kernel's tables under /proc")
async def test_bus_listens_on_loopback_only(shared_server: NatsServer) -> None:
    """Row A6: no other interface has a listener."""
    assert shared_server.process is not None
    assert listening_addresses(shared_server.process.pid) == {"0100007F"}


async def test_second_bus_of_a_home_is_refused(shared_server: NatsServer) -> None:
    """Two buses of one home would split its services; the first one's files stay as they are."""
    before = (shared_server.run_dir / BUS_FILE).read_bytes()
    second = NatsServer(shared_server.run_dir)
    second.start()
    assert second.process is not None
    assert await anyio.to_thread.run_sync(second.process.wait) != 0
    assert (shared_server.run_dir / BUS_FILE).read_bytes() == before


# --- gaps (rows F3, F4) -----------------------------------------------------------------------------------------------


async def test_services_answer_again_after_the_bus_was_killed(tmp_path: Path) -> None:
    """Row F3: a restarted bus has other passwords, perhaps another port, and everything goes on."""
    with running_nats_server(tmp_path) as server:
        async with nats_buses(server) as buses, buses.query.serve(query_contract(echo)):
            old = server.address(subjects.QUERY)
            for _ in range(3):
                server.kill()
                server.start()
                with anyio.fail_after(STEP_S):
                    assert await ask_until_answered(buses.command) == "again"
            assert server.address(subjects.QUERY).password != old.password


async def test_whoever_follows_events_hears_of_the_gap(tmp_path: Path) -> None:
    """RELIABILITY rule 3: reconcile after a bus gap."""
    with running_nats_server(tmp_path) as server:
        async with connect(server, subjects.WATCHER) as bus:
            server.kill()
            server.start()
            with anyio.fail_after(STEP_S):
                assert await bus.wait_gap(0) == 1


async def test_request_in_flight_fails_at_once_when_the_bus_goes(tmp_path: Path) -> None:
    """Row F4: an error that says "try again", not a wait until the timeout."""
    started, release = anyio.Event(), anyio.Event()

    async def slow(_: m.SearchRequest) -> m.SearchReply:
        started.set()
        await release.wait()
        return make_reply()

    async def ask() -> None:
        with anyio.fail_after(STEP_S), pytest.raises(KxError) as caught:
            await buses.command.request(subjects.SEARCH, make_search(), timeout_s=STEP_S * 10)
        assert (caught.value.code, caught.value.retryable) == (ErrorCode.BUS_UNAVAILABLE, True)

    with running_nats_server(tmp_path) as server:
        async with nats_buses(server) as buses, buses.query.serve(query_contract(slow)):
            async with anyio.create_task_group() as group:
                group.start_soon(ask)
                await started.wait()
                server.kill()
            release.set()


async def test_while_the_bus_is_away_requests_fail_and_events_are_dropped(tmp_path: Path) -> None:
    """Row F4: nothing crashes and nothing hangs; leaving works too."""
    with running_nats_server(tmp_path) as server:
        async with nats_buses(server) as buses, buses.query.serve(query_contract(echo)):
            server.kill()
            await buses.indexer.publish(subjects.INDEXER_STARTED, m.IndexerStarted())
            for timeout_s in (STEP_S * 10, 0.05):
                with anyio.fail_after(STEP_S), pytest.raises(KxError) as caught:
                    await buses.command.request(subjects.SEARCH, make_search(), timeout_s=timeout_s)
                assert caught.value.code in {ErrorCode.BUS_UNAVAILABLE, ErrorCode.TIMEOUT}
                assert caught.value.retryable


async def test_service_waits_for_a_bus_that_comes_up_later(tmp_path: Path) -> None:
    """Issue 3: the services of a Procfile wait for the bus, in whichever order they start."""
    server = NatsServer(tmp_path)
    answered = anyio.Event()

    async def ask() -> None:
        async with connect(server, subjects.COMMAND) as bus:
            await ask_until_answered(bus)
            answered.set()

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            server.start()
            with anyio.fail_after(STEP_S):
                async with connect(server, subjects.QUERY) as bus, bus.serve(query_contract(echo)):
                    await answered.wait()
    finally:
        server.kill()


async def test_bus_that_stood_still_is_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row F4: a late answer of the server, for which nobody waits any more, must not leave a deaf connection."""
    monkeypatch.setattr("shared.bus_link.ROUND_TRIP_TIMEOUT_S", 1)
    with running_nats_server(tmp_path) as server:
        async with nats_buses(server) as buses:
            assert server.process is not None
            server.process.send_signal(signal.SIGSTOP)
            async with buses.query.serve(query_contract(echo)):
                server.process.send_signal(signal.SIGCONT)
                with anyio.fail_after(STEP_S):
                    assert await ask_until_answered(buses.command) == "again"


async def test_missing_bus_says_how_to_start_one(tmp_path: Path) -> None:
    """STYLE 18: the hint is the command to type."""
    with pytest.raises(KxError) as caught:
        async with connect_once(tmp_path):
            pytest.fail("there is no bus")
    assert caught.value.code == ErrorCode.BUS_UNAVAILABLE
    assert "kx serve bus" in caught.value.hint


@asynccontextmanager
async def connect_once(run_dir: Path) -> AsyncIterator[NatsBus]:
    async with NatsBus.connect(lambda: NatsServer(run_dir).address("query"), name="x", wait_s=0) as bus:
        yield bus


async def ask_until_answered(bus: Any) -> str:
    while True:
        try:
            reply: m.SearchReply = await bus.request(subjects.SEARCH, make_search("again"), timeout_s=1)
        except KxError as error:
            if not error.retryable:
                raise
            await anyio.sleep(0.01)
        else:
            return reply.query


# --- hostile messages (row B7) ----------------------------------------------------------------------------------------


def malformed(rng: random.Random) -> bytes:
    return rng.randbytes(rng.randrange(200))


def mutated(rng: random.Random) -> bytes:
    data = bytearray(encode(make_search("a question of some length", INSTANCE)))
    for _ in range(rng.randrange(1, 4)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def cut(rng: random.Random) -> bytes:
    data = encode(make_search("a question of some length", INSTANCE))
    return data[: rng.randrange(len(data))]


def foreign(_: random.Random) -> bytes:
    return encode(m.IndexerStarted())


def deep(_: random.Random) -> bytes:
    return b"\x91" * 50_000


def lying(_: random.Random) -> bytes:
    return b"\xdd\xff\xff\xff\xff"  # an array that says it has 4 billion items


def oversize(_: random.Random) -> bytes:
    return msgspec.msgpack.encode({"type": "SearchRequest", "instance": INSTANCE, "query": "x" * MAX_MESSAGE_BYTES})


@pytest.mark.parametrize("make", [malformed, mutated, cut, foreign, deep, lying, oversize])
async def test_hostile_message_is_answered_and_the_service_goes_on(
    program: Client, make: Callable[[random.Random], bytes]
) -> None:
    """Row B7: malformed, foreign and oversize messages are errors, never a crash."""
    rng = random.Random(7)
    for _ in range(40):
        reply = await program.request(SUBJECT, make(rng), timeout=STEP_S)
        code = (reply.headers or {}).get("Nats-Service-Error-Code", "")
        assert code in {"KX_MESSAGE_INVALID", "KX_MESSAGE_TOO_LARGE"} or make is mutated
    reply = await program.request(SUBJECT, encode(make_search("fine")), timeout=STEP_S)
    assert msgspec.msgpack.decode(reply.data)["query"] == "fine"


async def test_payload_beyond_the_servers_limit_never_leaves_its_sender(program: Client) -> None:
    """FACTS M6: the server announces the limit, the client keeps to it and stays connected."""
    with pytest.raises(nats_errors.MaxPayloadError):
        await program.publish(SUBJECT, b"x" * (MAX_MESSAGE_BYTES + HEADER_BYTES + 1))
    reply = await program.request(SUBJECT, encode(make_search("fine")), timeout=STEP_S)
    assert msgspec.msgpack.decode(reply.data)["query"] == "fine"


async def test_request_that_wants_no_reply_is_handled(shared_server: NatsServer) -> None:
    """Row B7: a message without a reply subject is no reason to fail."""
    handled = anyio.Event()

    async def note(_: m.SearchRequest) -> m.SearchReply:
        handled.set()
        return make_reply()

    async with (
        connect(shared_server, subjects.QUERY) as bus,
        bus.serve(query_contract(note)),
        any_program(shared_server) as client,
    ):
        await client.publish(SUBJECT, encode(make_search()))
        with anyio.fail_after(STEP_S):
            await handled.wait()


async def test_reply_of_another_kind_is_an_error_of_the_caller(shared_server: NatsServer) -> None:
    """A service of another version cannot make its caller crash."""

    async def wrong(_: m.SearchRequest) -> m.Message:
        return m.Accepted()

    async with nats_buses(shared_server) as buses, buses.query.serve(query_contract(wrong)):
        with pytest.raises(KxError) as caught:
            await buses.command.request(subjects.SEARCH, make_search())
    assert caught.value.code == ErrorCode.MESSAGE_INVALID
