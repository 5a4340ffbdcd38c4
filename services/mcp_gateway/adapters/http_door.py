"""The door of HTTP: what a request may not be, who it comes from, how much of it is read; then the MCP library serves it.

Every refusal is a JSON-RPC error under its HTTP status, below `/api/v1` an error of that interface, and grants nothing to a page of another origin. Tokens are in
no log and no answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack
from typing import Any

import anyio
import msgspec
import structlog
from anyio import to_thread
from structlog.typing import FilteringBoundLogger

from services.mcp_gateway.adapters.callers import CALLER, TokenCaller, TokenProjects
from services.mcp_gateway.adapters.turns import Turns
from services.mcp_gateway.core.api_door import api_refusal, is_api, max_api_bytes, refused_api_kind
from services.mcp_gateway.core.pace import Pace
from services.mcp_gateway.core.permits import Permit
from services.mcp_gateway.core.rest import Matched, operation_at
from services.mcp_gateway.core.web import (
    MAX_BODY_BYTES,
    TOO_SLOW,
    UNAUTHORISED,
    UNREADABLE,
    Head,
    Refusal,
    Site,
    bearer,
    may_be_large,
    refused_body,
    refused_kind,
    refused_place,
    too_fast,
    too_long,
)
from services.mcp_gateway.recall import covers
from shared import logs
from shared.access import AccessToken
from shared.access_tokens import AccessTokens
from shared.errors import KxError

INVALID_REQUEST = -32600  # of JSON-RPC
TELL_S = 0.04  # between two refusals of a token: at a thousand a second, refusing was most of what we did
BODY_S = 30.0  # for a whole body, which waits in memory
LARGE_AT_ONCE = 2  # bodies beyond what MCP takes: each may be fifty megabytes
MAX_HELD = 128  # of them wait, half of all connections; beyond, they are told at once

Message = MutableMapping[str, Any]  # as ASGI carries them
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_log: FilteringBoundLogger = structlog.get_logger()


class Clocks(msgspec.Struct, frozen=True, kw_only=True):
    """Where the times come from."""

    now_s: Callable[[], float]  # Unix time
    tick_s: Callable[[], float]  # never goes back


class HttpDoor:
    """An ASGI application before another one."""

    def __init__(
        self, inner: App, site: Site, tokens: AccessTokens, projects: TokenProjects, clocks: Clocks, *, pace: Pace
    ) -> None:
        self._inner = inner
        self._site = site
        self._tokens = tokens
        self._projects = projects
        self._clocks = clocks
        self._pace = pace
        self._turns = Turns()
        self._large = anyio.CapacityLimiter(LARGE_AT_ONCE)
        self._held: Counter[str] = Counter()  # refusals that wait to be told, by token

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Refuse, or let in with the caller in the scope."""
        sending = _Sending(send)
        try:
            refusal = await self._serve(scope, receive, sending)
        except Exception as failure:  # noqa: BLE001 - the edge: the other connections go on
            _log.error("request.failed", **logs.error_fields(failure))
            refusal = Refusal(status=500, message="the request failed unexpectedly")
        if refusal is not None and not sending.has_begun:
            await _refuse(refusal, sending, for_api=is_api(scope["path"]))

    async def _serve(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> Refusal | None:
        head = _head(scope)
        refusal = refused_place(head, self._site)
        if refusal is not None:
            return refusal
        token = await self._holder(head)
        if not isinstance(token, AccessToken):
            return token
        for_api = is_api(head.path)
        refusal = await self._too_fast(token) or (refused_api_kind(head) if for_api else refused_kind(head))
        if refusal is not None:
            return refusal
        caller = TokenCaller(token, self._projects)
        body = b"" if _is_beyond(caller.permit, head) else await self._whole_body(head, receive)
        if not isinstance(body, bytes):
            return body
        refusal = None if for_api else _refused_body(head, body)
        if refusal is not None:
            return refusal
        async with self._turns.of(token.id):
            await self._inner({**scope, CALLER: caller}, _replay(body, receive), send)
        return None

    async def _holder(self, head: Head) -> AccessToken | Refusal:
        presented = bearer(head)
        if presented is None:
            return UNAUTHORISED
        try:
            token = await to_thread.run_sync(self._tokens.holder, presented, self._clocks.now_s())
        except KxError as error:
            _log.warning("token.not_checked", error_code=error.code.value)
            return Refusal(status=503, message="tokens cannot be checked; see: kx token list")
        return token or UNAUTHORISED

    async def _whole_body(self, head: Head, receive: Receive) -> bytes | Refusal | None:
        """Read the body within its limits of size and time; None when the client has gone."""
        limit = max_api_bytes(head) if is_api(head.path) else MAX_BODY_BYTES
        async with AsyncExitStack() as entered:
            if limit > MAX_BODY_BYTES and may_be_large(head):
                await entered.enter_async_context(self._large)
            with anyio.move_on_after(BODY_S):
                return await _body(receive, limit)
        return TOO_SLOW

    async def _too_fast(self, token: AccessToken) -> Refusal | None:
        """Refuse a call beyond the token's pace, each in its time: its connection asks nothing more meanwhile."""
        wait_s = self._pace.wait_s(token.id, self._clocks.tick_s())
        if not wait_s:
            return None
        if self._held[token.id] < MAX_HELD:
            self._held[token.id] += 1
            try:
                await anyio.sleep(self._held[token.id] * TELL_S)
            finally:
                self._held -= Counter((token.id,))  # forgets who has none
        return too_fast(wait_s)


class _Sending:
    """Remembers whether an answer has begun, after which there is no other."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        self.has_begun = True
        await self._send(message)


def _head(scope: MutableMapping[str, Any]) -> Head:
    return Head(
        method=scope["method"],
        path=scope["path"],
        headers=tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]),
    )


async def _body(receive: Receive, limit: int) -> bytes | Refusal | None:
    """Read the body up to the limit; None when the client has gone."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > limit:
            return too_long(limit)
        if not message.get("more_body", False):
            return bytes(body)


def _refused_body(head: Head, body: bytes) -> Refusal | None:
    try:
        return refused_body(head, msgspec.json.decode(body))
    except (msgspec.DecodeError, RecursionError, ValueError):
        return UNREADABLE


def _is_beyond(permit: Permit, head: Head) -> bool:
    """Tell whether `/api/v1` will refuse what the token does not allow: nobody waits for fifty megabytes of it first."""
    found = operation_at(head.method, head.path) if is_api(head.path) else ()
    return isinstance(found, Matched) and not covers(permit, found.operation.scope)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Give the body that was read, then whatever comes: that the client has gone."""
    left = [body]

    async def next_message() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return next_message


async def _refuse(refusal: Refusal, send: Send, *, for_api: bool) -> None:
    error = {"code": INVALID_REQUEST, "message": refusal.message}
    body = api_refusal(refusal) if for_api else msgspec.json.encode({"jsonrpc": "2.0", "id": None, "error": error})
    headers = [("content-type", "application/json"), ("content-length", str(len(body))), *refusal.headers]
    raw = [(name.encode(), value.encode()) for name, value in headers]
    await send({"type": "http.response.start", "status": refusal.status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
