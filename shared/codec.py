"""Messages to bytes and back, built once per type.

Between services it is msgpack; other tools may send JSON (header `Content-Type: application/json`) and are answered
in JSON, where `bytes` fields are base64.
"""

from __future__ import annotations

from functools import cache
from typing import TypeVar

import msgspec

from shared.errors import ErrorCode, ErrorDetails, KxError
from shared.messages import Message

M = TypeVar("M", bound=Message)

MSGPACK = "application/msgpack"
JSON = "application/json"

_pack = msgspec.msgpack.Encoder()
_json = msgspec.json.Encoder()
_error_decoder = msgspec.msgpack.Decoder(ErrorDetails)

MAX_PARAM_CHARS = 4_000  # of one value in an error: it names what failed, it does not carry it


def encode(message: Message, content_type: str = MSGPACK) -> bytes:
    """Serialise `message` in the form that `content_type` names."""
    return _json.encode(message) if content_type == JSON else _pack.encode(message)


def decode(data: bytes, expected: type[M], content_type: str = MSGPACK) -> M:
    """Parse `data` as exactly `expected`; unknown fields pass, anything else wrong is `KX_MESSAGE_INVALID`."""
    decoder = _json_decoder(expected) if content_type == JSON else _pack_decoder(expected)
    try:
        decoded: M = decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise KxError(
            ErrorCode.MESSAGE_INVALID,
            "a message for {type} could not be read: {reason}",
            hint="docs/messages.md describes every message",
            type=expected.__name__,
            reason=error,
        ) from error
    return decoded


def encode_error(details: ErrorDetails, content_type: str = MSGPACK) -> bytes:
    """Serialise the body of an error reply; text that is no Unicode is replaced, so that an error always travels."""
    clean = ErrorDetails(
        code=details.code,
        message=_unicode(details.message),
        hint=_unicode(details.hint),
        retryable=details.retryable,
        params={name: _unicode(value)[:MAX_PARAM_CHARS] for name, value in details.params.items()},
    )
    return _json.encode(clean) if content_type == JSON else _pack.encode(clean)


def decode_error(data: bytes) -> ErrorDetails:
    """Parse the msgpack body of an error reply; one that cannot be read is `KX_INTERNAL` itself."""
    try:
        return _error_decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeError):
        return ErrorDetails(code=ErrorCode.INTERNAL, message="the error of another process could not be read")


def _unicode(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def _pack_decoder(expected: type[M]) -> msgspec.msgpack.Decoder[M]:
    return msgspec.msgpack.Decoder(expected)


@cache
def _json_decoder(expected: type[M]) -> msgspec.json.Decoder[M]:
    return msgspec.json.Decoder(expected)
