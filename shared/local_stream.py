"""One end of a local socket in an event loop.

Not anyio's own stream: that one raises in a callback of the loop when a wait is cancelled in the moment data arrive,
which is what happens whenever a process stops while its clients talk (anyio 4.16 on asyncio).
"""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Self

import anyio
from anyio.lowlevel import checkpoint


class LocalStream:
    """Bytes both ways; one reader and one writer at a time. Owns the connected socket it is given."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._socket = connection

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def connection(self) -> socket.socket:
        """The socket itself, for asking the kernel about its other end."""
        return self._socket

    async def receive(self, max_bytes: int) -> bytes:
        """Wait for some bytes; none means that the other end sends no more, in whichever way it ended."""
        await checkpoint()  # whoever sends without end must not stop the others
        while True:
            try:
                return self._socket.recv(max_bytes)
            except BlockingIOError:
                await anyio.wait_readable(self._socket)
            except OSError:
                return b""

    async def send(self, data: bytes) -> bool:
        """Send all of it; False when the other end takes no more."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._socket)
            except OSError:
                return False
        return True

    def close(self) -> None:
        """Close it; whoever waits on it must have been cancelled."""
        self._socket.close()
