"""What both ends of the gateway's local socket agree on: greeting, frames, limits, whose process the other end is.

The first line a client sends is a `Hello`, the gateway answers one `Welcome` line. After it a command connection
carries frames (4 bytes big-endian length, msgpack), an MCP connection newline-delimited JSON-RPC.
"""

from __future__ import annotations

import socket
import struct
import sys
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct

from shared.bus import MAX_MESSAGE_BYTES
from shared.errors import ErrorCode, ErrorDetails, KxError

PROTOCOL = 1  # raised when an older end could not understand a newer one
SOCKET_NAME = "kx.sock"
MAX_HELLO_BYTES = 16 * 1024
MAX_FRAME_BYTES = MAX_MESSAGE_BYTES + 4 * 1024  # a message and what names its route
READ_BYTES = 64 * 1024

Role = Literal["command", "mcp"]
S = TypeVar("S", bound=Struct)

_LENGTH = struct.Struct(">I")
_UCRED = struct.Struct("3i")  # pid, uid, gid: struct ucred of Linux
_LOCAL_PEERCRED = 1  # sys/un.h of macOS and BSD
_XUCRED = struct.Struct("2I")  # version, uid: the head of struct xucred


class Hello(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who connects, and what for."""

    kx: int  # PROTOCOL of the client
    role: Role
    project_root: str | None = None  # mcp: the root it was started for; without it the project of `cwd`
    strict_project_root: bool = False
    cwd: str = "/"
    session_id: str | None = None  # mcp: the agent's own name for its session


class Welcome(Struct, frozen=True, kw_only=True):
    """The gateway's one answer to a hello; without `ok` it closes the connection after it."""

    kx: int  # PROTOCOL of the gateway
    ok: bool
    error: ErrorDetails | None = None


class Ask(Struct, frozen=True, array_like=True):
    """A request of a command connection, to be forwarded on the bus."""

    id: int
    service: str
    verb: str
    instance: str | None
    message: bytes  # msgpack of the route's request
    timeout_s: float


class Told(Struct, frozen=True, array_like=True):
    """The answer to an `Ask`."""

    id: int
    ok: bool
    data: bytes  # msgpack of the route's reply, else of `ErrorDetails`


def socket_path(socket_dir: Path) -> Path:
    """Give the place of the gateway's socket."""
    return socket_dir / SOCKET_NAME


def line(message: Hello | Welcome) -> bytes:
    """Write a greeting."""
    return msgspec.json.encode(message) + b"\n"


def parse_line(raw: bytes, expected: type[S]) -> S:
    """Read a greeting.

    Raises:
        KxError: MESSAGE_INVALID.
    """
    try:
        return msgspec.json.decode(raw, type=expected)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise KxError(
            ErrorCode.MESSAGE_INVALID,
            "the local socket was not greeted as kx does: {reason}",
            hint="only kx itself talks to this socket; other programs use the bus, see docs/messages.md",
            reason=error,
        ) from error


def frame(message: Ask | Told) -> bytes:
    """Write a frame."""
    body = msgspec.msgpack.encode(message)
    return _LENGTH.pack(len(body)) + body


class Frames:
    """Cuts a stream of bytes into frames of one type."""

    def __init__(self, expected: type[Ask | Told]) -> None:
        self._decoder = msgspec.msgpack.Decoder(expected)
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Ask | Told]:
        """Take what was received; give every frame that is complete now.

        Raises:
            KxError: MESSAGE_INVALID, MESSAGE_TOO_LARGE; the connection is of no use after it.
        """
        self._buffer += data
        found: list[Ask | Told] = []
        while len(self._buffer) >= _LENGTH.size:
            (size,) = _LENGTH.unpack_from(self._buffer)
            if size > MAX_FRAME_BYTES:
                raise KxError(
                    ErrorCode.MESSAGE_TOO_LARGE,
                    "a frame of {size} bytes is above {limit}",
                    size=size,
                    limit=MAX_FRAME_BYTES,
                )
            end = _LENGTH.size + size
            if len(self._buffer) < end:
                break
            found.append(self._decoded(bytes(self._buffer[_LENGTH.size : end])))
            del self._buffer[:end]
        return found

    def _decoded(self, body: bytes) -> Ask | Told:
        try:
            return self._decoder.decode(body)
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise KxError(ErrorCode.MESSAGE_INVALID, "a frame could not be read: {reason}", reason=error) from error


def peer_uid(connection: socket.socket) -> int:
    """Ask the kernel which user the other end of a local socket belongs to."""
    if sys.platform == "linux":
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
        return int(_UCRED.unpack(raw)[1])
    raw = connection.getsockopt(0, _LOCAL_PEERCRED, 256)
    return int(_XUCRED.unpack_from(raw)[1])
