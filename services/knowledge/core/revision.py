"""What a revision is made of: its exact bytes, their hash, where they come from and who wrote them (pure)."""

from __future__ import annotations

import hashlib

from services.knowledge.core.limits import MAX_CLIENT_CHARS, MAX_TEXT_BYTES
from services.knowledge.core.words import line
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import Caller

MARKDOWN = "markdown"
MAX_FORMAT_CHARS = 40
_FORMAT_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789+-.#_")


def content_hash(content: bytes) -> str:
    """Give the SHA-256 of the exact bytes, hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def canonical(content: bytes) -> bytes:
    """Prove that bytes are a text that can be kept; they are kept as they are.

    Raises:
        KxError: CONTENT_TOO_LARGE; BAD_REQUEST for what is no UTF-8 or holds a NUL.
    """
    if len(content) > MAX_TEXT_BYTES:
        raise too_large(MAX_TEXT_BYTES)
    try:
        content.decode()
    except UnicodeDecodeError as error:
        raise _no_text("it is not UTF-8") from error
    if b"\0" in content:
        raise _no_text("it holds a NUL character")
    return content


def format_named(name: str) -> str:
    """Give the name of a kind of text as it is kept.

    Raises:
        KxError: BAD_REQUEST for what is no such name.
    """
    lowered = line("format", name, MAX_FORMAT_CHARS).lower()
    if not lowered or not _FORMAT_CHARS.issuperset(lowered):
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{format} is no name of a format",
            hint="use markdown, or the kind of text: json, python, ...",
            format=repr(lowered),
        )
    return lowered


def provenance(caller: Caller, *, tool: str, at: str) -> dict[str, str]:
    """Say who wrote a revision, with which program, by which operation, and when."""
    client = line("client", caller.client[:MAX_CLIENT_CHARS], MAX_CLIENT_CHARS)
    return {"principal": caller.principal, "client": client, "tool": tool, "at": at}


def too_large(limit: int) -> KxError:
    """Make the error of a content above its limit, the same for a message, the spool and a file."""
    return KxError(
        ErrorCode.CONTENT_TOO_LARGE,
        "the content is longer than {limit} bytes",
        hint="split it into smaller documents",
        limit=limit,
    )


def _no_text(reason: str) -> KxError:
    return KxError(
        ErrorCode.BAD_REQUEST,
        "the content is no text: {reason}",
        hint="save it as UTF-8; a document goes through kx kb import",
        reason=reason,
    )
