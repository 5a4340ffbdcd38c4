"""Keep derived trees equal to the databases they come from, and have the index look at what changed.

A tree is compared whole when this process first meets it, and by what is wanted now after each change. What is withdrawn
is gone from the folder before its change is answered; answers do not depend on that, they prove each hit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Protocol, TypeVar

import anyio
import structlog
from anyio import CapacityLimiter, to_thread
from msgspec import Struct
from structlog.typing import FilteringBoundLogger

from services.knowledge.adapters.shelf import Shelf, Wanted, changes
from services.knowledge.indexing import Indexing
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId

SEEN_S = 1.0  # what was written is searchable by words when its writer is answered, or a moment later
ERASED_S = 20.0
SETTLED_S = 600.0  # a command that runs once embeds what it wrote before it ends
RETRY_S = 30.0  # between two tries of an erasure that was not done

T = TypeVar("T")

_log: FilteringBoundLogger = structlog.get_logger()


class Source(Protocol):
    """Where the texts of a tree come from."""

    async def wanted(self, tree: str) -> Mapping[str, Wanted]:
        """Give the files that have to be there, by path."""
        ...

    async def content(self, tree: str, key: str) -> bytes | None:
        """Give the bytes of one; None when it is gone by now."""
        ...


class Written(Struct, frozen=True, kw_only=True):
    """What was done to a tree."""

    instance: InstanceId | None = None  # None: there is nothing and is to be nothing
    paths: tuple[str, ...] = ()  # what changed
    is_told: bool = True  # whoever indexes will look
    change: int = 0  # its number


class Trees:
    """All derived trees of one home; belongs to one event loop."""

    def __init__(self, shelf: Shelf, indexing: Indexing, source_of: Callable[[str], Source]) -> None:
        self._shelf = shelf
        self._indexing = indexing
        self._source_of = source_of
        self._there: dict[str, dict[str, int]] = {}  # files and their sizes
        self._met: set[str] = set()  # trees that this process compared whole
        self._locks: dict[str, anyio.Lock] = {}
        self._writing = CapacityLimiter(1)
        self._unsettled: dict[str, InstanceId] = {}
        self._changes: Counter[str] = Counter()

    async def keep(self, tree: str, *, thorough: bool = False, seen_s: float = SEEN_S) -> bool:
        """Make a tree as its source wants it now; tells whether its words are in the index.

        Raises:
            KxError: those of the source; DISK_FULL.
        """
        async with self._lock(tree):
            written = await self._write(tree, thorough=thorough)
        if written.instance is None or not written.paths:
            return True
        is_asked = written.is_told and seen_s > 0
        if not is_asked or not await self._indexing.wait(written.instance, "text", within_s=seen_s):
            return False
        await self._seen(tree, written.change)
        return True

    async def erase(self, tree: str, names: Sequence[str], markers: Sequence[bytes]) -> int:
        """Destroy every trace of what is named: files first, then the index; the files that still hold a marker.

        `names` are parts of paths, such as an item's folder; what the index cannot forget now it is told again later.
        """
        if await self.instance(tree) is None:
            return 0
        async with self._lock(tree):
            before = await self._files(tree)
            folders = {_through(path, name) for path in before for name in names if f"/{name}/" in path}
            await self._blocking(partial(self._note_erasing, tree, {*folders, *names}))
            await self._write(tree, thorough=False)
            await self._erase(tree)
        return await self._blocking(partial(self._shelf.residue, tree, markers))

    async def start(self, wanted: Sequence[str], is_ours: Callable[[str], bool], *, thorough: bool) -> None:
        """Compare every tree with its source; remove those of ours that nobody wants any more."""
        names = await self._blocking(self._shelf.names)
        for tree in names:
            if is_ours(tree) and tree not in wanted:
                await self.drop(tree)
        for tree in wanted:
            await self._guarded(tree, partial(self.keep, tree, thorough=thorough, seen_s=0.0))

    async def retry(self) -> None:
        """Go on with erasures that were not done, for ever."""
        while True:
            await anyio.sleep(RETRY_S)
            for tree in await to_thread.run_sync(self._shelf.names, limiter=self._writing):
                await self._guarded(tree, partial(self._finish_erasure, tree))

    async def settle(self) -> None:
        """Wait until what was written by this process is in the index, vectors too."""
        for tree, instance in sorted(self._unsettled.items()):
            change = self._changes[tree]
            is_compared = await self._indexing.reconcile(instance)
            if is_compared and await self._indexing.wait(instance, "vectors", within_s=SETTLED_S):
                await self._seen(tree, change)

    async def drop(self, tree: str) -> None:
        """Remove a tree, its index and its entry."""
        async with self._lock(tree):
            self._there.pop(tree, None)
            self._met.discard(tree)
            self._unsettled.pop(tree, None)
            await self._blocking(partial(self._shelf.drop, tree))

    async def instance(self, tree: str) -> InstanceId | None:
        """Give the instance of a tree that is there."""
        found = await self._blocking(partial(self._shelf.find, tree))
        return found.instance if found is not None else None

    async def _write(self, tree: str, *, thorough: bool) -> Written:
        """Write and remove files, have them looked at."""
        source = self._source_of(tree)
        wanted = await source.wanted(tree)
        if await self.instance(tree) is None:  # never there, or taken away meanwhile
            self._there.pop(tree, None)
            self._met.discard(tree)
        is_new = tree not in self._met
        there = await self._files(tree)
        if not wanted and not there:
            return Written()
        instance = (await self._blocking(partial(self._shelf.enrol, tree))).instance
        write, remove = changes(there, wanted)
        if thorough:
            write += await self._altered(tree, wanted, known=frozenset(write))
        if is_new and remove:  # gone while nobody was here: it may have been destroyed
            await self._blocking(partial(self._note_erasing, tree, set(remove)))
        touched = [*write, *remove]
        if touched:
            self._changes[tree] += 1
            await self._blocking(partial(self._shelf.set_behind, tree, is_behind=True))
        await self._blocking(partial(self._shelf.remove, tree, remove))
        for path in remove:
            there.pop(path, None)
        for path in write:
            await self._copy(source, tree, path, wanted[path])
        is_told = await self._announce(tree, instance, touched, is_new=is_new)
        self._met.add(tree)
        if is_new and len(await self._blocking(partial(self._shelf.erasing, tree))) > 0:
            await self._erase(tree)
        return Written(instance=instance, paths=tuple(touched), is_told=is_told, change=self._changes[tree])

    async def _copy(self, source: Source, tree: str, path: str, wanted: Wanted) -> None:
        content = await source.content(tree, wanted.key)
        if content is None:
            return
        await self._blocking(partial(self._shelf.write, tree, path, content))
        self._there[tree][path] = len(content)

    async def _announce(self, tree: str, instance: InstanceId, touched: list[str], *, is_new: bool) -> bool:
        """Have the index look: at what changed, or where it may have missed more than that at everything; tells if it will."""
        is_behind = is_new and await self._blocking(partial(self._shelf.is_behind, tree))
        if touched or is_behind:
            self._unsettled[tree] = instance
        if is_behind and await self._indexing.reconcile(instance):
            return True
        return await self._indexing.touch(instance, touched)

    async def _seen(self, tree: str, change: int) -> None:
        """Know that the index has seen everything up to a change; a later one says so for itself."""
        async with self._lock(tree):
            if self._changes[tree] == change:
                await self._blocking(partial(self._shelf.set_behind, tree, is_behind=False))

    async def _altered(self, tree: str, wanted: Mapping[str, Wanted], *, known: frozenset[str]) -> list[str]:
        def look() -> list[str]:
            return [p for p, one in wanted.items() if p not in known and self._shelf.is_altered(tree, p, one)]

        return await self._blocking(look)

    async def _finish_erasure(self, tree: str) -> None:
        async with self._lock(tree):
            if len(await self._blocking(partial(self._shelf.erasing, tree))) > 0:
                await self._erase(tree)

    async def _erase(self, tree: str) -> None:
        folders = await self._blocking(partial(self._shelf.erasing, tree))
        project = await self._blocking(partial(self._shelf.find, tree))
        if project is not None and project.index_path.exists():
            is_done = await self._indexing.erase(project.instance, folders, within_s=ERASED_S)
            if not is_done:
                _log.warning("erasure.waits", tree=tree)
                return
        await self._blocking(partial(self._shelf.set_erasing, tree, ()))

    def _note_erasing(self, tree: str, folders: set[str]) -> None:
        self._shelf.set_erasing(tree, {*self._shelf.erasing(tree), *folders})

    async def _files(self, tree: str) -> dict[str, int]:
        known = self._there.get(tree)
        if known is None:
            known = self._there[tree] = await self._blocking(partial(self._shelf.files, tree))
        return known

    async def _guarded(self, tree: str, work: Callable[[], Awaitable[object]]) -> None:
        try:
            await work()
        except KxError as error:
            _log.warning("tree.behind", tree=tree, error_code=error.code.value)

    async def _blocking(self, work: Callable[[], T]) -> T:
        try:
            return await to_thread.run_sync(work, limiter=self._writing)
        except OSError as error:  # a disk that is read-only, a folder that was made someone else's
            raise KxError(
                ErrorCode.CONFIG_UNREADABLE,
                "{file} cannot be used: {problem}",
                hint="set KX_HOME to a folder of your own",
                file=error.filename or "spaces",
                problem=error.strerror or error,
            ) from error

    def _lock(self, tree: str) -> anyio.Lock:
        return self._locks.setdefault(tree, anyio.Lock())


def _through(path: str, name: str) -> str:
    """Give the folder of that name on the way to a path."""
    return path[: path.index(f"/{name}/") + 1 + len(name)]
