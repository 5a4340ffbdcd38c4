"""What a pump has to know of the conversation it carries (pure): who waits for what, and how to begin again.

A gateway may be restarted under a living agent. What was asked of the old one is then answered with an error, and the
handshake is repeated with the new one without the agent seeing it.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from shared.errors import ErrorCode

INITIALIZE = "initialize"
INITIALIZED = "notifications/initialized"
CANCELLED = "notifications/cancelled"
LOST_CODE = 1  # JSON-RPC keeps -32768 to -32000 for itself

RequestId = str | int | float


class _Cancelled(Struct, frozen=True):
    requestId: RequestId | None = None  # noqa: N815 - the protocol's name


class _Head(Struct, frozen=True):
    """As much of a message as is looked at."""

    id: RequestId | None = None
    method: str | None = None


class _Cancel(Struct, frozen=True):
    params: _Cancelled = _Cancelled()


class Conversation:
    """One agent's messages; not safe across threads."""

    def __init__(self) -> None:
        self._waiting: dict[RequestId, None] = {}  # in order
        self._handshake: list[bytes] = []
        self._greeting: RequestId | None = None  # id of `initialize`
        self._hidden: RequestId | None = None  # whose answer the agent has already had

    def sent(self, line: bytes) -> None:
        """Take note of a line from the agent."""
        head = _head(line)
        if head.method is None:
            return
        if head.method == INITIALIZE and head.id is not None:
            self._handshake, self._greeting = [line], head.id
        elif head.method == INITIALIZED:
            self._handshake.append(line)
        if head.id is not None:
            self._waiting[head.id] = None
        elif head.method == CANCELLED:
            self._waiting.pop(_cancelled(line), None)  # type: ignore[arg-type]  # None waits for nothing

    def is_for_agent(self, line: bytes) -> bool:
        """Take note of a line from the gateway and tell whether the agent shall have it."""
        head = _head(line)
        if head.method is not None or head.id is None:
            return True
        if self._hidden is not None and head.id == self._hidden:
            self._hidden = None
            return False
        self._waiting.pop(head.id, None)
        return True

    def broken(self) -> list[bytes]:
        """Give an answer to everything that waits for the old gateway, but for the handshake, which is repeated."""
        lost = [request for request in self._waiting if request != self._greeting]
        for request in lost:
            del self._waiting[request]
        return [_lost(request) for request in lost]

    def awaits_greeting(self) -> bool:
        """Tell whether the agent waits for the answer to its handshake: it says nothing before it has it."""
        return self._greeting is not None and self._greeting in self._waiting

    def renewed(self) -> list[bytes]:
        """Give what the new gateway has to be told first; nothing where the protocol has no handshake."""
        if self._greeting is not None and not self.awaits_greeting():
            self._hidden = self._greeting
        return list(self._handshake)


def _head(line: bytes) -> _Head:
    try:
        return msgspec.json.decode(line, type=_Head)
    except (msgspec.MsgspecError, UnicodeError):
        return _Head()  # the gateway will say what is wrong with it


def _cancelled(line: bytes) -> RequestId | None:
    try:
        return msgspec.json.decode(line, type=_Cancel).params.requestId
    except (msgspec.MsgspecError, UnicodeError):
        return None


def _lost(request: RequestId) -> bytes:
    code = ErrorCode.STACK_UNREACHABLE
    error = {
        "code": LOST_CODE,
        "message": f"{code}: the stack was restarted before it answered; ask again",
        "data": {"code": code, "retryable": True},
    }
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request, "error": error}) + b"\n"
