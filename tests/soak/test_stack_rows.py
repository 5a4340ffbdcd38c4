"""The rows of RELIABILITY.md that a living stack must hold: F2, F3, F4, F15, L4, L7. Each prints its line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import mcp_types as types
import pytest
from mcp import Client

from kx.processes import BUS, PROCESSES
from shared.stack_file import StackFile, read_stack_file, running_stack
from tests.soak.conftest import IS_SOAK, Report
from tests.support.command import Kx
from tests.support.gateway_bench import OTHER_ID, PROJECT_ID, make_project
from tests.support.index_facts import facts_of
from tests.support.living_stack import (
    GONE_S,
    QUESTIONS,
    SUPERVISOR,
    LivingStack,
    asked_pump,
    held_locks,
    project_at,
    settings_of,
    write_tree_of,
)
from tests.support.mcp_client import agent, text_of
from tests.support.processes import eventually, processes_of

pytestmark = [pytest.mark.connected, pytest.mark.timeout(1_800 if IS_SOAK else 240)]

Amount = Callable[[int], int]

FILES = 2_000 if IS_SOAK else 300
MANY_FILES = 20_000 if IS_SOAK else 2_000
AWAY_S = 30.0 if IS_SOAK else 2.0
VICTIMS = (*(process.name for process in PROCESSES), SUPERVISOR)
FIRST_ANSWER_S = 2.0 * 5  # row L7, with the slack of a busy machine
LIBRARY_TIMES = 5  # on a machine that is busier still: as often as the import of the MCP library takes beside it
PUMP_ENDS_S = 2.0 * 5
SESSIONS = 4
CALLS_A_TURN = 5
WAYS = ("SIGTERM", "SIGINT", "stdin", "parent")


@pytest.fixture
def kx(tmp_path: Path) -> Iterator[Kx]:
    """The command with an empty home; nothing of it stays."""
    command = Kx(tmp_path / "home" / ".kx")
    yield command
    command("down")
    for pid in processes_of(command.home):
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def fresh(tmp_path: Path) -> Kx:
    """The same in another home, for the index that is compared with."""
    return Kx(tmp_path / "fresh" / ".kx")


def orphans_after_down(kx: Kx) -> list[str]:
    """End the stack; what is left of it."""
    assert kx("down").code == 0
    return [f"left: {line}" for line in processes_of(kx.home).values()]


# --- faults -----------------------------------------------------------------------------------------------------------


def test_f2_services_killed_in_turn_come_back_and_the_index_is_right(
    kx, fresh, tmp_path, amount: Amount, report: Report
):
    """Rows F2 and F15, issue 3: each process in turn, the supervisor too, while a project is indexed and edited."""
    stack = LivingStack(kx, tmp_path / "shop", FILES)
    kills = max(len(VICTIMS), amount(100))
    told = [stack.kill(VICTIMS[number % len(VICTIMS)]) for number in range(kills)]
    problems = [one for one in told if one] + stack.differences(fresh)
    orphans = orphans_after_down(kx)
    report("F2", problems + orphans, kills=kills, files=FILES, back=told.count(None), orphans=len(orphans))


def test_f3_a_killed_bus_loses_no_file(kx, fresh, tmp_path, amount: Amount, report: Report):
    """Row F3, case 35: the bus killed while events flow; no file missing, none twice."""
    stack = LivingStack(kx, tmp_path / "shop", FILES)
    kills = amount(25)
    told = [stack.kill(BUS) for _ in range(kills)]
    report("F3", [one for one in told if one] + stack.differences(fresh), kills=kills, files=FILES)


def test_f4_a_bus_that_is_away_costs_time_and_nothing_else(kx, fresh, tmp_path, amount: Amount, report: Report):
    """Row F4, case 35: away while files change and chunks wait; all there in the end, nothing marked failed."""
    stack = LivingStack(kx, tmp_path / "shop", FILES)
    rounds = amount(10) if IS_SOAK else 1
    problems = []
    for number in range(rounds):
        away = stack.keep_bus_away(AWAY_S)
        found = stack.differences(Kx(fresh.home.parent / str(number) / ".kx"))
        problems += [one for one in (away, *found) if one]
    report("F4", problems, rounds=rounds, away_s=AWAY_S, files=FILES)


# --- the end ----------------------------------------------------------------------------------------------------------


def ended(kx: Kx, root: Path, way: str) -> list[str]:
    """Start a stack with an agent, end it in one way, and give what was left."""
    problems: list[str] = []
    with kx.running("up", log=kx.home.parent / "up.log") as up:
        assert eventually(lambda: running_stack(kx.home / "run"), within_s=GONE_S), "no stack"
        pump, answer = asked_pump(kx, root, "initialize")
        assert "result" in answer
        if way in {"SIGTERM", "SIGINT"}:
            up.send_signal(signal.Signals[way])
        elif way == "parent":
            up.kill()
        problems += pump_end(pump)
        if way == "stdin":
            up.send_signal(signal.SIGTERM)
        try:
            code = up.wait(GONE_S)
        except subprocess.TimeoutExpired:
            code = None
        expected = -signal.SIGKILL if way == "parent" else 0
        problems += [] if code == expected else [f"{way}: the supervisor ended with {code}"]
    left = eventually(lambda: not processes_of(kx.home), within_s=GONE_S)
    problems += [] if left else [f"{way}: {line}" for line in processes_of(kx.home).values()]
    # the kernel closes the files of a killed process a moment after it has forgotten its environment
    eventually(lambda: not held_locks(kx.home), within_s=GONE_S)
    return problems + [f"{way}: {name} is locked" for name in held_locks(kx.home)]


def pump_end(pump: subprocess.Popen[bytes]) -> list[str]:
    """Close its stdin; what was wrong with its end."""
    try:
        pump.communicate(timeout=PUMP_ENDS_S)
    except subprocess.TimeoutExpired:
        pump.kill()
        pump.communicate()
        return ["the pump did not end"]
    return [] if pump.returncode == 0 else [f"the pump ended with {pump.returncode}"]


def test_f15_every_end_leaves_no_process_and_no_lock(kx, tmp_path, amount: Amount, report: Report):
    """Row F15: SIGTERM, SIGINT, the agent's stdin closed, the parent killed."""
    root = tmp_path / "shop"
    write_tree_of(root, 5)
    kx.home.parent.mkdir(parents=True)
    stops = max(len(WAYS), amount(50))
    problems = [one for number in range(stops) for one in ended(kx, root, WAYS[number % len(WAYS)])]
    report("F15", problems, stops=stops, ways=len(WAYS), orphans=len(processes_of(kx.home)))


# --- agents -----------------------------------------------------------------------------------------------------------


def import_s() -> float:
    """Take the time of the largest part of a first answer, at this moment on this machine."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "import mcp.server.lowlevel"], check=True)
    return time.monotonic() - began


def test_l7_first_answer_comes_though_nothing_runs_and_the_project_is_large(
    kx, tmp_path, amount: Amount, report: Report
):
    """Row L7, case 38: `initialize` and `server/discover` with a cold stack; indexing comes after the answer."""
    root = tmp_path / "large"
    write_tree_of(root, MANY_FILES)
    assert kx("project", "add", root).code == 0
    rounds = amount(20) if IS_SOAK else 1
    took: list[float] = []
    times: list[float] = []
    for method in list(QUESTIONS) * rounds:
        library_s = import_s()
        began = time.monotonic()
        pump, answer = asked_pump(kx, root, method)
        took.append(time.monotonic() - began)
        times.append(took[-1] / library_s)
        assert "result" in answer, answer
        assert pump_end(pump) == []
        assert kx("down").code == 0
    late = [
        f"{seconds:.1f} s, {ratio:.1f} imports"
        for seconds, ratio in zip(took, times, strict=True)
        if seconds > FIRST_ANSWER_S and ratio > LIBRARY_TIMES
    ]
    report(
        "L7",
        late,
        starts=len(took),
        files=MANY_FILES,
        within_2s=sum(one <= 2.0 for one in took),
        max_s=round(max(took), 2),
        max_imports=round(max(times), 1),
    )


class Gated:
    """A project that wants to be named, with a word that only its files hold."""

    def __init__(self, root: Path, project_id: str, mark: str) -> None:
        self.root = make_project(root, project_id=project_id)
        self.mark = mark
        self.named = {"expected_project_id": project_id, "expected_project_root": str(root)}
        self.written: set[str] = set()

    def write(self, token: str) -> str:
        """Write a document that holds the token; its path."""
        path = f"docs/{token}.md"
        (self.root / path).write_text(f"# Breaker\n\nThe breaker {token} of {self.mark}.\n")
        self.written.add(path)
        return path


class Talk:
    """One session; counts what must not be."""

    def __init__(self, client: Client, ours: Gated, theirs: Gated, problems: list[str]) -> None:
        self._client = client
        self._ours = ours
        self._theirs = theirs
        self._problems = problems
        self.calls = 0

    async def turn(self, token: str) -> None:
        """Write and ingest, find it, search for what both have and for what the others have, be refused."""
        path = self._ours.write(token)
        await self.call("ingest", path=path)
        found = await self.search(token)
        self._problems += [] if path in found else [f"not found: {path}"]
        await self.search("breaker")
        await self.search(self._theirs.mark)
        wrong = await self._client.call_tool("search", self._theirs.named | {"query": "breaker"})
        self.calls += 1
        self._problems += [] if text_of(wrong).startswith("KX_PROJECT_MISMATCH") else ["let in with the other's name"]

    async def search(self, query: str) -> list[str]:
        """Give the paths; a passage of the other project is a problem."""
        answer = await self.call("search", query=query, mode="lexical")
        results = (answer.structured_content or {}).get("results", [])
        self._problems += [f"foreign row {one['path']}" for one in results if self._theirs.mark in one["text"]]
        return [one["path"] for one in results]

    async def call(self, tool: str, **arguments: object) -> types.CallToolResult:
        """Call with the right names; any error is a problem."""
        self.calls += 1
        answer = await self._client.call_tool(tool, self._ours.named | arguments)
        self._problems += [text_of(answer)] if answer.is_error else []
        return answer


@pytest.mark.anyio
async def test_l4_four_sessions_on_two_projects_lose_nothing_and_see_nothing_foreign(
    kx, tmp_path, amount: Amount, report: Report
):
    """Row L4, case 31: mixed calls; every ingested file found, no passage of the other project, no "locked"."""
    one, other = Gated(tmp_path / "a", PROJECT_ID, "mangomark"), Gated(tmp_path / "b", OTHER_ID, "papayamark")
    for gated in (one, other):
        assert kx("project", "add", gated.root).code == 0
    up = kx("up", "-d")
    assert up.code == 0, up.err
    stack = read_stack_file(settings_of(kx).run_dir)
    assert stack is not None
    problems: list[str] = []
    turns = amount(2_000) // (SESSIONS * CALLS_A_TURN)
    calls = 0

    async def session(number: int, stack: StackFile) -> None:
        nonlocal calls
        ours, theirs = (one, other) if number % 2 else (other, one)
        async with agent(stack, ours.root, mode="auto" if number < SESSIONS // 2 else "legacy") as client:
            talk = Talk(client, ours, theirs, problems)
            for turn in range(turns):
                await talk.turn(f"token{number}x{turn}")
            calls += talk.calls

    async with anyio.create_task_group() as sessions:
        for number in range(SESSIONS):
            sessions.start_soon(session, number, stack)
    lost = [path for gated in (one, other) for path in sorted(gated.written - indexed(kx, gated.root))]
    locked = sum("lock" in one.lower() for one in problems)
    figures = {"foreign": sum("foreign" in one for one in problems), "lost": len(lost), "locked": locked}
    report("L4", problems + lost, sessions=SESSIONS, projects=2, calls=calls, **figures)


def indexed(kx: Kx, root: Path) -> set[str]:
    """The paths that an index holds, by its file."""
    project = project_at(kx, root)
    rows = facts_of(project.index_path, project.instance).rows
    return {os.fsdecode(row[0]) for row in rows if row[2] == "indexed"}  # type: ignore[arg-type]
