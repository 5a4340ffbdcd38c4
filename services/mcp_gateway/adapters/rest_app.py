"""`/api/v1` as an ASGI application: a request that the door has let in is read, carried out and answered as JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from importlib.metadata import version
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl

import msgspec
import structlog
from msgspec import Struct
from python_multipart.exceptions import FormParserError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from structlog.typing import FilteringBoundLogger

from services.mcp_gateway.adapters.callers import CALLER, TokenCaller
from services.mcp_gateway.core.api_door import is_api
from services.mcp_gateway.core.openapi import document
from services.mcp_gateway.core.permits import Permit
from services.mcp_gateway.core.rest import OPENAPI_PATH, Matched, Operation, door_failure, failed, operation_at, refused
from services.mcp_gateway.recall import caller_of, covers
from services.mcp_gateway.rest import HANDLERS, Rest, RestCall
from shared import logs
from shared.errors import ErrorCode, KxError

S = TypeVar("S", bound=Struct)

Message = MutableMapping[str, Any]  # as ASGI carries them
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

CLIENT = "rest"
MAX_FIELDS = 20
_UNREADABLE_FORM = (HTTPException, MultiPartException, FormParserError, LookupError, ValueError, AssertionError)
_JSON = "application/json"

_log: FilteringBoundLogger = structlog.get_logger()


def branches(mcp: App, api: App) -> App:
    """Serve two applications behind one door, by path."""

    async def serve(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        await (api if is_api(scope["path"]) else mcp)(scope, receive, send)

    return serve


class RestApp:
    """Serves what is below `/api/v1`."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request; its caller is in the scope."""
        method, path = scope["method"], scope["path"]
        if path == OPENAPI_PATH and method == "GET":
            await _send(send, 200, document(version("kx")))
            return
        found = operation_at(method, path)
        if not isinstance(found, Matched):
            status, answer, headers = refused(found)
            await _send(send, status, msgspec.json.encode(answer), headers)
            return
        await _send(send, *await self._answered(found, scope, receive))

    async def _answered(self, found: Matched, scope: MutableMapping[str, Any], receive: Receive) -> tuple[int, bytes]:
        caller: TokenCaller = scope[CALLER]
        try:
            _check(caller.permit, found.operation)
            asked, data = await _read(found.operation, scope, receive)
            call = RestCall(caller=caller_of(caller.permit, CLIENT), asked=asked, item=found.item, data=data)
            answer: Struct = await HANDLERS[found.operation.name](self._rest, call)
        except _MalformedError as error:
            return 400, msgspec.json.encode(door_failure(400, str(error)))
        except KxError as error:
            status, refusal = failed(error)
            return status, msgspec.json.encode(refusal)
        except Exception as failure:  # noqa: BLE001 - the edge: a program gets a sentence, the log the place
            _log.error("request.failed", operation=found.operation.name, **logs.error_fields(failure))
            internal = KxError(ErrorCode.INTERNAL, "the request failed unexpectedly", hint="the log names the place")
            return 500, msgspec.json.encode(failed(internal)[1])
        return found.operation.status, msgspec.json.encode(answer)


class _MalformedError(Exception):
    pass


def _check(permit: Permit, operation: Operation) -> None:
    """Refuse before anything is read; what the role allows is the service's to say."""
    if covers(permit, operation.scope):
        return
    raise KxError(
        ErrorCode.TOOL_FORBIDDEN,
        "this token does not allow {operation}",
        hint="use a token with its scope: kx token create --scope {scope}",
        operation=operation.name,
        scope=operation.scope,
    )


async def _read(operation: Operation, scope: MutableMapping[str, Any], receive: Receive) -> tuple[Struct, bytes]:
    """Read query and body; the value is what is asked, and the bytes of a file."""
    query = _query(scope["query_string"])
    if operation.body_kind == "file":
        fields, data = await _file(scope, receive)
        return _converted({**query, **fields}, operation.query, is_text=True), data
    asked = _converted(query, operation.query, is_text=True)
    if operation.body_kind == "none":
        return asked, b""
    try:
        return _converted(_whole(msgspec.json.decode(await _body(receive))), operation.body), b""
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise _MalformedError("the body is no JSON") from error


def _query(raw: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise _MalformedError("the query of the address cannot be read") from error
    return _once(pairs)


def _once(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Refuse a name that is there twice: which of the two was meant nobody knows."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _MalformedError("a parameter is there more than once")
    return found


def _whole(body: object) -> object:
    """Write 10.0 as 10: to JSON they are one number."""
    if not isinstance(body, dict):
        return body
    told = cast("dict[str, object]", body)
    return {name: int(one) if isinstance(one, float) and one.is_integer() else one for name, one in told.items()}


async def _file(scope: MutableMapping[str, Any], receive: Receive) -> tuple[dict[str, str], bytes]:
    """Read an upload: the body itself, or the part `file` of a form, whose other parts are what a query says otherwise."""
    request = Request(scope, receive)
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        return {}, await _body(receive)
    try:
        async with request.form(max_files=1, max_fields=MAX_FIELDS) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile):
                raise _MalformedError("the form has no part named file")
            fields = _once([(name, text) for name, text in form.multi_items() if isinstance(text, str)])
            return {"file_name": file.filename or "", **fields}, await file.read()
    except _UNREADABLE_FORM as error:
        raise _MalformedError("the form cannot be read") from error


def _converted(raw: object, kind: type[S], *, is_text: bool = False) -> S:
    try:
        asked = msgspec.convert(raw, kind, strict=not is_text)
    except (msgspec.ValidationError, OverflowError, UnicodeError) as error:
        raise _unusable(str(error)) from error
    if is_text and isinstance(raw, dict):
        for name in raw:
            if getattr(asked, name) is None:  # msgspec reads the word "null" so; an address has only texts
                raise _unusable(f"Invalid value 'null' - at `$.{name}`")
    return asked


def _unusable(problem: str) -> KxError:
    return KxError(
        ErrorCode.BAD_REQUEST,
        "the request cannot be used: {problem}",
        hint="its form is told at /api/v1/openapi.json",
        problem=problem,
    )


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)


async def _send(send: Send, status: int, body: bytes, headers: tuple[tuple[str, str], ...] = ()) -> None:
    told = [("content-type", _JSON), ("content-length", str(len(body))), *headers]
    raw = [(name.encode(), value.encode()) for name, value in told]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
