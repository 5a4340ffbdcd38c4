"""When HTTP is open, and where: `run/http.json` says so while it is.

Off until it is asked for or there is a token; beyond loopback never without a token.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import msgspec
import structlog
from anyio import to_thread
from msgspec import Struct
from structlog.typing import FilteringBoundLogger

from services.mcp_gateway.adapters.callers import TokenProjects
from services.mcp_gateway.core.pace import Pace
from services.mcp_gateway.core.web import PATH, Site, may_open
from services.mcp_gateway.rest import Rest
from shared.access_tokens import AccessTokens
from shared.atomic_file import write_atomic
from shared.errors import KxError
from shared.settings import Settings

if TYPE_CHECKING:
    from services.mcp_gateway.adapters.mcp_server import ToolServer

FILE_NAME = "http.json"
LOOK_S = 2.0  # until a first token, or a port that became free, is noticed
_LOOPBACK = "127.0.0.1"

_log: FilteringBoundLogger = structlog.get_logger()


class HttpFile(Struct, frozen=True, kw_only=True):
    """Where HTTP can be reached."""

    pid: int
    url: str


async def keep_open(server: ToolServer, rest: Rest, settings: Settings, pace: Pace) -> None:
    """Serve HTTP as the settings say, until cancelled; `pace` learns who asks."""
    if settings.http == "off":
        return
    tokens = AccessTokens(settings.home)
    try:
        await _until_wanted(tokens, settings)
        async with _opened(server, rest, tokens, settings, pace):
            await anyio.sleep_forever()
    finally:
        tokens.close()


async def _until_wanted(tokens: AccessTokens, settings: Settings) -> None:
    is_open = settings.http_host != _LOOPBACK
    while True:
        has_token = await to_thread.run_sync(_has_valid, tokens)
        if may_open(mode=settings.http, is_open=is_open, has_token=has_token):
            return
        await anyio.sleep(LOOK_S)


def _has_valid(tokens: AccessTokens) -> bool:
    try:
        return tokens.has_valid(time.time())
    except KxError:
        return False  # a file that cannot be read lets nobody in


@asynccontextmanager
async def _opened(
    server: ToolServer, rest: Rest, tokens: AccessTokens, settings: Settings, pace: Pace
) -> AsyncIterator[None]:
    # Over 0.1 s of imports, paid only where HTTP is used.
    from services.mcp_gateway.adapters.http_door import Clocks, HttpDoor
    from services.mcp_gateway.adapters.http_listener import bound, serving
    from services.mcp_gateway.adapters.mcp_http import session_manager
    from services.mcp_gateway.adapters.rest_app import RestApp, branches

    manager = session_manager(server)
    clocks = Clocks(now_s=time.time, tick_s=time.monotonic)
    listener = None
    while listener is None:
        try:
            listener = bound(settings.http_host, settings.http_port)
        except OSError as error:
            _log.warning("http.not_opened", port=settings.http_port, reason=error.strerror)
            await anyio.sleep(LOOK_S * 5)
    port = listener.getsockname()[1]
    site = Site(port=port, is_open=settings.http_host != _LOOPBACK)
    door = HttpDoor(
        branches(manager.handle_request, RestApp(rest)), site, tokens, TokenProjects(settings), clocks, pace=pace
    )
    path = settings.run_dir / FILE_NAME
    async with manager.run(), serving(door, listener):
        await to_thread.run_sync(_announce, path, f"http://{_LOOPBACK}:{port}{PATH}")
        _log.info("http.opened", host=settings.http_host, port=port)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _announce(path: Path, url: str) -> None:
    write_atomic(path, msgspec.json.encode(HttpFile(pid=os.getpid(), url=url)))
