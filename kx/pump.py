"""`kx mcp` at work: carry lines between an agent's stdin/stdout and the gateway's socket, and nothing else.

Threads and blocking calls, because anything more would cost the agent its first 300 ms. stdout carries protocol only,
from byte 0: the descriptor is moved away before anything could print to it.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NoReturn

from kx.conversation import Conversation
from shared.errors import KxError
from shared.local_link import READ_BYTES

LAST_ANSWERS_S = 1.5  # from the end of stdin to the end of this process
PARENT_POLL_S = 0.5
BACK_WITHIN_S = 15.0  # a gateway that crashed is started again with growing pauses
RETRY_S = 0.2
EXIT_ENDED = 0
EXIT_LOST = 75  # the stack went away and did not come back; see `kx.exits`

Connect = Callable[[], socket.socket]


def pump(connect: Connect) -> NoReturn:
    """Carry until the agent has gone; ends the process.

    `connect` gives a connection whose session has begun; it is asked again when the gateway went away.

    Raises:
        KxError: what the first `connect` raises; stdout is untouched then.
    """
    # From the start, because the first `connect` may wait for a whole stack.
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    link = _Link(connect, _Agent())
    threading.Thread(target=link.carry_in, daemon=True).start()
    link.carry_out()


class _Agent:
    """The agent's ends of stdin and stdout."""

    def __init__(self) -> None:
        self._out = os.dup(1)
        os.dup2(2, 1)  # a stray print must not reach the agent

    def tell(self, line: bytes) -> None:
        """Write a whole line; an agent that has gone ends the process."""
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._out, rest) :]
        except OSError:
            os._exit(EXIT_ENDED)


class _Link:
    """The connection of the moment, and what has to survive it.

    A gateway that went away is reached again when the agent next says something: one that crashed is back by then, and
    one that was stopped on purpose is not started again for an agent that asks nothing.
    """

    def __init__(self, connect: Connect, agent: _Agent) -> None:
        self._connect = connect
        self._agent = agent
        self._conversation = Conversation()
        self._lock = threading.Lock()  # of all below
        self._has_ended = False  # the agent's input
        self._held: list[bytes] = []  # lines that came while there was no gateway
        self._wanted = threading.Event()
        self._socket: socket.socket | None = connect()

    def carry_in(self) -> None:
        """Agent to gateway, in a thread of its own."""
        for line in whole_lines(lambda: os.read(0, READ_BYTES), takes_rest=True):
            with self._lock:
                self._conversation.sent(line)
                connection = self._socket
                if connection is None:
                    self._held.append(line)
                    self._wanted.set()
            # Without the lock: a gateway that cannot get rid of its answers reads no more, and `carry_out` needs the lock.
            if connection is not None:
                _send(connection, line)
        with self._lock:
            self._has_ended = True
            if self._socket is None:
                os._exit(EXIT_ENDED)
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
        time.sleep(LAST_ANSWERS_S)
        os._exit(EXIT_ENDED)

    def carry_out(self) -> NoReturn:
        """Gateway to agent; reaches the gateway again while the agent is there."""
        while True:
            for line in whole_lines(self._receive, takes_rest=False):
                with self._lock:
                    is_wanted = self._conversation.is_for_agent(line)
                if is_wanted:
                    self._agent.tell(line)
            self._give_up()
            self._wanted.wait()
            self._begin_again(self._reached_again())

    def _receive(self) -> bytes:
        assert self._socket is not None
        with suppress(OSError):
            return self._socket.recv(READ_BYTES)
        return b""

    def _give_up(self) -> None:
        """Forget the connection; who waits for an answer is told that there will be none."""
        with self._lock:
            if self._has_ended:
                os._exit(EXIT_ENDED)
            assert self._socket is not None
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)  # wakes who is sending on it
            self._socket.close()
            self._socket = None
            self._wanted.clear()
            lost = self._conversation.broken()
        for line in lost:
            self._agent.tell(line)

    def _reached_again(self) -> socket.socket:
        give_up = time.monotonic() + BACK_WITHIN_S
        while True:
            try:
                return self._connect()
            except KxError as error:
                if time.monotonic() > give_up:
                    os.write(2, f"{error.code}: {error}\n".encode("utf-8", "replace"))
                    os._exit(EXIT_LOST)
            time.sleep(RETRY_S)

    def _begin_again(self, connection: socket.socket) -> None:
        with self._lock:
            first = self._conversation.renewed()
            _send(connection, b"".join([*first, *(line for line in self._held if line not in first)]))
            self._held.clear()
            self._socket = connection


def _send(connection: socket.socket, data: bytes) -> None:
    with suppress(OSError):  # whoever reads sees the end of the connection, too
        connection.sendall(data)


def whole_lines(read: Callable[[], bytes], *, takes_rest: bool) -> Iterator[bytes]:
    """Yield lines with their ends until `read` gives nothing.

    What is left then has no end: with `takes_rest` it gets one, as the last line of a file does; else it is dropped,
    because half a message is none.
    """
    buffer = bytearray()
    while data := read():
        buffer += data
        if b"\n" in data:
            *whole, rest = bytes(buffer).split(b"\n")
            buffer = bytearray(rest)
            for line in whole:
                yield line + b"\n"
    if buffer and takes_rest:
        yield bytes(buffer) + b"\n"


def _end_with_parent(parent: int) -> None:
    """End when whoever started this has gone, though something else may hold its end of stdin."""
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_S)
    os._exit(EXIT_ENDED)
