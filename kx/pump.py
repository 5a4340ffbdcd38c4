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
MAX_OUTBOX_BYTES = 1024 * 1024  # read ahead of a gateway that is slow or away; beyond, the agent waits
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
    for carry in (link.carry_in, link.carry_on):
        threading.Thread(target=carry, daemon=True).start()
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


class _Outbox:
    """Lines the gateway has not been sent; when it is full, the agent waits."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._bytes = 0

    def is_empty(self) -> bool:
        return not self._lines

    def has_room(self) -> bool:
        return self._bytes < MAX_OUTBOX_BYTES

    def add(self, line: bytes) -> None:
        self._lines.append(line)
        self._bytes += len(line)

    def take(self) -> list[bytes]:
        """Give every line and keep none."""
        lines, self._lines, self._bytes = self._lines, [], 0
        return lines


class _Link:
    """The connection of the moment, and what has to survive it.

    A gateway that went away is reached again when the agent next says something or still waits to be greeted: one that
    crashed is back by then, and one that was stopped on purpose is not started again for an agent that asks nothing.

    Nobody sends or receives with the lock held, and who sends does nothing else: a gateway that cannot get rid of its
    answers reads no more, and would wait for a pump that waits for it.
    """

    def __init__(self, connect: Connect, agent: _Agent) -> None:
        self._connect = connect
        self._agent = agent
        self._changed = threading.Condition()  # guards all below
        self._conversation = Conversation()
        self._has_ended = False  # the agent's input
        self._outbox = _Outbox()
        self._socket: socket.socket | None = connect()

    def carry_in(self) -> None:
        """Agent to outbox, in a thread of its own; ends the process soon after the agent's input has ended."""
        for line in whole_lines(lambda: os.read(0, READ_BYTES), takes_rest=True):
            with self._changed:
                self._changed.wait_for(self._outbox.has_room)
                self._conversation.sent(line)
                self._outbox.add(line)
                self._changed.notify_all()
        with self._changed:
            self._has_ended = True
            if self._socket is None:
                os._exit(EXIT_ENDED)
            self._changed.notify_all()
        time.sleep(LAST_ANSWERS_S)
        os._exit(EXIT_ENDED)

    def carry_on(self) -> None:
        """Outbox to gateway, in a thread of its own."""
        while True:
            with self._changed:
                self._changed.wait_for(self._can_send)
                connection, data = self._socket, b"".join(self._outbox.take())
                self._changed.notify_all()
            assert connection is not None
            if not data:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_WR)
                return
            with suppress(OSError):  # whoever reads sees the end of the connection, too
                connection.sendall(data)

    def carry_out(self) -> NoReturn:
        """Gateway to agent; reaches the gateway again while the agent is there."""
        while True:
            for line in whole_lines(self._receive, takes_rest=False):
                with self._changed:
                    is_wanted = self._conversation.is_for_agent(line)
                if is_wanted:
                    self._agent.tell(line)
            self._give_up()
            with self._changed:
                self._changed.wait_for(self._is_wanted)
            self._begin_again(self._reached_again())

    def _can_send(self) -> bool:
        return self._socket is not None and (self._has_ended or not self._outbox.is_empty())

    def _is_wanted(self) -> bool:
        return self._conversation.awaits_greeting() or not self._outbox.is_empty()

    def _receive(self) -> bytes:
        assert self._socket is not None
        with suppress(OSError):
            return self._socket.recv(READ_BYTES)
        return b""

    def _give_up(self) -> None:
        """Forget the connection; who waits for an answer, sent or not, is told that there will be none."""
        with self._changed:
            if self._has_ended:
                os._exit(EXIT_ENDED)
            assert self._socket is not None
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)  # wakes who is sending on it
            self._socket.close()
            self._socket = None
            self._outbox.take()
            self._changed.notify_all()
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
        """Take the connection; the handshake is sent before what the agent said meanwhile."""
        with self._changed:
            first = self._conversation.renewed()
            said = [line for line in self._outbox.take() if line not in first]
            for line in (*first, *said):
                self._outbox.add(line)
            self._socket = connection
            self._changed.notify_all()


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
