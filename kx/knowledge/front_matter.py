"""The form of an exported revision: front matter that any YAML reader reads, then the content's exact bytes (pure).

Values are JSON, which is YAML too, one a line: written and read without a YAML library, and nothing in a foreign folder
can expand or construct anything.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
from msgspec import Struct

from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import ItemOrigin, ItemStatus

FENCE = b"---"
FORM = "knowledge/1"
EXPORTED = ".md"  # suffix of the files
MAX_HEAD_BYTES = 65_536
_BREAKS = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")  # what YAML does not take literally, beyond JSON

_NO_TEXT = frozenset({"number", "current"})


class Head(Struct, frozen=True, kw_only=True):
    """What the front matter says; the order is that of the file."""

    kx: str = FORM
    id: str  # of the item
    title: str
    status: ItemStatus
    published: str | None = None  # when the revision first was the current one of a published item
    revision: str
    number: int
    current: bool = True
    hash: str  # sha256 of the content, hexadecimal
    format: str = "markdown"
    locator: str = ""
    origin: ItemOrigin = "user_created"
    created: str = ""  # of the revision


class Page(Struct, frozen=True):
    """One exported revision."""

    head: Head
    content: bytes


def written(page: Page) -> bytes:
    """Give the file."""
    values = msgspec.to_builtins(page.head)
    lines = [f"{key}: {_scalar(value)}".encode() for key, value in values.items()]
    return b"\n".join([FENCE, *lines, FENCE, page.content])


def read(data: bytes) -> Page | None:
    """Read a file; None when it is no exported revision.

    Raises:
        KxError: BAD_REQUEST when it begins as one and cannot be read.
    """
    lines = data[:MAX_HEAD_BYTES].split(b"\n")
    if [line.rstrip(b"\r") for line in lines[:2]] != [FENCE, f'kx: "{FORM}"'.encode()]:
        return None
    ends = (at for at in range(1, len(lines)) if lines[at].rstrip(b"\r") == FENCE)
    end = next(ends, None)
    if end is None:
        raise _damaged("its front matter has no closing ---")
    size = sum(len(line) + 1 for line in lines[: end + 1])
    return Page(_head(lines[1:end]), data[size:])


def _head(lines: list[bytes]) -> Head:
    found: dict[str, Any] = {}
    for line in lines:
        key, colon, value = line.decode("utf-8", "replace").strip().partition(":")
        if colon:
            found[key] = _value(key, value.strip())
    try:
        return msgspec.convert(found, Head)
    except msgspec.ValidationError as error:
        raise _damaged(str(error)) from None


def _scalar(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _BREAKS.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _value(key: str, text: str) -> object:
    """Read a JSON value; what a person wrote without quotes is a text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if value is None or isinstance(value, str) or key in _NO_TEXT else text


def _damaged(problem: str) -> KxError:
    return KxError(
        ErrorCode.BAD_REQUEST,
        "the front matter of this exported item cannot be used: {problem}",
        hint="mend it in an editor, or export the base again",
        problem=problem,
    )
