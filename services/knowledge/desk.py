"""Carry operations to the database's threads, and tell the rest of the service what they changed.

Whoever searches, remembers or keeps the derived trees asks here: `visible`, `readable_spaces`, `published`, `content`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

import structlog
from anyio import CapacityLimiter, to_thread
from msgspec import Struct
from msgspec.structs import replace
from structlog.typing import FilteringBoundLogger

from services.knowledge import reading
from services.knowledge.access import standings
from services.knowledge.adapters.item_rows import PublishedItem
from services.knowledge.adapters.schema import FILE_NAME
from services.knowledge.adapters.store import Store, Tables
from services.knowledge.changes import Done, Moment
from services.knowledge.core.roles import Right
from services.knowledge.reading import Visible
from shared import spool
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import Caller, Erased, KnowledgeMessage, SpaceKind
from shared.messages import Message
from shared.settings import Settings

T = TypeVar("T")
R = TypeVar("R", bound=Message)

Write = Callable[[Tables, Any, Moment], Done[Any]]
Read = Callable[[Tables, Any], Message]
Handle = Callable[[Any], Awaitable[Any]]

_log: FilteringBoundLogger = structlog.get_logger()


class Mirror(Protocol):
    """Whoever keeps what is searched equal to the database."""

    async def changed(self, spaces: frozenset[str]) -> None:
        """Hear that what is found in these spaces may be other now; called after the commit."""

    async def erased(self, space: str, items: tuple[str, ...], markers: tuple[bytes, ...]) -> int:
        """Destroy all traces of items; the number of places in which a marker still stands."""
        ...


class NoMirror:
    """Nothing is searched: tests, and a machine without an index."""

    async def changed(self, spaces: frozenset[str]) -> None:
        """Do nothing."""

    async def erased(self, space: str, items: tuple[str, ...], markers: tuple[bytes, ...]) -> int:  # noqa: ARG002
        """Do nothing."""
        return 0


class ReadableSpace(Struct, frozen=True, kw_only=True):
    """A space in which the caller may search."""

    id: str
    name: str
    kind: SpaceKind
    is_editor: bool


class Desk:
    """The database behind its two threads."""

    def __init__(self, settings: Settings, now: Callable[[], datetime], mirror: Mirror | None = None) -> None:
        self.settings = settings
        self.mirror: Mirror = mirror or NoMirror()
        self._now = now
        self._store = Store(settings.home / FILE_NAME)
        self._writing = CapacityLimiter(1)
        self._reading = CapacityLimiter(1)

    def writing(self, operation: Write) -> Handle:
        """Make the handler of an operation that writes; the reply comes when it is on the disk."""

        async def handle(message: KnowledgeMessage) -> Message:
            return await self.write(message.caller, lambda tables, moment: operation(tables, message, moment))

        return handle

    def reading(self, operation: Read) -> Handle:
        """Make the handler of an operation that reads one moment of the database."""

        async def handle(message: KnowledgeMessage) -> Message:
            return await self.read(lambda tables: operation(tables, message))

        return handle

    async def write(self, caller: Caller, work: Callable[[Tables, Moment], Done[R]]) -> R:
        """Run `work` in one transaction, then tell the mirror; destroys to the bytes what `work` destroyed.

        Raises:
            KxError: that of `work`; KNOWLEDGE_DISABLED, KNOWLEDGE_DAMAGED, DISK_FULL, INDEX_BUSY.
        """
        self.require_enabled()
        moment = Moment(caller, self.at())

        def run(tables: Tables) -> Done[R]:
            done = work(tables, moment)
            if done.erased or done.markers:
                self._store.want_erasure()
            return done

        done = await to_thread.run_sync(lambda: self._store.write(run), limiter=self._writing)
        residue = await self._erase(done) if done.erased or done.markers else 0
        if done.space:
            await self._tell(done.space)
        return replace(done.reply, residue=residue) if isinstance(done.reply, Erased) else done.reply

    async def read(self, work: Callable[[Tables], T]) -> T:
        """Run `work` on one moment of the database.

        Raises:
            KxError: as `write`.
        """
        self.require_enabled()
        return await to_thread.run_sync(lambda: self._store.read(work), limiter=self._reading)

    def at(self) -> str:
        """Give this moment as it is written down: RFC 3339, UTC."""
        return self._now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def require_enabled(self) -> None:
        """Refuse where the user has switched knowledge bases off.

        Raises:
            KxError: KNOWLEDGE_DISABLED.
        """
        if not self.settings.knowledge:
            raise KxError(
                ErrorCode.KNOWLEDGE_DISABLED,
                "knowledge bases are switched off on this machine",
                hint='set "knowledge": true in {file}',
                file=self.settings.config_path,
            )

    async def spooled(self, name: str, *, max_bytes: int) -> bytes:
        """Take bytes that were handed over beside a message.

        Raises:
            KxError: BAD_REQUEST, CONTENT_TOO_LARGE.
        """
        return await to_thread.run_sync(lambda: spool.take(self.settings, name, max_bytes=max_bytes))

    async def visible(self, caller: Caller, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Visible]:
        """Give of (item, revision) those that a search may show the caller at this moment, with their exact texts.

        Raises:
            KxError: KNOWLEDGE_FORBIDDEN, KNOWLEDGE_DAMAGED, KNOWLEDGE_DISABLED.
        """
        return await self.read(lambda tables: reading.visible(tables, caller, pairs))

    async def readable_spaces(self, caller: Caller) -> tuple[ReadableSpace, ...]:
        """Give the spaces in which the caller may search, the personal one first.

        Raises:
            KxError: KNOWLEDGE_FORBIDDEN without a scope to read.
        """

        def run(tables: Tables) -> tuple[ReadableSpace, ...]:
            return tuple(
                ReadableSpace(id=one.space.id, name=one.space.name, kind=one.space.kind, is_editor=one.is_editor)
                for one in standings(tables, caller)
                if Right.READ in one.rights
            )

        return await self.read(run)

    async def spaces(self) -> tuple[str, ...]:
        """Give the ids of all spaces: for whoever compares the derived trees with the database; none is made for it."""
        if not await to_thread.run_sync(self._store.path.exists):
            return ()
        return await self.read(lambda tables: tables.spaces.ids())

    async def published(self, space: str) -> tuple[PublishedItem, ...]:
        """Give what a query search may find in a space, whoever asks; texts by `content`."""
        return await self.read(lambda tables: tables.items.published(space))

    async def content(self, revision: str) -> bytes | None:
        """Give the exact bytes of a revision, whoever asks; None where it is destroyed."""
        return await self.read(lambda tables: tables.items.content(revision))

    async def close(self) -> None:
        """Close the database."""
        await to_thread.run_sync(self._store.close, limiter=self._writing)

    async def _erase(self, done: Done[Any]) -> int:
        def erase() -> tuple[int, tuple[bytes, ...]]:
            markers = self._store.unshared(done.markers)
            return self._store.erase(markers), tuple(markers)

        left, markers = await to_thread.run_sync(erase, limiter=self._writing)
        try:
            return left + await self.mirror.erased(done.space, done.erased, markers)
        except KxError as error:
            _log.warning("mirror.not_erased", space=done.space, error_code=error.code.value)
            return left + 1

    async def _tell(self, space: str) -> None:
        try:
            await self.mirror.changed(frozenset({space}))
        except KxError as error:  # it is on the disk; the mirror compares again when it starts
            _log.warning("mirror.behind", space=space, error_code=error.code.value)
