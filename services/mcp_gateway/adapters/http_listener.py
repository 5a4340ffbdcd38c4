"""The HTTP server (uvicorn) as a thing that is entered and left; signals and the loop stay ours."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

GRACE_S = 1.0  # for answers under way, at the end
IDLE_S = 30  # after which a connection that asks nothing is closed
MAX_CONNECTIONS = 256  # beyond, 503
BACKLOG = 128
MAX_HEADER_BYTES = 64 * 1024


def bound(host: str, port: int) -> socket.socket:
    """Take the port; OSError when somebody has it."""
    # The protocol is named: asyncio sends small parts at once (TCP_NODELAY) only where it is. Without, each answer but a
    # connection's first was 40 ms late: its body waited until its head was acknowledged.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener


@asynccontextmanager
async def serving(app: Callable[..., Any], listener: socket.socket) -> AsyncIterator[None]:
    """Serve an ASGI application on the listener while entered."""
    config = uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=1,
        limit_concurrency=MAX_CONNECTIONS,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
    )
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # its warnings are a line for each thing that is no HTTP
    server = _Server(config)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve, [listener])
        await server.listening.wait()
        try:
            yield
        finally:
            server.ending.set()
            with anyio.move_on_after(2 * GRACE_S, shield=True):
                await server.ended.wait()
            tasks.cancel_scope.cancel()


class _Connection(H11Protocol):
    """Closed when it has no whole request head in time; the original waits for a first one, and for half of one, for ever.

    Anybody on the machine can connect, and the connections are few.
    """

    _closing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in the original
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_asked():
            self._stop_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._is_asked():  # else the next request had come already
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _is_asked(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait_for_head(self) -> None:
        self._stop_waiting()
        self._closing = self.loop.call_later(IDLE_S, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._closing is not None:
            self._closing.cancel()


class _Server(uvicorn.Server):
    """Ends by an event; the original looks ten times a second whether it should, and takes the process's signals."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening, self.ending, self.ended = anyio.Event(), anyio.Event(), anyio.Event()

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        with anyio.CancelScope(shield=True):  # it ends by the event, in order
            await super().serve(sockets)
        self.ended.set()

    async def main_loop(self) -> None:
        self.listening.set()
        await self.ending.wait()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
