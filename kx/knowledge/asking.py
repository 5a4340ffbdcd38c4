"""Ask the service of knowledge and memory on behalf of this machine's user."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from msgspec import Struct

from kx.client import services
from kx.context import Context
from shared import spool
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import INLINE_CONTENT_BYTES, Caller, ReadItem, RevisionText
from shared.messages import Message
from shared.settings import ensure_home
from shared.stack_file import running_stack
from shared.subjects import ITEM_READ, RequestRoute

ASK_S = 60.0  # a document is given ten of them, an erasure waits for its index
ME = Caller(client="kx")

T = TypeVar("T")
Q = TypeVar("Q", bound=Message)
R = TypeVar("R", bound=Message)


class Written(Struct, frozen=True):
    """A content on its way to the service: in the message, or handed over through the spool."""

    content: str = ""
    spool: str = ""


class WholeRevision(Struct, frozen=True):
    """A revision with all of its bytes."""

    part: RevisionText  # the first one: item and revision
    content: bytes


def with_knowledge(
    context: Context, use: Callable[[Bus], Awaitable[T]], *, stack: bool | None, writes: bool = False
) -> T:
    """Run `use` with a bus on which knowledge answers; `writes` where what is searched of it may change."""
    ensure_home(context.settings)

    async def run() -> T:
        reaching = services(context.settings, writes=writes, mode="kx kb", stack=stack, knowledge=True)
        async with reaching as reach:
            return await use(reach.bus)

    return anyio.run(run)


def uses_stack(context: Context, stack: bool | None) -> bool:
    """Tell whether a running stack is asked, which indexes by itself."""
    return stack is not False and running_stack(context.settings.run_dir) is not None


def ask(context: Context, route: RequestRoute[Q, R], message: Q, *, stack: bool | None, writes: bool = False) -> R:
    """Ask one question."""

    async def one(bus: Bus) -> R:
        return await bus.request(route, message, timeout_s=ASK_S)

    return with_knowledge(context, one, stack=stack, writes=writes)


def handed_over(context: Context, data: bytes, *, name: str) -> Written:
    """Give text to the service as it is, byte for byte.

    Raises:
        KxError: BAD_REQUEST when it is no UTF-8.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{name} is no UTF-8 text",
            hint="documents are read by: kx kb import BASE FILE",
            name=name,
        ) from None
    if len(data) <= INLINE_CONTENT_BYTES:
        return Written(content=text)
    return Written(spool=spool.put(context.settings, data))


async def read_whole(bus: Bus, item: str, revision: str | None = None) -> WholeRevision:
    """Read a revision to its end; an edit meanwhile does not mix two of them."""
    first = await bus.request(ITEM_READ, ReadItem(caller=ME, item=item, revision=revision), timeout_s=ASK_S)
    parts, offset = [first.content], first.next_offset
    while offset is not None:
        message = ReadItem(caller=ME, item=item, revision=first.revision.id, offset=offset)
        part = await bus.request(ITEM_READ, message, timeout_s=ASK_S)
        parts.append(part.content)
        offset = part.next_offset
    return WholeRevision(first, b"".join(parts))
