"""HTTP of a gateway: the door in process, requests by hand, answers read back."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
from msgspec import Struct

from services.mcp_gateway.adapters.callers import TokenProjects
from services.mcp_gateway.adapters.http_door import Clocks, HttpDoor
from services.mcp_gateway.adapters.mcp_http import session_manager
from services.mcp_gateway.adapters.mcp_server import make_server
from services.mcp_gateway.adapters.rest_app import RestApp, branches
from services.mcp_gateway.calls import Calls
from services.mcp_gateway.core.pace import Pace
from services.mcp_gateway.core.web import Site
from services.mcp_gateway.rest import Rest
from shared.access import AccessToken, Profile, Scope
from shared.access_tokens import AccessTokens
from shared.bus import Bus
from shared.project_config import load_project_config
from shared.registry import Registry
from shared.settings import Settings

PORT = 5959
HOST = f"127.0.0.1:{PORT}"
MODERN = "2026-07-28"
UNLIMITED = 1e9
Headers = list[tuple[str, str]]


class Answered(Struct, frozen=True):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """Parse the body, or the last event of it."""
        text = self.body.decode()
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            text = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")][-1]
        return msgspec.json.decode(text)


def make_token(
    settings: Settings,
    *roots: Path,
    scopes: Sequence[Scope] = ("admin",),
    profile: Profile = "ordinary-full",
    expires_s: int | None = None,
    principal: str = "",
) -> str:
    """Make a token for projects, which are registered."""
    registry = Registry(settings)
    instances = [registry.enrol(root, load_project_config(root, settings)).instance for root in roots]
    wanted = AccessToken(
        id="",
        name="",
        principal=principal,
        scopes=tuple(scopes),
        instances=tuple(instances),
        profile=profile,
        created_s=int(time.time()),
        expires_s=expires_s,
    )
    return AccessTokens(settings.home).create(wanted)[1]


@asynccontextmanager
async def http_door(
    bus: Bus,
    settings: Settings,
    *,
    rate: float = UNLIMITED,
    burst: float = UNLIMITED,
    is_open: bool = False,
    port: int = PORT,
    tick_s: Callable[[], float] = time.monotonic,
) -> AsyncIterator[HttpDoor]:
    """Give the door with everything behind it."""
    tokens = AccessTokens(settings.home)
    async with anyio.create_task_group() as tasks:
        manager = session_manager(make_server(Calls(bus, tasks).call))
        async with manager.run():
            yield HttpDoor(
                branches(manager.handle_request, RestApp(Rest(bus, settings))),
                Site(port=port, is_open=is_open),
                tokens,
                TokenProjects(settings),
                Clocks(now_s=time.time, tick_s=tick_s),
                pace=Pace(rate=rate, burst=burst),
            )
        tasks.cancel_scope.cancel()
    tokens.close()


def modern(method: str, params: dict[str, Any] | None = None, *, request: int | str = 1) -> dict[str, Any]:
    """Write a request that is whole in itself."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {"jsonrpc": "2.0", "id": request, "method": method, "params": {"_meta": meta} | (params or {})}


def headers_of(token: str, message: dict[str, Any]) -> Headers:
    """Give the headers that say what a message says."""
    name = message["params"].get("name")
    return [
        ("Host", HOST),
        ("Authorization", f"Bearer {token}"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", MODERN),
        ("Mcp-Method", message["method"]),
        *([("Mcp-Name", name)] if name else []),
    ]


async def ask(
    door: HttpDoor,
    headers: Headers,
    body: bytes | Sequence[bytes],
    *,
    method: str = "POST",
    path: str = "/mcp",
    query: str = "",
) -> Answered:
    """Make one request and wait for its whole answer."""
    parts = [body] if isinstance(body, bytes) else list(body)
    left = [
        {"type": "http.request", "body": part, "more_body": number < len(parts)}
        for number, part in enumerate(parts, start=1)
    ]
    sent: list[dict[str, Any]] = []
    ended = anyio.Event()

    async def receive() -> Any:
        if left:
            return left.pop(0)
        await ended.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers],
        "client": ("127.0.0.1", 40_000),
        "server": ("127.0.0.1", PORT),
    }
    with anyio.fail_after(20):
        await door(scope, receive, send)
    ended.set()
    start = sent[0]
    return Answered(
        status=start["status"],
        headers={name.decode().lower(): value.decode("latin-1") for name, value in start["headers"]},
        body=b"".join(message.get("body", b"") for message in sent[1:]),
    )


async def call(door: HttpDoor, token: str, tool: str, arguments: dict[str, Any]) -> Any:
    """Call a tool; give its result."""
    message = modern("tools/call", {"name": tool, "arguments": arguments})
    answered = await ask(door, headers_of(token, message), msgspec.json.encode(message))
    assert answered.status == 200, answered
    return answered.json()["result"]


async def tools_of(door: HttpDoor, token: str) -> list[str]:
    """List the tools a token is shown."""
    message = modern("tools/list")
    answered = await ask(door, headers_of(token, message), msgspec.json.encode(message))
    return [tool["name"] for tool in answered.json()["result"]["tools"]]
