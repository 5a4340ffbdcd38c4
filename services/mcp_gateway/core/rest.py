"""The operations of `/api/v1` (pure): adding one is adding a row here and a handler of that name in `rest.py`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

from msgspec import Struct

from services.mcp_gateway.core import rest_answers as gives
from services.mcp_gateway.core import rest_inputs as takes
from services.mcp_gateway.core.text import shown_params
from shared.access import Scope
from shared.errors import ErrorCode, KxError, fill

PREFIX = "/api/v1"
OPENAPI_PATH = f"{PREFIX}/openapi.json"
RUNTIME_DISABLED = "knowledge_runtime_disabled"  # the code programs know from the original

Method = Literal["GET", "POST", "PATCH"]
BodyKind = Literal["none", "json", "file"]

STATUS_OF: Mapping[ErrorCode, int] = {
    ErrorCode.BAD_REQUEST: 422,
    ErrorCode.PATH_DENIED: 422,
    ErrorCode.TOOL_FORBIDDEN: 403,
    ErrorCode.KNOWLEDGE_FORBIDDEN: 403,
    ErrorCode.KNOWLEDGE_UNKNOWN: 404,
    ErrorCode.KNOWLEDGE_CONFLICT: 409,
    ErrorCode.KNOWLEDGE_EXISTS: 409,
    ErrorCode.CONTENT_TOO_LARGE: 413,
    ErrorCode.MESSAGE_TOO_LARGE: 413,
    ErrorCode.KNOWLEDGE_DISABLED: 503,
    ErrorCode.BUS_UNAVAILABLE: 503,
    ErrorCode.SERVICE_UNAVAILABLE: 503,
    ErrorCode.TIMEOUT: 503,
    ErrorCode.INDEX_BUSY: 503,
    ErrorCode.KNOWLEDGE_DAMAGED: 503,
    ErrorCode.EXTRACTION_MISSING: 503,  # the program did nothing wrong: this machine lacks the extra
    ErrorCode.DISK_FULL: 507,
}
FAILURES: Mapping[int, str] = {
    400: "The body is no JSON, or the request is malformed.",
    401: "A valid token is required.",
    403: "The token's scope or the role does not allow it.",
    404: "There is no such thing for this caller; unknown and forbidden are one answer.",
    409: "It is there already, or another revision is current.",
    408: "The body did not come in time.",
    413: "Larger than the limits say.",
    415: "Another kind of body is needed.",
    422: "A value cannot be used; the message names it.",
    429: "Too many requests; Retry-After says when to come again.",
    503: f"Not available now; {RUNTIME_DISABLED} where knowledge is switched off.",
    507: "The disk is full.",
}


_DOOR_CODES: Mapping[int, str] = {
    400: "malformed",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    413: "too_large",
    415: "unsupported_media_type",
    429: "too_many_requests",
    500: "internal",
    503: "unavailable",
}


class Operation(Struct, frozen=True, kw_only=True):
    """One row."""

    name: str  # also of its handler
    method: Method
    path: str  # below PREFIX; {item} is one component
    summary: str
    scope: Scope
    gives: type[Struct]
    query: type[Struct] = takes.NoQuery
    body: type[Struct] = takes.NoBody
    body_kind: BodyKind = "none"
    status: int = 200


def _moving(name: str, summary: str) -> Operation:
    return Operation(
        name=f"item_{name}",
        method="POST",
        path=f"/knowledge/items/{{item}}:{name}",
        summary=summary,
        scope="knowledge:write",
        gives=gives.ItemKept,
    )


OPERATIONS = (
    Operation(
        name="knowledge_search",
        method="POST",
        path="/knowledge/search",
        summary="Search the published current revisions of active bases",
        scope="knowledge:read",
        body=takes.SearchBody,
        body_kind="json",
        gives=gives.SearchFound,
    ),
    Operation(
        name="limits",
        method="GET",
        path="/knowledge/limits",
        summary="Tell how large what may be",
        scope="knowledge:read",
        gives=gives.Limits,
    ),
    Operation(
        name="spaces",
        method="GET",
        path="/knowledge/spaces",
        summary="List the caller's spaces",
        scope="knowledge:read",
        gives=gives.SpacesFound,
    ),
    Operation(
        name="bases",
        method="GET",
        path="/knowledge/bases",
        summary="List bases",
        scope="knowledge:read",
        query=takes.BasesQuery,
        gives=gives.BasesFound,
    ),
    Operation(
        name="base_create",
        method="POST",
        path="/knowledge/bases",
        summary="Found a base",
        scope="knowledge:write",
        body=takes.BaseBody,
        body_kind="json",
        gives=gives.BaseKept,
        status=201,
    ),
    Operation(
        name="items",
        method="GET",
        path="/knowledge/items",
        summary="List items; drafts only for who may read them",
        scope="knowledge:read",
        query=takes.ItemsQuery,
        gives=gives.ItemsFound,
    ),
    Operation(
        name="item_create",
        method="POST",
        path="/knowledge/items",
        summary="Write an item",
        scope="knowledge:write",
        body=takes.ItemBody,
        body_kind="json",
        gives=gives.ItemKept,
        status=201,
    ),
    Operation(
        name="item_import",
        method="POST",
        path="/knowledge/items:import",
        summary="Make an item, or its next revision, of a file",
        scope="knowledge:write",
        query=takes.ImportQuery,
        body_kind="file",
        gives=gives.ItemKept,
    ),
    Operation(
        name="item_read",
        method="GET",
        path="/knowledge/items/{item}",
        summary="Read the current or a pinned revision",
        scope="knowledge:read",
        query=takes.ReadQuery,
        gives=gives.RevisionRead,
    ),
    Operation(
        name="item_edit",
        method="PATCH",
        path="/knowledge/items/{item}",
        summary="Change an item; a changed content is a new revision",
        scope="knowledge:write",
        body=takes.ItemPatch,
        body_kind="json",
        gives=gives.ItemKept,
    ),
    _moving("publish", "Make the current revision findable"),
    _moving("archive", "Hide an item at once"),
    _moving("restore", "Bring an item back as it was"),
    Operation(
        name="revisions",
        method="GET",
        path="/knowledge/items/{item}/revisions",
        summary="List an item's revisions, the newest first",
        scope="knowledge:read",
        query=takes.RevisionsQuery,
        gives=gives.RevisionsFound,
    ),
)
BY_NAME = {operation.name: operation for operation in OPERATIONS}


class Matched(Struct, frozen=True):
    """An operation, and what its path names."""

    operation: Operation
    item: str = ""


def operation_at(method: str, path: str) -> Matched | tuple[str, ...]:
    """Find what is asked for; else the methods that path knows, none where there is no such path.

    >>> operation_at("POST", "/api/v1/knowledge/items/itm_1:publish").operation.name
    'item_publish'
    >>> operation_at("DELETE", "/api/v1/knowledge/limits"), operation_at("GET", "/api/v1/knowledge")
    (('GET',), ())
    """
    methods = list[str]()
    for operation in OPERATIONS:
        found = _pattern(operation.path).fullmatch(path.removeprefix(PREFIX))
        if found is None:
            continue
        if operation.method == method:
            return Matched(operation, found.groupdict().get("item", ""))
        methods.append(operation.method)
    return tuple(methods)


@cache
def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.escape(template).replace(r"\{item\}", r"(?P<item>[^/:]+)"))


def refused(methods: tuple[str, ...]) -> tuple[int, gives.Failed, tuple[tuple[str, str], ...]]:
    """Give the answer to a path that is not there, or does not know the method."""
    if not methods:
        return 404, door_failure(404, f"there is nothing here; what there is is told at {OPENAPI_PATH}"), ()
    allowed = ", ".join(methods)
    return 405, door_failure(405, f"only {allowed} is served here"), (("allow", allowed),)


def door_failure(status: int, message: str) -> gives.Failed:
    """Give the body of a refusal that is no error of kx: of the door, or of the form of a request."""
    return gives.Failed(error=gives.Problem(code=_DOOR_CODES.get(status, "refused"), message=message))


def failed(error: KxError) -> tuple[int, gives.Failed]:
    """Give the status and the body of an error."""
    code = RUNTIME_DISABLED if error.code is ErrorCode.KNOWLEDGE_DISABLED else error.code.value
    params = shown_params(error)
    problem = gives.Problem(code=code, message=fill(error.message, params), hint=fill(error.hint, params))
    return STATUS_OF.get(error.code, 500), gives.Failed(error=problem)
