"""Agents reach a real stack through `kx mcp`, with the SDK's own client over stdio."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Thread

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from tests.support.command import Kx
from tests.support.gateway_bench import PROJECT_ID, make_project
from tests.support.mcp_client import text_of
from tests.support.rows import passed
from tests.support.stack import running_stack, wait_until_ready

ENDS_S = 2.0  # issue 3: after stdin is closed or the parent died
FRAMES = 10_000  # few would fit into the buffers between, and show nothing
HEAVY = ("apsw", "mcp", "nats", "numpy", "onnxruntime", "services")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


class Living:
    """A stack with one gated project."""

    def __init__(self, kx: Kx, root: Path, processes: dict[str, subprocess.Popen[bytes]]) -> None:
        self.kx = kx
        self.root = root
        self.processes = processes
        self.named = {"expected_project_id": PROJECT_ID, "expected_project_root": str(root)}

    def environ(self) -> dict[str, str]:
        """Give what a process of this home is told."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("KX_")}
        return kept | {"KX_HOME": str(self.kx.home), "HOME": str(self.kx.home.parent)}

    def pump(self, *options: str, cwd: Path | None = None) -> subprocess.Popen[bytes]:
        """Start `kx mcp` as an agent does."""
        line = [sys.executable, "-I", "-m", "kx", "mcp", *options]
        pipe = subprocess.PIPE
        return subprocess.Popen(line, cwd=cwd or self.root, env=self.environ(), stdin=pipe, stdout=pipe, stderr=pipe)

    @asynccontextmanager
    async def agent(self, mode: str, *options: str):
        """Connect the SDK's client through `kx mcp`."""
        server = StdioServerParameters(
            command=sys.executable, args=["-I", "-m", "kx", "mcp", *options], env=self.environ(), cwd=self.root
        )
        async with Client(stdio_client(server), mode=mode) as client:
            yield client


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Living]:
    folder = tmp_path_factory.mktemp("mcp")
    kx, root = Kx(folder / "home" / ".kx"), make_project(folder / "shop")
    assert kx("project", "add", root).code == 0
    with running_stack(kx) as processes:
        wait_until_ready(kx, root)
        yield Living(kx, root, processes)


def talk(process: subprocess.Popen[bytes], *messages: object) -> None:
    assert process.stdin is not None
    process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
    process.stdin.flush()


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_agent_lists_ingests_and_finds(mode, living):
    """Issue 3: a real client over stdio, in both families of the protocol."""
    (living.root / f"docs/{mode}.md").write_text(f"# Fresh\n\nuniquetoken{mode} is what nobody else says\n")
    strict = ("--strict-project-root", "--project-root", str(living.root))
    async with living.agent(mode, *strict) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert listed[:4] == ["search", "ingest", "reindex", "status"]
        ingested = await client.call_tool("ingest", living.named | {"path": "docs"})
        assert not ingested.is_error, text_of(ingested)
        found = await client.call_tool("search", living.named | {"query": f"uniquetoken{mode}", "mode": "lexical"})
        assert [one["path"] for one in found.structured_content["results"]] == [f"docs/{mode}.md"]
        status = await client.call_tool("status", living.named)
        assert set(status.structured_content["services"].values()) == {"ready"}


@pytest.mark.anyio
async def test_an_agent_of_another_project_is_told_so_and_secrets_stay_where_they_are(living):
    """Rows A5 and case 40 through the whole stack."""
    async with living.agent("auto") as client:
        wrong = living.named | {"expected_project_root": str(living.root.parent)}
        assert text_of(await client.call_tool("search", wrong | {"query": "x"})).startswith("KX_PROJECT_MISMATCH")
        assert text_of(await client.call_tool("status", {})).startswith("KX_PROJECT_ASSERTION_REQUIRED")
        for path in (".env", "../shop/.env", ".vault/private/diary.md"):
            refused = await client.call_tool("ingest", living.named | {"path": path})
            assert text_of(refused).startswith("KX_PATH_DENIED")
        whole = await client.call_tool("ingest", living.named | {"path": "."})
        assert {".env", ".vault/private/"} <= {one["path"] for one in whole.structured_content["skipped"]}
    data = b"".join(path.read_bytes() for path in (living.kx.home / "data").iterdir())
    assert b"canary-9d1f" not in data


def test_stdout_is_protocol_from_the_first_byte_and_a_closed_stdin_ends_it(living):
    """Cases 37 and row F15: what was asked before the end is still answered."""
    pump = living.pump()
    talk(pump, INITIALIZE, {"jsonrpc": "2.0", "id": 1, "method": "ping"})
    out, err = pump.communicate(timeout=30)
    answers = [json.loads(line) for line in out.splitlines()]
    assert [one["id"] for one in answers] == [0, 1]
    assert (pump.returncode, err) == (0, b"")


def test_any_number_of_frames_at_once_is_answered_with_messages_alone(living):
    """Row B6 through the pump: an agent that asks on while answers come back; rubbish between what is right."""
    pump = living.pump()
    assert pump.stdin is not None
    assert pump.stdout is not None
    pings = [json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode() for number in range(FRAMES // 2)]
    asking = Thread(
        target=pump.stdin.write, args=(b"".join(one + b"\n\xff{[ no frame\n" for one in pings),), daemon=True
    )
    asking.start()
    answers = [json.loads(pump.stdout.readline()) for _ in range(FRAMES)]
    asking.join()
    assert {one["jsonrpc"] for one in answers} == {"2.0"}
    assert {one["id"] for one in answers} == {None, *range(FRAMES // 2)}
    out, err = pump.communicate(timeout=30)
    assert (pump.returncode, out, err) == (0, b"", b"")
    passed("B6", transport="stdio", frames=FRAMES, crashes=0)


@pytest.mark.parametrize("way", ["stdin", "parent"])
def test_a_pump_ends_with_its_agent(way, living):
    """Row F15: stdin closed, or the parent killed while something else holds its end of the pipe."""
    reader, writer = os.pipe()
    script = "import subprocess, sys; subprocess.Popen(sys.argv[1:], stdin=0, stdout=1).wait()"
    line = [sys.executable, "-c", script, sys.executable, "-I", "-m", "kx", "mcp"]
    parent = subprocess.Popen(line, cwd=living.root, env=living.environ(), stdin=reader, stdout=subprocess.PIPE)
    os.close(reader)
    os.write(writer, json.dumps(INITIALIZE).encode() + b"\n")
    assert parent.stdout is not None
    assert json.loads(parent.stdout.readline())["id"] == 0
    if way == "stdin":
        os.close(writer)
        assert parent.wait(ENDS_S + 3) == 0
    else:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert parent.stdout.read() == b""  # comes when the last holder of the pipe, the pump, has ended
    parent.stdout.close()
    if way == "parent":
        os.close(writer)


@pytest.mark.parametrize(
    ("options", "config", "code", "word"),
    [
        pytest.param((), '{"mcp": {"projectId": 7}}', 78, b"KX_CONFIG_INVALID", id="broken configuration"),
        pytest.param(("--strict-project-root",), "{}", 2, b"KX_USAGE", id="root not named"),
        pytest.param(("--project-root", "a", "--project-root", "b"), "{}", 2, b"KX_USAGE", id="root named twice"),
        pytest.param(("--project-rot", "a"), "{}", 2, b"--project-rot", id="unknown option"),
        pytest.param(("--project-root", "sub"), "{}", 78, b"kx setup", id="root without a configuration"),
    ],
)
def test_what_cannot_be_served_ends_with_a_code_and_an_empty_stdout(options, config, code, word, living, tmp_path):
    """Case 37 and MISSION 5.1: the reason on stderr, nothing on stdout."""
    (tmp_path / "sub").mkdir()
    (tmp_path / ".kx.json").write_text(config)
    pump = living.pump(*options, cwd=tmp_path)
    out, err = pump.communicate(b"", timeout=30)
    assert (pump.returncode, out) == (code, b"")
    assert word in err


def test_without_a_stack_and_not_allowed_to_start_one_it_says_so(kx, tree):
    """`--no-start`: a non-zero exit, an empty stdout, the command to type."""
    ran = kx("mcp", "--no-start", "--project-root", tree)
    assert (ran.code != 0, ran.out) == (True, "")
    assert "kx up" in ran.err


def test_a_search_through_the_stack_loads_nothing_heavy(living):
    """Issue 3: the command talks to the socket and imports neither nats, numpy, onnxruntime nor mcp."""
    script = (
        "import sys; from kx.cli import run; code = run(sys.argv[1:]); import kx.commands.mcp;"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr); sys.exit(code)"
    )
    line = [sys.executable, "-I", "-c", script, "search", "breaker", "--stack", "--in", str(living.root)]
    ran = subprocess.run(line, env=living.environ(), capture_output=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.splitlines()[-1] == b"[]"


def test_a_gateway_that_was_killed_comes_back_under_a_living_session(living):
    """Issue 3: `kill -9` of the gateway costs an agent nothing but the calls in flight."""
    pump = living.pump()
    assert pump.stdout is not None
    assert pump.stdin is not None
    talk(pump, INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert json.loads(pump.stdout.readline())["id"] == 0
    living.processes["mcp_gateway"].kill()
    living.processes["mcp_gateway"].wait()
    log = living.kx.home.parent / "stack.log"
    with living.kx.running("serve", "mcp_gateway", log=log):
        asked = iter(range(1, 100))
        while True:  # a call that was in flight is answered with an error, and may be made again
            talk(pump, {"jsonrpc": "2.0", "id": next(asked), "method": "tools/list"})
            answer = json.loads(pump.stdout.readline())
            if "result" in answer:
                break
            assert answer["error"]["data"]["code"] == "KX_STACK_UNREACHABLE"
        assert answer["result"]["tools"][0]["name"] == "search"
        pump.stdin.close()
        assert pump.wait(ENDS_S + 3) == 0
    pump.stdout.close()
    pump.stderr.close()
