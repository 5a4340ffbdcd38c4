"""An agent's session, through the socket, with the SDK's own client."""

from __future__ import annotations

import json
import os
import random

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from msgspec.structs import replace

from services.mcp_gateway.core.tools import TOOLS
from shared import messages as m
from shared.errors import ErrorCode, KxError
from tests.support.gateway_bench import PROJECT_ID, fake_services, make_hit, running_gateway
from tests.support.http_bench import modern
from tests.support.mcp_client import agent, lines, opened, text_of
from tests.support.rows import passed

pytestmark = pytest.mark.anyio

MODES = ["auto", "legacy"]
TOOL_NAMES = [tool.name for tool in TOOLS]
FRAMES = 10_000 if os.environ.get("KX_SOAK") else 400
TOO_LONG, UNREADABLE = -32600, -32700  # of JSON-RPC


@pytest.fixture
def named(gated) -> dict[str, str]:
    return {"expected_project_id": PROJECT_ID, "expected_project_root": str(gated)}


@pytest.mark.parametrize("mode", MODES)
async def test_both_families_of_the_protocol_are_served(mode, settings, open_project):
    """Issue 3, row L7: a handshake client and a stateless one list and call the same tools."""
    async with fake_services() as (bus, fakes), running_gateway(bus, settings) as stack:
        fakes.search = replace(fakes.search, results=(make_hit(text="passage\n"),), total=1)
        async with agent(stack, open_project, mode=mode) as client:
            listed = await client.list_tools()
            assert [tool.name for tool in listed.tools] == TOOL_NAMES
            found = await client.call_tool("search", {"query": "breaker"})
            assert found.structured_content["results"][0]["text"] == "passage\n"
            assert "docs/guide.md:1-2 [docs|both]" in text_of(found)
            with pytest.raises(MCPError):
                await client.call_tool("no_such_tool", {})


async def test_a_gated_project_lets_in_who_names_it_and_tells_the_others_nothing(settings, gated, named, tmp_path):
    """MISSION 1.8: absent, different, right; nothing of ours is in a refusal."""
    async with fake_services() as (bus, fakes), running_gateway(bus, settings) as stack, agent(stack, gated) as client:
        schema = (await client.list_tools()).tools[0].input_schema
        assert {"expected_project_id", "expected_project_root"} <= set(schema["required"])
        absent = await client.call_tool("search", {"query": "breaker"})
        different = await client.call_tool(
            "search", {"query": "breaker"} | named | {"expected_project_root": str(tmp_path)}
        )
        assert text_of(absent).startswith("KX_PROJECT_ASSERTION_REQUIRED")
        assert text_of(different).startswith("KX_PROJECT_MISMATCH")
        for refused in (absent, different):
            assert refused.is_error
            assert str(gated) not in text_of(refused)
            assert PROJECT_ID not in text_of(refused)
        assert fakes.asked == []
        assert not (await client.call_tool("search", {"query": "breaker"} | named)).is_error


async def test_passages_come_once_and_fenced_where_the_text_carries_them(settings, open_project):
    """Issue 3: structured output does not double the payload; project text stands in a random fence, made visible."""
    async with fake_services() as (bus, fakes), running_gateway(bus, settings) as stack:
        fakes.search = replace(fakes.search, results=(make_hit(text="zzz\u202epayload\x1b[2J\n"),), total=1)
        async with agent(stack, open_project) as client:
            structured = await client.call_tool("search", {"query": "q"})
            plain = [await client.call_tool("search", {"query": "q", "format": "text"}) for _ in range(2)]
    assert "zzz" not in text_of(structured)
    assert structured.structured_content["results"][0]["text"] == "zzz\\u202epayload\\x1b[2J\n"
    assert "text" not in plain[0].structured_content["results"][0]
    fences = [next(line for line in text_of(one).splitlines() if line.startswith("=== ")) for one in plain]
    assert fences[0] != fences[1]
    assert f"{fences[0]}\nzzz\\u202epayload\\x1b[2J\n" in text_of(plain[0])


async def test_an_index_that_is_being_built_answers_with_how_far_it_is(settings, open_project):
    """Case 38: no waiting; `indexing: n of m` instead."""
    async with fake_services() as (bus, fakes), running_gateway(bus, settings) as stack:
        fakes.search = replace(fakes.search, state="indexing", pending=m.Pending(text=19_000, vectors=0))
        fakes.progress = replace(fakes.progress, documents=1_000, text_pending=19_000)
        async with agent(stack, open_project) as client:
            found = await client.call_tool("search", {"query": "q"})
    assert found.structured_content["indexing"] == "1000 of 20000 files read"
    assert "Indexing: 1000 of 20000 files read." in text_of(found)


@pytest.mark.parametrize(
    "hit",
    [
        pytest.param(make_hit(text="ação " * 500), id="Portuguese"),
        pytest.param(make_hit(text='{"key": "value"}\n' * 150), id="quotes and lines"),
        pytest.param(make_hit(text="認証" * 300, heading="見" * 200), id="no Latin letter"),
    ],
)
async def test_a_long_answer_is_cut_and_says_how_to_go_on(hit, settings, open_project):
    """Case 39: within 25,000 tokens, `truncated`, and an offset that gives the rest."""
    async with fake_services() as (bus, fakes), running_gateway(bus, settings) as stack:
        fakes.search = replace(fakes.search, results=(hit,) * 60, total=60)
        async with agent(stack, open_project) as client:
            found = await client.call_tool("search", {"query": "q", "top": 100, "max_tokens": 5_000})
    answer = found.structured_content
    assert answer["truncated"]
    assert 0 < len(answer["results"]) == answer["next_offset"] < 60
    written = json.dumps(answer, ensure_ascii=False)
    assert sum(1 if char > "\x7f" else 1 / 3 for char in written) <= 5_000


async def test_no_garbage_ends_a_session_or_makes_a_line_that_is_no_message(settings, open_project):
    """Row B6: random frames; every line that comes back is a JSON-RPC message, and the session goes on."""
    seeded = random.Random(5)
    shapes = [
        lambda: seeded.randbytes(seeded.randrange(1, 200)).replace(b"\n", b" "),
        lambda: json.dumps({"jsonrpc": "2.0", "id": seeded.randrange(99), "method": seeded.choice(["ping", "tools/call", "x"])}).encode(),
        lambda: b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":' + b"[" * 90 + b"}}",
        lambda: json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "ping"}] * 3).encode(),
        lambda: b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
        lambda: json.dumps({"jsonrpc": "2.0", "id": None, "method": "tools/list", "params": {"cursor": 7}}).encode(),
    ]  # fmt: skip
    last = b'{"jsonrpc":"2.0","id":"last","method":"ping"}'
    codes: set[int | None] = set()
    frames = [seeded.choice(shapes)() for _ in range(FRAMES)]
    sent = b"\n".join([*frames, b"x" * (5 * 1024 * 1024), last]) + b"\n"
    async with (
        fake_services() as (bus, _),
        running_gateway(bus, settings) as stack,
        await opened(stack, open_project) as stream,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(stream.send, sent)
        with anyio.fail_after(60):
            async for line in lines(stream):
                message = json.loads(line)
                assert message["jsonrpc"] == "2.0"
                assert {"result", "error"} & set(message)
                codes.add(message.get("error", {}).get("code"))
                if message["id"] == "last":
                    break
    assert {TOO_LONG, UNREADABLE} <= codes
    passed("B6", transport="socket", frames=FRAMES, crashes=0)


async def test_a_session_that_asks_far_too_much_keeps_no_other_waiting(settings, open_project, monkeypatch):
    """Row A14 on the local socket: one call of a session at a time, so many read ahead, and all answered in the end."""
    monkeypatch.setattr("services.mcp_gateway.adapters.turns.TURN_S", 60.0)
    monkeypatch.setattr("services.mcp_gateway.calls.WALK_WAIT_S", 60.0)
    monkeypatch.setattr("services.mcp_gateway.adapters.mcp_link.MAX_UNANSWERED", 5)
    asked = [modern("tools/call", {"name": "ingest", "arguments": {"path": "docs"}}, request=one) for one in range(100)]
    padding = b" " * 20_000 + b"\n"  # more in all than the kernel keeps between two processes
    has_sent = anyio.Event()
    async with (
        fake_services() as (bus, fakes),
        running_gateway(bus, settings) as stack,
        await opened(stack, open_project) as greedy,
        agent(stack, open_project) as calm,
        anyio.create_task_group() as tasks,
    ):
        fakes.walk_may_end = anyio.Event()

        async def insist() -> None:
            await greedy.send(b"".join(json.dumps(one).encode() + padding for one in asked))
            has_sent.set()

        tasks.start_soon(insist)
        for _ in range(5):
            assert not (await calm.call_tool("search", {"query": "q"})).is_error
        assert sum(isinstance(one, m.ReconcileTree) and one.urgency == "live" for one in fakes.asked) == 1
        assert not has_sent.is_set()
        fakes.walk_may_end.set()
        answering = lines(greedy)
        assert [json.loads(await anext(answering))["id"] for _ in asked] == list(range(100))
        await answering.aclose()


async def test_a_session_whose_project_cannot_be_had_is_refused_by_name(settings, tmp_path):
    """MISSION 1.2: a root without a configuration is an error, never another project."""
    (tmp_path / "bare").mkdir()
    async with fake_services() as (bus, _), running_gateway(bus, settings) as stack:
        with pytest.raises(KxError) as refused:
            await opened(stack, tmp_path / "bare")
    assert refused.value.code is ErrorCode.CONFIG_INVALID
    assert "kx setup" in refused.value.hint
