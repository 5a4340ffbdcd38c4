"""The rows of RELIABILITY.md about the bus itself: A6, B7. Each prints its line."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
import pytest
from nats import errors as nats_errors
from nats.aio.client import Client

from shared import messages as m
from shared import subjects
from shared.bus import MAX_MESSAGE_BYTES
from shared.bus_address import BUS_FILE, BusAddress
from shared.codec import encode
from shared.identity import InstanceId
from shared.permissions import USERS
from tests.soak.conftest import IS_SOAK, Report
from tests.support.buses import INSTANCE, make_search
from tests.support.command import Kx
from tests.support.index_facts import facts_of
from tests.support.living_stack import LivingStack, project_at
from tests.support.nats_server import NatsServer, listening_addresses, raw_client, running_nats_server
from tests.support.processes import eventually, processes_of

pytestmark = [pytest.mark.anyio, pytest.mark.connected, pytest.mark.timeout(900 if IS_SOAK else 120)]

Amount = Callable[[int], int]

STEP_S = 10  # for what should happen soon
LOOPBACK = "0100007F"


@pytest.fixture
def kx(tmp_path: Path) -> Iterator[Kx]:
    """The command with an empty home; the stack ends with the test."""
    command = Kx(tmp_path / "home" / ".kx")
    yield command
    command("down")
    assert processes_of(command.home) == {}


@asynccontextmanager
async def client_of(address: BusAddress) -> AsyncIterator[Client]:
    client = await raw_client(address)
    try:
        yield client
    finally:
        await client.close()


# --- A6 ---------------------------------------------------------------------------------------------------------------


async def is_let_in(address: BusAddress) -> bool:
    try:
        async with client_of(address):
            return True
    except (nats_errors.Error, OSError):
        return False


async def is_let_in_without_credentials(port: int) -> bool:
    received = b""
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        await stream.send(b"CONNECT {}\r\nSUB > 1\r\nPING\r\n")
        with anyio.fail_after(STEP_S):
            try:
                while True:
                    received += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return b"PONG" in received


async def allowed_beyond_its_own(address: BusAddress) -> tuple[int, list[str]]:
    """Try what a user may not do: how many cases, and those that were not refused."""
    other = next(user for user in USERS if user != address.user)
    route = subjects.TOUCHED if address.user == subjects.INDEXER else subjects.INDEX_COMMITTED
    published = (f"_INBOX_{other}.x.1", "$SYS.REQ.SERVER.PING", subjects.subject_of(route, INSTANCE))
    heard = (">", f"_INBOX_{other}.>")
    refused: list[str] = []

    async def on_error(error: Exception) -> None:
        refused.append(str(error).lower())

    async def ignore(_: object) -> None:
        return

    async with client_of(address) as client:
        client._error_cb = on_error
        for subject in published:
            await client.publish(subject, b"x")
        for subject in heard:
            await client.subscribe(subject, cb=ignore)
        with anyio.move_on_after(STEP_S):
            while len(refused) < len(published) + len(heard):
                await client.flush()
    let = [one for one in (*published, *heard) if not any(f'"{one.lower()}"' in told for told in refused)]
    return len(published) + len(heard), [f"{address.user}: {one}" for one in let]


def can_another_uid_read(path: Path) -> bool:
    """Try as nobody, where we may become nobody; else by the mode."""
    if os.geteuid() != 0:
        return bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))
    ran = subprocess.run(
        ["/bin/cat", path], user=65_534, group=65_534, extra_groups=[], capture_output=True, check=False
    )
    return ran.returncode == 0


async def test_a6_nobody_is_let_in_or_does_more_than_is_its_own(tmp_path: Path, report: Report) -> None:
    """Row A6: no credentials, wrong ones, other services' subjects, another uid, other interfaces."""
    problems: list[str] = []
    with running_nats_server(tmp_path) as server:
        assert server.process is not None
        port, cases = server.address(subjects.QUERY).port, 1
        problems += ["no credentials"] * await is_let_in_without_credentials(port)
        for user in USERS:
            for password in ("wrong", ""):
                is_in = await is_let_in(BusAddress(port=port, user=user, password=password))
                problems += [f"{user} with {password!r}"] * is_in
            count, let = await allowed_beyond_its_own(server.address(user))
            problems += let
            cases += 2 + count
        problems += ["another uid"] * can_another_uid_read(tmp_path / BUS_FILE)
        if sys.platform == "linux":  # read from the kernel's tables
            listeners = listening_addresses(server.process.pid)
            problems += [] if listeners == {LOOPBACK} else [f"listens on {sorted(listeners)}"]
    report("A6", problems, cases=cases, refused=cases - len(problems))


# --- B7 ---------------------------------------------------------------------------------------------------------------


def valid(instance: InstanceId) -> bytes:
    return encode(make_search("a question of some length", instance))


def malformed(rng: random.Random, _: InstanceId) -> bytes:
    return rng.randbytes(rng.randrange(300))


def mutated(rng: random.Random, instance: InstanceId) -> bytes:
    data = bytearray(valid(instance))
    for _ in range(rng.randrange(1, 4)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def cut(rng: random.Random, instance: InstanceId) -> bytes:
    data = valid(instance)
    return data[: rng.randrange(len(data))]


def foreign(_: random.Random, instance: InstanceId) -> bytes:
    return encode(m.StatusRequest(instance=InstanceId(instance[::-1])))


def deep(_: random.Random, __: InstanceId) -> bytes:
    return b"\x91" * 50_000


def lying(_: random.Random, __: InstanceId) -> bytes:
    return b"\xdd\xff\xff\xff\xff"  # an array that says it has 4 billion items


def oversize(_: random.Random, instance: InstanceId) -> bytes:
    return msgspec.msgpack.encode({"type": "SearchRequest", "instance": instance, "query": "x" * MAX_MESSAGE_BYTES})


def replayed(rng: random.Random, instance: InstanceId) -> bytes:
    """Doubtful paths, and true ones long after they were true."""
    paths = [
        "d0/f0.md",
        "d1/f1.md",
        "no/such.md",
        ".env",
        "../../etc/passwd",
        "/etc/passwd",
        "d0/../.env",
        "",
        "\0",
        "d0/",
    ]
    return encode(m.PathsTouched(instance=instance, paths=tuple(rng.choices(paths, k=5)), reason="event"))


def reordered(rng: random.Random, instance: InstanceId) -> bytes:
    return encode(m.IndexCommitted(instance=instance, seq=rng.randrange(-5, 2**40), epoch=rng.randrange(-2, 9)))


KINDS = (malformed, mutated, cut, foreign, deep, lying, oversize, replayed, reordered)


async def fuzz(server: NatsServer, instance: InstanceId, messages: int) -> list[str]:
    """Send to every subject, as who may; give the subjects of requests that were not answered."""
    rng = random.Random(messages)
    silent: list[str] = []
    routes = [*subjects.REQUEST_ROUTES, *subjects.EVENT_ROUTES]
    users = {user: await raw_client(server.address(user)) for user in USERS}
    for number in range(messages):
        route, kind = routes[number % len(routes)], rng.choice(KINDS)
        subject = subjects.subject_of(route, instance if route.per_instance else None)
        if isinstance(route, subjects.EventRoute):
            await users[route.service].publish(subject, kind(rng, instance))
            continue
        try:
            await users[route.callers[0]].request(subject, kind(rng, instance), timeout=STEP_S)
        except (nats_errors.TimeoutError, nats_errors.NoRespondersError):
            silent.append(f"no answer: {subject} {kind.__name__}")
    for client in users.values():
        await client.close()
    return silent


async def test_b7_hostile_messages_to_every_subject_write_nothing_and_end_nothing(
    kx, tmp_path, amount: Amount, report: Report
):
    """Row B7: malformed, oversize, foreign, replayed, reordered, against the services as they run."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / ".env").write_text("SECRET=canary-b7\n")
    stack = LivingStack(kx, tmp_path / "shop", 20)
    project = project_at(kx, stack.root)

    def facts():
        return facts_of(project.index_path, project.instance)

    assert eventually(lambda: facts().vectors == 20, within_s=60)
    before, pids = facts(), stack.pids()
    messages = amount(5_000)
    problems = await fuzz(NatsServer(kx.home / "run"), project.instance, messages)
    after = stack.pids()
    problems += [f"{name} is another process" for name, pid in pids.items() if after.get(name) != pid]
    eventually(lambda: facts() == before, within_s=STEP_S)
    written = [str(row) for row in facts().rows ^ before.rows]
    problems += written or ([] if facts() == before else ["the index changed"])
    files = sorted(path.name for path in stack.root.rglob("*") if path.is_file())
    problems += [] if len(files) == 21 else [f"files: {files}"]
    report(
        "B7",
        problems,
        messages=messages,
        kinds=len(KINDS),
        crashes=0 if after == pids else 1,
        rows_written=len(written),
    )
