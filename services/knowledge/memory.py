"""What a project remembers: records kept, listed, made durable and destroyed; their texts are a derived tree.

A record is its principal's own, or a team space's, where a viewer reads and who may write items writes. Whatever has
ended is answered to nobody, and destroyed soon after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import TypeVar

import anyio
import structlog
from anyio import CapacityLimiter, to_thread
from msgspec import Struct
from structlog.typing import FilteringBoundLogger

from services.knowledge.access import unknown
from services.knowledge.adapters.ids import fresh
from services.knowledge.adapters.memory_store import MemoryStore
from services.knowledge.adapters.schema import FILE_NAME
from services.knowledge.adapters.shelf import Wanted
from services.knowledge.adapters.store import Tables
from services.knowledge.core.erasure import markers_of
from services.knowledge.core.memory import (
    digest_of,
    is_expired,
    new_record,
    path_of_record,
    sees,
    written,
)
from services.knowledge.core.places import lettered
from services.knowledge.core.records import Membership
from services.knowledge.core.roles import ROLE_RIGHTS, Right
from services.knowledge.core.words import folded
from services.knowledge.desk import Desk
from services.knowledge.pages import fitting
from services.knowledge.trees import Trees
from shared.access import ADMIN, Scope
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.knowledge_messages import Caller
from shared.memory_messages import (
    Forget,
    Forgotten,
    Memories,
    MemoriesRequest,
    MemoryRecord,
    PromoteMemory,
    Remember,
    Remembered,
)
from shared.registry import Registry

MEMORY_TREE = "memory-"
READ: Scope = "memory:read"
WRITE: Scope = "memory:write"
MAX_FORGOTTEN = 100
MAX_LISTED = 200
MAX_RECORDS = 20_000  # of a project, everybody's: each recall looks at all of them
SEEN_S = 2.0  # what was remembered is recalled by the next question
SWEEP_S = 60.0
NEVER = "9999"  # later than any moment as it is written

T = TypeVar("T")

_log: FilteringBoundLogger = structlog.get_logger()


class Access(Struct, frozen=True):
    """Which team spaces a principal reads the memory of, and which it writes to."""

    reads: frozenset[str]
    writes: frozenset[str]


class Shown(Struct, frozen=True):
    """The records that a caller may see, and whether there are no others."""

    records: list[MemoryRecord]
    is_all: bool


class Memory:
    """The memories of all projects; belongs to one event loop."""

    def __init__(self, desk: Desk, trees: Trees, now: Callable[[], datetime]) -> None:
        self._desk = desk
        self._trees = trees
        self._now = now
        self._registry = Registry(desk.settings)
        self._threads = CapacityLimiter(1)
        self._ends: dict[str, tuple[int, str]] = {}  # of swept memories: when the file changed, what ends next
        self.unseen: set[str] = set()  # records that may not be in the index yet

    # --- what is asked ------------------------------------------------------------------------------------------------

    async def remember(self, asked: Remember) -> Remembered:
        """Keep a record. Idempotent: by text, kind and owner.

        Raises:
            KxError: BAD_REQUEST, KNOWLEDGE_FORBIDDEN, KNOWLEDGE_UNKNOWN, PROJECT_UNKNOWN, KNOWLEDGE_DAMAGED, DISK_FULL.
        """
        require_scope(asked.caller, WRITE)
        space = await self._writable(asked.caller, asked.space) if asked.space else ""
        record = new_record(asked, record_id=fresh("mem"), space=space, now=self._now())
        key = await self.key_of(asked.instance)
        store = self.store(key)
        await self._sweep(key)
        if await self._blocking(store.count) >= MAX_RECORDS:
            raise KxError(
                ErrorCode.BAD_REQUEST,
                "the memory of this project holds {limit} records",
                hint="forget some: kx memory list, kx memory forget ID",
                limit=MAX_RECORDS,
            )
        kept, is_new = await self._blocking(partial(store.keep, record))
        if is_new:
            self.unseen.add(kept.id)
            if await self._trees.keep(MEMORY_TREE + key, seen_s=SEEN_S):
                self.unseen.discard(kept.id)
        return Remembered(record=kept, is_new=is_new)

    async def forget(self, asked: Forget) -> Forgotten:
        """Destroy records, to the bytes. Idempotent: what is not there for the caller is not counted.

        Raises:
            KxError: BAD_REQUEST, KNOWLEDGE_FORBIDDEN for what the caller may only read, PROJECT_UNKNOWN, DISK_FULL.
        """
        require_scope(asked.caller, WRITE)
        if len(asked.ids) > MAX_FORGOTTEN:
            raise KxError(
                ErrorCode.BAD_REQUEST,
                "{count} records are too many to forget at once",
                hint="name at most {limit}",
                count=len(asked.ids),
                limit=MAX_FORGOTTEN,
            )
        key = await self.key_of(asked.instance)
        access = await self.access_of(asked.caller)
        wanted = frozenset(asked.ids)
        found = [one for one in await self.living(key) if one.id in wanted and sees(one, asked.caller, access.reads)]
        for one in found:
            require_writer(one, access)
        await self._destroy(key, found)
        return Forgotten(forgotten=len(found))

    async def promote(self, asked: PromoteMemory) -> Remembered:
        """Make a working record durable. Idempotent.

        Raises:
            KxError: MEMORY_UNKNOWN, KNOWLEDGE_FORBIDDEN, PROJECT_UNKNOWN.
        """
        require_scope(asked.caller, WRITE)
        key = await self.key_of(asked.instance)
        access = await self.access_of(asked.caller)
        for one in await self.living(key):
            if one.id != asked.id or not sees(one, asked.caller, access.reads):
                continue
            require_writer(one, access)
            if one.kind == "knowledge":
                return Remembered(record=one, is_new=False)
            durable, is_gone = await self._blocking(partial(self.store(key).promote, one))
            if is_gone:
                await self._forgotten(key, [one])
            return Remembered(record=durable, is_new=False)
        raise KxError(
            ErrorCode.MEMORY_UNKNOWN, "there is no record {id}", hint="see them with: kx memory list", id=asked.id[:200]
        )

    async def listed(self, asked: MemoriesRequest) -> Memories:
        """List the records the caller may see, the newest first.

        Raises:
            KxError: BAD_REQUEST, KNOWLEDGE_FORBIDDEN, PROJECT_UNKNOWN.
        """
        require_scope(asked.caller, READ)
        if asked.offset < 0 or not 1 <= asked.limit <= MAX_LISTED:
            raise KxError(
                ErrorCode.BAD_REQUEST,
                "offset {offset} and limit {limit} cannot be used",
                hint="offset from 0, limit from 1 to {most}",
                offset=asked.offset,
                limit=asked.limit,
                most=MAX_LISTED,
            )
        shown = await self.shown(asked.instance, asked.caller)
        records = [one for one in shown.records if asked.kind in {None, one.kind}]
        return Memories(records=fitting(records[asked.offset : asked.offset + asked.limit]), total=len(records))

    # --- what recalling needs -----------------------------------------------------------------------------------------

    async def shown(self, instance: InstanceId, caller: Caller) -> Shown:
        """Give the records of a project that the caller may see at this moment, the newest first."""
        key = await self.key_of(instance)
        access = await self.access_of(caller)
        living = await self.living(key)
        records = [one for one in living if sees(one, caller, access.reads)]
        return Shown(records, is_all=len(records) == len(living))

    async def key_of(self, instance: InstanceId) -> str:
        """Give the name of a project's memory: trees of one project id share it.

        What was remembered before the project had an id goes with it, unless the id has a memory already.

        Raises:
            KxError: PROJECT_UNKNOWN.
        """
        project = await to_thread.run_sync(self._registry.get, instance)
        key = project.project_id or project.instance
        if key != instance and await self._blocking(partial(self._adopt, str(instance), key)):
            await self._trees.drop(MEMORY_TREE + instance)
            await self._trees.keep(MEMORY_TREE + key, seen_s=SEEN_S)
        return key

    async def living(self, key: str) -> list[MemoryRecord]:
        """Give the records of a memory that have not ended, the newest first."""
        now = self._now()
        records = await self._blocking(self.store(key).all)
        return [one for one in records if not is_expired(one, now)]

    def store(self, key: str) -> MemoryStore:
        """Give the database of a memory."""
        return MemoryStore(self._desk.settings.memory_dir / f"{key}.sqlite")

    def keys(self) -> tuple[str, ...]:
        """Name the memories there are."""
        return tuple(sorted(path.stem for path in self._desk.settings.memory_dir.glob("*.sqlite")))

    # --- what has ended -----------------------------------------------------------------------------------------------

    async def sweep(self) -> None:
        """Destroy what has ended, and finish what was to be erased."""
        for key in await to_thread.run_sync(self.keys):
            try:
                if await self._blocking(partial(self._is_due, key)):
                    await self._blocking(self.store(key).erase)
                    await self._sweep(key)
                    await self._blocking(partial(self._note_end, key))
            except KxError as error:
                _log.warning("memory.not_swept", memory=key, error_code=error.code.value)

    async def keep_swept(self) -> None:
        """Sweep for ever."""
        while True:
            await self.sweep()
            await anyio.sleep(SWEEP_S)

    def _is_due(self, key: str) -> bool:
        """Tell whether a memory has to be looked at: it changed since the last time, or something in it has ended."""
        known = self._ends.get(key)
        return known is None or known[0] != _changed_ns(self.store(key)) or known[1] <= written(self._now())

    def _note_end(self, key: str) -> None:
        ends = [one.expires for one in self.store(key).all() if one.expires is not None]
        self._ends[key] = (_changed_ns(self.store(key)), min(ends, default=NEVER))

    async def _sweep(self, key: str) -> None:
        now = self._now()
        await self._destroy(key, [one for one in await self._blocking(self.store(key).all) if is_expired(one, now)])

    async def _destroy(self, key: str, records: list[MemoryRecord]) -> None:
        if records:
            await self._blocking(partial(self.store(key).destroy, [one.id for one in records]))
            await self._forgotten(key, records)

    async def _forgotten(self, key: str, records: list[MemoryRecord]) -> None:
        await self._blocking(self.store(key).erase)
        self.unseen.difference_update(one.id for one in records)
        markers = markers_of(one.text.encode() for one in records)
        kept = "\n".join(one.text for one in await self._blocking(self.store(key).all)).encode()
        gone = [marker for marker in markers if marker not in kept]
        residue = await self._trees.erase(MEMORY_TREE + key, [lettered(one.id) for one in records], gone)
        if residue:
            _log.warning("memory.residue", memory=key, files=residue)

    def _adopt(self, old: str, new: str) -> bool:
        """Let a memory go on under another name; tells whether it did."""
        before, after = self.store(old).path, self.store(new).path
        if after.exists() or not before.exists():
            return False
        self.store(old).count()  # opened and closed: what a log holds is in the file then
        before.rename(after)
        return True

    # --- whose it is --------------------------------------------------------------------------------------------------

    async def access_of(self, caller: Caller) -> Access:
        """Say which team spaces' memory the caller reads and writes, by its roles."""
        found = await self._memberships(caller)
        return Access(
            frozenset(one.space.id for one in found),
            frozenset(one.space.id for one in found if Right.ITEM_WRITE in ROLE_RIGHTS[one.role]),
        )

    async def _writable(self, caller: Caller, typed: str) -> str:
        """Find a team space by id or name that the caller may write to."""
        found = await self._memberships(caller)
        named = [one for one in found if one.space.id == typed] or [
            one for one in found if folded(one.space.name) == folded(typed)
        ]
        if not named:
            raise unknown(typed)
        if Right.ITEM_WRITE not in ROLE_RIGHTS[named[0].role]:
            raise _read_only()
        return named[0].space.id

    async def _memberships(self, caller: Caller) -> list[Membership]:
        settings = self._desk.settings
        if not settings.knowledge or not (settings.home / FILE_NAME).exists():
            return []

        def look(tables: Tables) -> tuple[Membership, ...]:
            return tables.spaces.memberships(caller.principal)

        return [one for one in await self._desk.read(look) if one.space.kind == "team"]

    async def _blocking(self, work: Callable[[], T]) -> T:
        return await to_thread.run_sync(work, limiter=self._threads)


class MemoryTexts:
    """The records of a memory, as the source of its tree."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def wanted(self, tree: str) -> Mapping[str, Wanted]:
        """Give the files of a memory by path."""
        records = await self._memory.living(tree.removeprefix(MEMORY_TREE))
        return {path_of_record(one.id): _wanted(one) for one in records}

    async def content(self, tree: str, key: str) -> bytes | None:
        """Give the text of a record."""
        store = self._memory.store(tree.removeprefix(MEMORY_TREE))
        record = await to_thread.run_sync(store.get, key)
        return record.text.encode() if record is not None else None


def require_scope(caller: Caller, scope: Scope) -> None:
    """Prove that the caller's token has a scope.

    Raises:
        KxError: KNOWLEDGE_FORBIDDEN.
    """
    if scope not in caller.scopes and ADMIN not in caller.scopes:
        raise KxError(
            ErrorCode.KNOWLEDGE_FORBIDDEN,
            "this needs the scope {scope}",
            hint="use a token with it: kx token create",
            scope=scope,
        )


def require_writer(record: MemoryRecord, access: Access) -> None:
    """Prove that the caller, who sees a record, may change it.

    Raises:
        KxError: KNOWLEDGE_FORBIDDEN.
    """
    if record.space and record.space not in access.writes:
        raise _read_only()


def _changed_ns(store: MemoryStore) -> int:
    try:
        return store.path.stat().st_mtime_ns
    except OSError:
        return 0


def _wanted(record: MemoryRecord) -> Wanted:
    return Wanted(size=len(record.text.encode()), digest=digest_of(record.text), key=record.id)


def trees_of(keys: Iterable[str]) -> tuple[str, ...]:
    """Name the trees of memories."""
    return tuple(MEMORY_TREE + key for key in keys)


def _read_only() -> KxError:
    return KxError(
        ErrorCode.KNOWLEDGE_FORBIDDEN,
        "a viewer of a team space does not change its memory",
        hint="ask the owner of the space for another role",
    )
