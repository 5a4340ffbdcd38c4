"""The SDK's own client on the gateway's socket, without a process between."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import mcp_types as types
from mcp import Client
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage

from shared.local_link import PROTOCOL, READ_BYTES, Hello
from shared.local_stream import LocalStream
from shared.stack_file import StackFile, greet


async def opened(stack: StackFile, root: Path, session_id: str | None = None) -> LocalStream:
    """Begin a session as `kx mcp` does."""
    hello = Hello(kx=PROTOCOL, role="mcp", project_root=str(root), cwd="/", session_id=session_id)
    return LocalStream(await anyio.to_thread.run_sync(greet, stack, hello))


async def lines(stream: LocalStream) -> AsyncIterator[bytes]:
    """Yield what the gateway says, line by line."""
    buffer = b""
    while data := await stream.receive(READ_BYTES):
        *whole, buffer = (buffer + data).split(b"\n")
        for line in whole:
            yield line


@asynccontextmanager
async def socket_transport(
    stack: StackFile, root: Path, session_id: str | None = None
) -> AsyncIterator[TransportStreams]:
    """Carry the SDK's messages as lines."""
    to_client, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_client = anyio.create_memory_object_stream[SessionMessage](0)
    async with await opened(stack, root, session_id) as stream, anyio.create_task_group() as tasks:

        async def read() -> None:
            async with to_client:
                async for raw in lines(stream):
                    await to_client.send(
                        SessionMessage(types.jsonrpc_message_adapter.validate_json(raw, by_name=False))
                    )

        async def write() -> None:
            async with from_client:
                async for one in from_client:
                    text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await stream.send(text.encode() + b"\n")

        tasks.start_soon(read)
        tasks.start_soon(write)
        yield incoming, outgoing
        tasks.cancel_scope.cancel()
    for one in (to_client, incoming, outgoing, from_client):
        one.close()


@asynccontextmanager
async def agent(
    stack: StackFile, root: Path, *, mode: str = "auto", session_id: str | None = None
) -> AsyncIterator[Client]:
    """Connect an agent that was started for `root`."""
    async with Client(socket_transport(stack, root, session_id), mode=mode, raise_exceptions=True) as client:
        yield client


def text_of(result: types.CallToolResult) -> str:
    """Give the one text block."""
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text
