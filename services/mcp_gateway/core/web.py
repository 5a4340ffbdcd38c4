"""What is refused of an HTTP request before anything is done with it (pure).

In this order: from where (Host, Origin), by whom (the token, looked up elsewhere), what (path, method, kind of body),
and whether the headers say what the body says. No answer grants anything to a page of another origin.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
from collections.abc import Mapping
from typing import cast

from msgspec import Struct

MAX_BODY_BYTES = 4 * 1024 * 1024  # as a line on the local socket
PATH = "/mcp"
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_DEFAULT_PORT = 80
_JSON = "application/json"

VERSION, METHOD, NAME = "mcp-protocol-version", "mcp-method", "mcp-name"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"  # in params._meta, where each request says its version
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_ENCODED = ("=?base64?", "?=")  # around a header's value that is not plain ASCII


class Site(Struct, frozen=True, kw_only=True):
    """Where we listen."""

    port: int
    is_open: bool = False  # beyond loopback


def may_open(*, mode: str, is_open: bool, has_token: bool) -> bool:
    """Tell whether to listen: `auto` waits for a token, and so does everything beyond loopback."""
    if mode == "off":
        return False
    return has_token or (mode == "on" and not is_open)


class Head(Struct, frozen=True, kw_only=True):
    """A request without its body."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]  # names in lower case

    def all(self, name: str) -> list[str]:
        """Give every value of a header, in order."""
        return [value for known, value in self.headers if known == name]

    def one(self, name: str) -> str | None:
        """Give a header's value; None when there is none, or more than one."""
        found = self.all(name)
        return found[0] if len(found) == 1 else None


class Refusal(Struct, frozen=True, kw_only=True):
    """A request that is not served."""

    status: int
    message: str
    headers: tuple[tuple[str, str], ...] = ()


UNAUTHORISED = Refusal(
    status=401,
    message="a valid token is required: Authorization: Bearer TOKEN; make one with: kx token create",
    headers=(("www-authenticate", "Bearer"),),
)
TOO_SLOW = Refusal(status=408, message="the body did not come in time", headers=(("connection", "close"),))
UNREADABLE = Refusal(status=400, message="the body is no JSON object")


def too_long(limit: int) -> Refusal:
    """Refuse a body beyond `limit` bytes."""
    return Refusal(status=413, message=f"the request is longer than {limit // 1_048_576} MiB")


def too_fast(wait_s: int) -> Refusal:
    """Refuse a caller that asks too much, and say when to come again."""
    return Refusal(status=429, message="too many requests", headers=(("retry-after", str(wait_s)),))


def refused_place(head: Head, site: Site) -> Refusal | None:
    """Check from where a request comes: a page of another origin must not reach us, by its own name or by ours."""
    host = head.one("host")
    if host is None:
        return Refusal(status=400, message="exactly one Host header is required")
    if not _is_our_host(host, site):
        return Refusal(status=403, message="this Host is not served here")
    origins = head.all("origin")
    if len(origins) > 1 or any(not _is_our_origin(origin, site) for origin in origins):
        return Refusal(status=403, message="this Origin is not served here")
    return None


def refused_kind(head: Head) -> Refusal | None:
    """Check what is asked for: one path, one method, one kind of body."""
    if head.path != PATH:
        return Refusal(status=404, message="there is nothing here; the paths are /mcp and /api/v1/knowledge")
    if head.method != "POST":
        return Refusal(status=405, message="only POST is served here", headers=(("allow", "POST"),))
    if (head.one("content-type") or "").partition(";")[0].strip().lower() != _JSON:
        return Refusal(status=415, message="the body must be application/json")
    if head.all("content-encoding"):
        return Refusal(status=415, message="a compressed body is not read")
    length = head.one("content-length")
    if length is not None and length.isdecimal() and int(length) > MAX_BODY_BYTES:
        return too_long(MAX_BODY_BYTES)
    return None


def may_be_large(head: Head) -> bool:
    """Tell whether the body may be longer than what MCP takes; one whose length is not told may be."""
    length = head.one("content-length")
    if length is None:
        return bool(head.all("transfer-encoding"))
    return not length.isdecimal() or int(length) > MAX_BODY_BYTES


def bearer(head: Head) -> str | None:
    """Give the token a request presents, in the one place for it: never in the address, which others log.

    >>> bearer(Head(method="POST", path="/mcp", headers=(("authorization", "bearer kx_1"),)))
    'kx_1'
    """
    scheme, _, token = (head.one("authorization") or "").partition(" ")
    return token if scheme.lower() == "bearer" and token else None


def refused_body(head: Head, body: object) -> Refusal | None:
    """Check that the headers say what the body says: who looks only at headers must not be told something else."""
    if not isinstance(body, dict):
        return UNREADABLE
    message = cast("Mapping[str, object]", body)
    params = message.get("params")
    params = cast("Mapping[str, object]", params) if isinstance(params, dict) else {}
    method = message.get("method")
    said: dict[str, object] = {METHOD: method, VERSION: _version(method, params)}
    if isinstance(method, str) and method in _NAMED_BY:
        said[NAME] = params.get(_NAMED_BY[method])
    for name in (METHOD, VERSION, NAME):
        values = head.all(name)
        if len(values) > 1:
            return _mismatch(name)
        if values and said.get(name) is not None and _decoded(values[0]) != said[name]:
            return _mismatch(name)
    if not head.all(VERSION) and VERSION_KEY in _meta(params):
        return _mismatch(VERSION)
    return None


def _version(method: object, params: Mapping[str, object]) -> object:
    if method == "initialize":
        return params.get("protocolVersion")
    return _meta(params).get(VERSION_KEY)


def _meta(params: Mapping[str, object]) -> Mapping[str, object]:
    found = params.get("_meta")
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else {}


def _mismatch(name: str) -> Refusal:
    return Refusal(status=400, message=f"the header {name} does not say what the body says")


def _decoded(value: str) -> str | None:
    start, end = _ENCODED
    if not (value.startswith(start) and value.endswith(end)):
        return value
    try:
        return base64.b64decode(value[len(start) : -len(end)], validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def _is_our_origin(origin: str, site: Site) -> bool:
    scheme, separator, host = origin.partition("://")
    return scheme.lower() == "http" and bool(separator) and _is_our_host(host, site)


def _is_our_host(host: str, site: Site) -> bool:
    """Accept loopback's names with our port; when open, any address too, because only a name can be made to point here.

    >>> site = Site(port=5959)
    >>> _is_our_host("LOCALHOST:5959", site), _is_our_host("localhost:80", site), _is_our_host("kx.example:5959", site)
    (True, False, False)
    """
    name, _, port = host.rpartition(":")
    if host.endswith("]") or not name:
        name, port = host, str(_DEFAULT_PORT)
    if port != str(site.port):
        return False
    return name.lower() in _LOOPBACK or (site.is_open and _is_address(name))


def _is_address(name: str) -> bool:
    bare = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    try:
        found = ipaddress.ip_address(bare)
    except ValueError:
        return False
    return (found.version == 6) == (bare != name) and "%" not in bare
