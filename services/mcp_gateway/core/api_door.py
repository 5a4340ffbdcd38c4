"""What is refused of a request to `/api/v1` before it is read (pure); from where and by whom is checked as for MCP."""

from __future__ import annotations

import msgspec

from services.mcp_gateway.core.rest import OPENAPI_PATH, PREFIX, Matched, door_failure, operation_at
from services.mcp_gateway.core.web import Head, Refusal, too_long

MAX_JSON_BYTES = 24 * 1024 * 1024  # a text of the largest size with every second character escaped
MAX_FILE_BYTES = 32 * 1024 * 1024 + 64 * 1024  # the largest document, and the parts of a form around it
_JSON = "application/json"
_FILES = ("application/octet-stream", "multipart/form-data")


def is_api(path: str) -> bool:
    """Tell whether a path is served here rather than by MCP."""
    return path == PREFIX or path.startswith(PREFIX + "/")


def max_api_bytes(head: Head) -> int:
    """Give how much of a body is read."""
    found = operation_at(head.method, head.path)
    is_file = isinstance(found, Matched) and found.operation.body_kind == "file"
    return MAX_FILE_BYTES if is_file else MAX_JSON_BYTES


def refused_api_kind(head: Head) -> Refusal | None:
    """Check the kind and the size of a body; what is not there at all is told by who serves it."""
    if head.all("content-encoding"):
        return Refusal(status=415, message="a compressed body is not read")
    length = head.one("content-length")
    limit = max_api_bytes(head)
    if length is not None and length.isdecimal() and int(length) > limit:
        return too_long(limit)
    found = operation_at(head.method, head.path)
    if not isinstance(found, Matched) or found.operation.body_kind == "none" or head.path == OPENAPI_PATH:
        return None
    kind = (head.one("content-type") or "").partition(";")[0].strip().lower()
    allowed = (_JSON,) if found.operation.body_kind == "json" else _FILES
    if kind not in allowed:
        return Refusal(status=415, message=f"the body must be {' or '.join(allowed)}")
    return None


def api_refusal(refusal: Refusal) -> bytes:
    """Write a refusal in the form of this interface."""
    return msgspec.json.encode(door_failure(refusal.status, refusal.message))
