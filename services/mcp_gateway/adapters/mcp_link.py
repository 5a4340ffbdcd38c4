"""One agent's session on the local socket: lines of JSON-RPC to the library's streams and back.

Lines are bounded; what is no message is answered as the protocol says and does not end the session. When the agent
stops sending, what it asked for is still answered for a moment.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from services.mcp_gateway.adapters.callers import Caller
from shared.local_link import READ_BYTES
from shared.local_stream import LocalStream

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

    from services.mcp_gateway.adapters.mcp_server import ToolServer

MAX_LINE_BYTES = 4 * 1024 * 1024  # the library's own limit of a request over HTTP
MAX_UNANSWERED = 1_000  # requests of a session; beyond, the agent waits in its own pipe
LAST_ANSWERS_S = 1.0  # after the end of the input; the pump ends within two seconds of it

_TOO_LONG = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message is longer than 4 MiB"}}\n'
_UNREADABLE = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"that is no JSON-RPC message"}}\n'


class McpLink:
    """One session."""

    def __init__(self, stream: LocalStream, server: ToolServer, caller: Caller) -> None:
        self._stream = stream
        self._server = server
        self._caller = caller
        self._sending = anyio.Lock()
        self._unanswered: set[str | int] = set()
        self._answered = anyio.Event()

    async def run(self) -> None:
        """Serve until the agent has gone."""
        from mcp.server.runner import serve_dual_era_loop
        from mcp.shared.message import SessionMessage

        to_server, from_agent = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_agent, from_server = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read, to_server)
            tasks.start_soon(self._write, from_server, tasks.cancel_scope)
            await serve_dual_era_loop(
                self._server,
                from_agent,
                to_agent,
                lifespan_state=self._caller,
                init_options=self._server.create_initialization_options(),
            )

    async def _read(self, to_server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        import mcp_types as types
        from mcp.shared.message import SessionMessage

        async with to_server:
            async for raw in self._lines():
                try:
                    message = types.jsonrpc_message_adapter.validate_json(raw, by_name=False)
                except ValueError:
                    await self._send(_UNREADABLE)
                    continue
                while len(self._unanswered) >= MAX_UNANSWERED:
                    await self._answered.wait()
                self._note(message)
                try:
                    await to_server.send(SessionMessage(message))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return
            with anyio.move_on_after(LAST_ANSWERS_S):
                while self._unanswered:
                    await self._answered.wait()

    async def _write(self, from_server: MemoryObjectReceiveStream[SessionMessage], scope: anyio.CancelScope) -> None:
        import mcp_types as types

        async with from_server:
            async for outgoing in from_server:
                message = outgoing.message
                text = message.model_dump_json(by_alias=True, exclude_unset=True)
                if not await self._send(text.encode() + b"\n"):
                    scope.cancel()
                if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
                    self._forget(message.id)

    async def _lines(self) -> AsyncIterator[bytes]:
        """Yield lines that are not empty; one above the limit is answered and left out."""
        buffer = bytearray()
        is_too_long = False
        while data := await self._stream.receive(READ_BYTES):
            buffer += data
            *complete, rest = buffer.split(b"\n") if b"\n" in buffer else [buffer]
            for line in complete:
                if not is_too_long and line.strip():
                    yield bytes(line)
                is_too_long = False
            buffer = rest
            if len(buffer) > MAX_LINE_BYTES:
                buffer.clear()
                if not is_too_long:
                    await self._send(_TOO_LONG)
                is_too_long = True

    async def _send(self, data: bytes) -> bool:
        async with self._sending:
            return await self._stream.send(data)

    def _note(self, message: object) -> None:
        import mcp_types as types

        if isinstance(message, types.JSONRPCRequest):
            self._unanswered.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._forget((message.params or {}).get("requestId"))

    def _forget(self, request: object) -> None:
        self._unanswered.discard(request)
        self._answered.set()
        self._answered = anyio.Event()
