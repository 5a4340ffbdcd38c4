"""The pump between an agent and a gateway that is slow, or goes away: nobody waits for somebody who waits for him."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

# A gateway that is away refuses, as the local link tells it.
SCRIPT = """
import socket, sys
from kx.pump import pump
from shared.errors import ErrorCode, KxError
def connect():
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(sys.argv[1])
    except OSError as error:
        raise KxError(ErrorCode.STACK_UNREACHABLE, "away", hint="") from error
    return connection
pump(connect)
"""
DEADLINE_S = 30.0
WIDE = "x" * 4_000  # 200 of them are more than the kernel keeps between two processes
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Gateway:
    """The other end of the pump: it reads and answers when the test says so."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.listen()

    def listen(self) -> None:
        """Be there again."""
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.settimeout(DEADLINE_S)
        self._listener.bind(str(self._path))
        self._listener.listen()

    def accept(self) -> None:
        """Take the pump's connection."""
        self._connection, _ = self._listener.accept()
        self._connection.settimeout(DEADLINE_S)
        self._lines = self._connection.makefile("rb")

    def leave(self) -> None:
        """Be away; whoever is connected sees it."""
        self._path.unlink()
        self.close()

    def close(self) -> None:
        """Let go of everything."""
        self._listener.close()
        self.hang_up()

    def hang_up(self) -> None:
        """End the connection alone."""
        self._lines.close()
        self._connection.close()

    def heard(self) -> Any:
        """Read one message."""
        return json.loads(self._lines.readline())

    def answer(self, *ids: int, text: str = "") -> None:
        """Write answers."""
        answers = [{"jsonrpc": "2.0", "id": one, "result": {"text": text}} for one in ids]
        self._connection.sendall(b"".join(json.dumps(one).encode() + b"\n" for one in answers))


class Agent:
    """A pump, and what it is told and tells."""

    def __init__(self, path: Path) -> None:
        line = [sys.executable, "-c", SCRIPT, str(path)]
        self.pump = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def say(self, *messages: object) -> None:
        """Write messages as the agent."""
        assert self.pump.stdin is not None
        self.pump.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        self.pump.stdin.flush()

    def heard(self) -> Any:
        """Read one message as the agent."""
        assert self.pump.stdout is not None
        return json.loads(self.pump.stdout.readline())


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    listening = Gateway(tmp_path / "socket")
    yield listening
    listening.close()


@pytest.fixture
def agent(gateway: Gateway, tmp_path: Path) -> Iterator[Agent]:
    started = Agent(tmp_path / "socket")
    gateway.accept()
    with started.pump:
        yield started
        started.pump.kill()


def asked(number: int, text: str = "") -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"text": text}}


def test_a_new_gateway_that_answers_before_it_reads_holds_up_nobody(agent, gateway):
    """Row B6: what was said while there was none waits in nobody's way, and comes whole and in order."""
    agent.say(INITIALIZE, INITIALIZED)
    assert (gateway.heard(), gateway.heard()) == (INITIALIZE, INITIALIZED)
    gateway.answer(0)
    assert agent.heard()["id"] == 0
    agent.say(asked(1))
    gateway.heard()
    gateway.leave()
    assert agent.heard()["error"]["data"]["code"] == "KX_STACK_UNREACHABLE"
    held = [asked(number, WIDE) for number in range(2, 202)]
    agent.say(*held)
    gateway.listen()
    gateway.accept()
    ids = [one["id"] for one in held]
    answering = Thread(target=gateway.answer, args=(0, *ids), kwargs={"text": WIDE}, daemon=True)
    answering.start()
    assert [agent.heard()["id"] for _ in ids] == ids
    answering.join()
    assert [gateway.heard() for _ in range(2 + len(held))] == [INITIALIZE, INITIALIZED, *held]


def test_an_agent_whose_greeting_was_lost_is_greeted_by_the_next_gateway(agent, gateway):
    """Issue 7: an agent says nothing before it is greeted, so that nothing else would reach the gateway again."""
    agent.say(INITIALIZE)
    assert gateway.heard() == INITIALIZE
    gateway.hang_up()
    gateway.accept()
    assert gateway.heard() == INITIALIZE
    gateway.answer(0)
    assert agent.heard()["id"] == 0


def test_the_end_of_the_input_is_seen_though_the_gateway_reads_nothing(agent):
    """Row F15: an agent that has gone leaves no pump behind, whatever the gateway does."""
    agent.say(*(asked(number, WIDE) for number in range(200)))
    agent.pump.stdin.close()
    assert agent.pump.wait(DEADLINE_S) == 0
