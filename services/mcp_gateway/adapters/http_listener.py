"""The HTTP server (uvicorn) as a thing that is entered and left; signals and the loop stay ours."""

from __future__ import annotations

import logging
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import uvicorn

GRACE_S = 1.0  # for answers under way, at the end
IDLE_S = 30  # after which a connection nobody uses is closed
MAX_CONNECTIONS = 256  # beyond, 503
BACKLOG = 128
MAX_HEADER_BYTES = 64 * 1024


def bound(host: str, port: int) -> socket.socket:
    """Take the port; OSError when somebody has it."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
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
        http="h11",
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
