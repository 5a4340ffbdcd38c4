"""Cut what is told to the size of a message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from services.knowledge.core.limits import MAX_PAGE_ROWS, PAGE_ROWS_BYTES
from shared.errors import ErrorCode, KxError

T = TypeVar("T")


def fitting(rows: Iterable[T]) -> tuple[T, ...]:
    """Take rows as long as they fit one message, at least one."""
    taken: list[T] = []
    size = 0
    for row in rows:
        size += len(msgspec.msgpack.encode(row))
        if taken and size > PAGE_ROWS_BYTES:
            break
        taken.append(row)
    return tuple(taken)


def check_page(offset: int, limit: int) -> None:
    """Refuse a page that cannot be.

    Raises:
        KxError: BAD_REQUEST.
    """
    if not 1 <= limit <= MAX_PAGE_ROWS or not 0 <= offset < 2**53:
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "offset {offset} and limit {limit} cannot be used",
            hint="offset from 0, limit from 1 to {most}",
            offset=offset,
            limit=limit,
            most=MAX_PAGE_ROWS,
        )
