"""A service as a process of its own: ready, busy, stopped."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import Process

from shared import subjects
from tests.support.buses import connect, make_search
from tests.support.nats_server import ROOT, NatsServer

pytestmark = [pytest.mark.anyio, pytest.mark.connected]

STEP_S = 20


@asynccontextmanager
async def service_process(server: NatsServer) -> AsyncIterator[Process]:
    command = [sys.executable, "-m", "tests.support.slow_service", str(server.run_dir)]
    async with await anyio.open_process(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()


async def events_until(process: Process, event: str) -> list[str]:
    """Read log lines until one says `event`, or there are no more."""
    events: list[str] = []
    assert process.stderr is not None
    rest = b""
    async for chunk in process.stderr:
        rest += chunk
        *lines, rest = rest.split(b"\n")
        events += [json.loads(line)["event"] for line in lines]
        if event in events:
            break
    return events


async def test_signal_finishes_what_is_in_hand_and_leaves_with_zero(shared_server: NatsServer) -> None:
    """Row F15: SIGTERM while a request is being answered; the caller gets its reply, the process ends in order."""
    replies: list[str] = []

    async def ask() -> None:
        replies.append((await command.request(subjects.SEARCH, make_search())).query)

    async with connect(shared_server, subjects.COMMAND) as command, service_process(shared_server) as process:
        with anyio.fail_after(STEP_S):
            assert "service.ready" in await events_until(process, "service.ready")
            async with anyio.create_task_group() as group:
                group.start_soon(ask)
                assert "answer.begun" in await events_until(process, "answer.begun")
                process.send_signal(signal.SIGTERM)
            assert replies == ["hello"]
            assert (await events_until(process, "service.stopped"))[-1] == "service.stopped"
            assert await process.wait() == 0
            assert process.stdout is not None
            assert [chunk async for chunk in process.stdout] == []
