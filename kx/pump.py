"""`kx mcp` at work: carry lines between an agent's stdin/stdout and the gateway's socket, and nothing else.

Threads and blocking calls, because anything more would cost the agent its first 300 ms. stdout carries protocol only,
from byte 0: the descriptor is moved away before anything could print to it.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
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
    """The connection of the moment, and what has to survive it."""

    def __init__(self, connect: Connect, agent: _Agent) -> None:
        self._connect = connect
        self._agent = agent
        self._conversation = Conversation()
        self._lock = threading.Lock()  # of the conversation, and of sending
        self._has_ended = False  # the agent's input
        self._socket = connect()

    def carry_in(self) -> None:
        """Agent to gateway, in a thread of its own."""
        for line in _lines(lambda: os.read(0, READ_BYTES)):
            with self._lock:
                self._conversation.sent(line)
                with suppress(OSError):  # the other thread sees the end of the connection, too
                    self._socket.sendall(line)
        self._has_ended = True
        give_up = time.monotonic() + LAST_ANSWERS_S
        if self._lock.acquire(timeout=LAST_ANSWERS_S):  # held for long while the gateway is being reached again
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
            self._lock.release()
            time.sleep(max(give_up - time.monotonic(), 0))
        os._exit(EXIT_ENDED)

    def carry_out(self) -> NoReturn:
        """Gateway to agent; connects again while the agent is there."""
        while True:
            for line in _lines(self._receive):
                with self._lock:
                    is_wanted = self._conversation.is_for_agent(line)
                if is_wanted:
                    self._agent.tell(line)
            self._begin_again()

    def _receive(self) -> bytes:
        with suppress(OSError):
            return self._socket.recv(READ_BYTES)
        return b""

    def _begin_again(self) -> None:
        with self._lock:
            if self._has_ended:
                os._exit(EXIT_ENDED)
            self._socket.close()
            for line in self._conversation.broken():
                self._agent.tell(line)
            self._socket = self._reached_again()
            with suppress(OSError):
                self._socket.sendall(b"".join(self._conversation.renewed()))

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


def _lines(read: Callable[[], bytes]) -> _LineIterator:
    return _LineIterator(read)


class _LineIterator:
    """Whole lines with their ends; what is left at the end without one is completed, as a last line of a pipe may be."""

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read
        self._buffer = bytearray()
        self._ready: list[bytes] = []

    def __iter__(self) -> _LineIterator:
        return self

    def __next__(self) -> bytes:
        while not self._ready:
            data = self._read()
            if not data:
                return self._last()
            self._buffer += data
            if b"\n" in data:
                *whole, rest = bytes(self._buffer).split(b"\n")
                self._ready = [line + b"\n" for line in whole]
                self._buffer = bytearray(rest)
        return self._ready.pop(0)

    def _last(self) -> bytes:
        if not self._buffer:
            raise StopIteration
        line = bytes(self._buffer) + b"\n"
        self._buffer.clear()
        return line


def _end_with_parent(parent: int) -> None:
    """End when whoever started this has gone, though something else may hold its end of stdin."""
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_S)
    os._exit(EXIT_ENDED)
