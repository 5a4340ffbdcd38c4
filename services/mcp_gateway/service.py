"""Be the door: agents and the command come in by the local socket, their questions go out on the bus.

command    Ask (frames)              → forwarded on the bus                      → Told
http       POST /mcp with a token    → door, gate, tool, requests as below       → JSON or events
http       /api/v1 with a token      → door, operation, request to knowledge     → JSON
mcp        JSON-RPC lines            → gate, tool, requests to query, watcher …  → JSON-RPC lines
health     ServiceStatusRequest      → how many clients there are                → ServiceStatus
"""

from __future__ import annotations

import gc
import importlib
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, cast

import anyio
from anyio import to_thread
from msgspec.structs import replace

from services.mcp_gateway.adapters.callers import LocalCaller
from services.mcp_gateway.adapters.command_link import CommandLink
from services.mcp_gateway.adapters.local_socket import Serve, listening
from services.mcp_gateway.adapters.mcp_link import McpLink
from services.mcp_gateway.adapters.projects import project_of
from services.mcp_gateway.calls import Calls
from services.mcp_gateway.core.pace import Pace
from services.mcp_gateway.entrance import keep_open
from services.mcp_gateway.rest import Rest
from shared.bus import Bus, Endpoint, ServiceContract
from shared.bus_address import read_bus_file
from shared.local_link import PROTOCOL, Hello, socket_path
from shared.local_stream import LocalStream
from shared.messages import ServiceStatus, ServiceStatusRequest
from shared.process_identity import own_identity
from shared.runtime import health_endpoint
from shared.settings import Settings
from shared.stack_file import StackFile, remove_stack_file, write_stack_file
from shared.subjects import GATEWAY

if TYPE_CHECKING:
    from services.mcp_gateway.adapters.mcp_server import ToolServer

HTTP_CLIENT_S = 60.0  # HTTP has no session: who asked within this is still there
_SDK = "services.mcp_gateway.adapters.mcp_server"


def prepare() -> None:
    """Begin to import the MCP library, which takes over a second, while the bus may still be on its way."""
    threading.Thread(target=_import_sdk, daemon=True).start()


def _import_sdk() -> ModuleType:
    """Import without the collector: the library makes thousands of objects that stay, and searching them costs 0.1 s."""
    gc.disable()
    try:
        return importlib.import_module(_SDK)
    finally:
        gc.enable()


@asynccontextmanager
async def service(bus: Bus, settings: Settings) -> AsyncIterator[None]:
    """Serve while entered; ready when the socket listens and `stack.json` says so."""
    async with anyio.create_task_group() as tasks:
        gateway = Gateway(bus, settings, Calls(bus, tasks))
        tasks.start_soon(gateway.serve_sdk)
        async with bus.serve(gateway.contract()), listening(socket_path(settings.socket_dir), gateway.prepare):
            with _announced(settings):
                yield
        tasks.cancel_scope.cancel()


class Gateway:
    """Who is connected, and what each connection is served by."""

    def __init__(self, bus: Bus, settings: Settings, calls: Calls) -> None:
        self._bus = bus
        self._settings = settings
        self._calls = calls
        self._clients = 0
        self._pace = Pace()
        self._server: ToolServer | None = None
        self._loaded = anyio.Event()

    def contract(self) -> ServiceContract:
        """Name what this service answers on the bus."""
        health = health_endpoint(GATEWAY)

        async def handle(question: ServiceStatusRequest) -> ServiceStatus:
            found = cast("ServiceStatus", await health.handle(question))
            clients = self._clients + self._pace.callers_within(HTTP_CLIENT_S, time.monotonic())
            return replace(found, detail=f"clients={clients}")  # a stack without clients may end

        return ServiceContract(
            name=GATEWAY,
            description="agents and the command, by the local socket",
            endpoints=(Endpoint(route=health.route, handle=handle),),
        )

    async def serve_sdk(self) -> None:
        """Import the MCP library beside everything else (the command never needs it, an agent soon); serve HTTP by it."""
        module = await to_thread.run_sync(_import_sdk, abandon_on_cancel=True)
        self._server = module.make_server(self._calls.call)
        self._loaded.set()
        await keep_open(self._server, Rest(self._bus, self._settings), self._settings, self._pace)

    async def prepare(self, hello: Hello, stream: LocalStream) -> Serve:
        """Choose what a connection is served by; refuse a session without a project."""
        if hello.role == "command":
            return lambda: self._serve_command(stream)
        project = await to_thread.run_sync(project_of, hello, self._settings)

        async def serve() -> None:
            with self._counted():
                await self._loaded.wait()
                assert self._server is not None
                await McpLink(stream, self._server, LocalCaller(project)).run()

        return serve

    async def _serve_command(self, stream: LocalStream) -> None:
        used: list[None] = []

        def on_use() -> None:
            used.append(None)
            self._clients += 1

        try:
            await CommandLink(stream, self._bus, on_use).run()
        finally:
            self._clients -= len(used)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self._clients += 1
        try:
            yield
        finally:
            self._clients -= 1


@contextmanager
def _announced(settings: Settings) -> Iterator[None]:
    """Say where the stack is while entered."""
    own, bus = own_identity(), read_bus_file(settings.run_dir)
    write_stack_file(
        settings.run_dir,
        StackFile(
            pid=own.pid,
            boot_id=own.boot_id,
            start_ticks=own.start_ticks,
            protocol=PROTOCOL,
            socket=str(socket_path(settings.socket_dir)),
            bus_port=bus.port if bus is not None else 0,
        ),
    )
    try:
        yield
    finally:
        remove_stack_file(settings.run_dir, own.pid)
