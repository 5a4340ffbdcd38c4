"""What the index knows of a tree against what is there.

The manifest is asked first: what changes while walking is then announced once too often, never missed. A root that is
not there, cannot be read, or is another one after the walk than before, is an error and never an empty tree.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from anyio import CapacityLimiter, to_thread
from msgspec import Struct

from services.watcher.adapters.threads import StopFlag, run_stoppable
from services.watcher.adapters.tree import Met, WatchedTree
from services.watcher.core.heaviest import heaviest
from services.watcher.core.manifest import PathRange, differences, range_of
from shared.bus import Bus
from shared.identity import InstanceId
from shared.messages import FolderCount, ManifestEntry, ManifestRequest
from shared.subjects import MANIFEST

WALKS_AT_ONCE = 2  # a walk is bound by the disk; more would only seek
RANGES_AT_MOST = 20  # more subtrees than this: reading the whole manifest is less than asking for each
_RANGE_PAGE = 500


class Compared(Struct, frozen=True, kw_only=True):
    """A walk beside the manifest."""

    walked: int
    paths: list[str]  # what differs
    epoch: int  # of the manifest
    took_s: float
    largest: tuple[FolderCount, ...]


class Comparison:
    """Compares trees; whole trees never keep a subtree waiting."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._whole = CapacityLimiter(WALKS_AT_ONCE)
        self._parts = CapacityLimiter(WALKS_AT_ONCE)

    async def compare(self, tree: WatchedTree, subtrees: Sequence[str], *, force: bool = False) -> Compared:
        """Find the differences in subtrees ("" is the whole tree).

        Raises:
            KxError: ROOT_MISSING; CONFIG_* while the configuration is wrong; whatever keeps the manifest from coming.
        """
        started = time.monotonic()
        before = await to_thread.run_sync(tree.require_root)
        known, epoch = await self._known(tree.project.instance, subtrees)
        met = await self._walk(tree, subtrees)
        if await to_thread.run_sync(tree.identity) != before:
            raise tree.root_missing("it was replaced while it was walked")
        if known and not met.entries and "" in subtrees and not tree.is_registered(before):
            raise tree.root_missing("an empty folder stands in its place")  # such as the mount point of a disk
        paths = differences(known, met.entries, tuple(subtrees), force=force, unreadable=met.unreadable)
        return Compared(
            walked=len(met.entries),
            paths=paths,
            epoch=epoch,
            took_s=time.monotonic() - started,
            largest=heaviest(entry.path for entry in met.entries),
        )

    async def _walk(self, tree: WatchedTree, subtrees: Sequence[str]) -> Met:
        stop = StopFlag()
        limiter = self._whole if "" in subtrees else self._parts
        return await run_stoppable(lambda: tree.walk(subtrees, stop.is_set), stop, limiter=limiter)

    async def _known(self, instance: InstanceId, subtrees: Sequence[str]) -> tuple[dict[str, ManifestEntry], int]:
        if "" in subtrees or len(subtrees) > RANGES_AT_MOST:
            return await self._part(instance, PathRange(), page=ManifestRequest(instance=instance).limit)
        known: dict[str, ManifestEntry] = {}
        epoch = 0
        for subtree in subtrees:
            part, epoch = await self._part(instance, range_of(subtree), page=_RANGE_PAGE)
            known.update(part)
        return known, epoch

    async def _part(self, instance: InstanceId, part: PathRange, *, page: int) -> tuple[dict[str, ManifestEntry], int]:
        known: dict[str, ManifestEntry] = {}
        after = part.after
        while True:
            request = ManifestRequest(instance=instance, after=after, limit=page)
            reply = await self._bus.request(MANIFEST, request)
            known.update((entry.path, entry) for entry in reply.entries if entry.path <= part.last)
            if reply.complete or not reply.entries or reply.entries[-1].path > part.last:
                return known, reply.epoch
            after = reply.entries[-1].path
