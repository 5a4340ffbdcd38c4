"""Connections of HTTP: there are few, and anybody on the machine can open one."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

from services.mcp_gateway.adapters import http_listener
from services.mcp_gateway.adapters.http_listener import bound, serving

pytestmark = pytest.mark.anyio

DEADLINE_S = 30.0
WHOLE = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


class Answering:
    """An application that answers when it may."""

    def __init__(self) -> None:
        self.may_answer = anyio.Event()

    async def __call__(self, _: Any, __: Any, send: Any) -> None:
        """Answer with nothing."""
        await self.may_answer.wait()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def connections(app: Answering) -> AsyncIterator[Any]:
    listener = bound("127.0.0.1", 0)
    port = listener.getsockname()[1]
    async with serving(app, listener):
        with anyio.fail_after(DEADLINE_S):
            yield lambda: anyio.connect_tcp("127.0.0.1", port)


async def read_to_the_end(stream: SocketStream) -> bytes:
    data = b""
    try:
        while True:
            data += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return data


@pytest.mark.parametrize("said", [b"", WHOLE[:-2], WHOLE + WHOLE[:-2]], ids=["nothing", "half", "one and a half"])
async def test_who_asks_nothing_whole_is_not_waited_for(said, monkeypatch):
    """Issue 7: nobody without a token keeps the others out by connections alone."""
    monkeypatch.setattr(http_listener, "IDLE_S", 0.05)
    app = Answering()
    app.may_answer.set()
    async with connections(app) as connect, await connect() as stream:
        await stream.send(said)
        assert (await read_to_the_end(stream)).count(b"HTTP/1.1 204") == said.count(b"\r\n\r\n")


async def test_who_waits_for_an_answer_gets_it_however_long_it_takes(monkeypatch):
    """A walk takes longer than a connection may be idle."""
    monkeypatch.setattr(http_listener, "IDLE_S", 0.05)
    app = Answering()
    async with connections(app) as connect, await connect() as asking:
        await asking.send(WHOLE)
        async with await connect() as idle:  # opened later, and closed before
            await read_to_the_end(idle)
        app.may_answer.set()
        assert (await read_to_the_end(asking)).startswith(b"HTTP/1.1 204")


async def test_an_answer_does_not_wait_for_its_head_to_be_acknowledged(monkeypatch):
    """Every answer but the first of a connection was 40 ms late; it is sent in two parts."""
    sent_at_once: list[int] = []
    made = http_listener._Connection.connection_made

    def noted(self: Any, transport: Any) -> None:
        made(self, transport)
        sent_at_once.append(transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(http_listener._Connection, "connection_made", noted)
    app = Answering()
    app.may_answer.set()
    async with connections(app) as connect, await connect() as stream:
        await stream.send(WHOLE)
        await stream.receive()
    assert sent_at_once
    assert all(sent_at_once)
