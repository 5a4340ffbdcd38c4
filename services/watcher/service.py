"""Own the file system: walk a tree, compare it with what is known, announce the differences.

RECONCILE   ReconcileTree   → walk, compare with the manifest → PathsTouched to the indexer   → TreeReconciled
SURVEY      SurveyTree      → walk, compare with the manifest                                 → TreeSurveyed
"""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio import to_thread
from msgspec import Struct

from services.watcher.adapters.walk import walk
from services.watcher.core.manifest import differences
from shared.bus import Bus, Endpoint, ServiceContract
from shared.config_watch import ConfigWatch
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.messages import (
    MAX_TOUCHED_PATHS,
    FinishRebuild,
    ManifestEntry,
    ManifestRequest,
    PathsTouched,
    ReconcileTree,
    SurveyTree,
    TreeReconciled,
    TreeSurveyed,
    Urgency,
)
from shared.registry import Registry
from shared.runtime import health_endpoint
from shared.settings import Settings
from shared.subjects import FINISH_REBUILD, MANIFEST, RECONCILE, SURVEY, TOUCHED, WATCHER
from shared.treerules import TreeRules

BUSY_PAUSE_S = 0.2  # the indexer's queue is full: it empties thousands of paths a second
WALKS_AT_ONCE = 2  # a walk is bound by the disk; more would only seek

_SHUT = "the root {root} is not there"


class Compared(Struct, frozen=True, kw_only=True):
    """A walk beside the manifest."""

    walked: int
    paths: list[str]  # what differs
    epoch: int  # of the manifest


class Watcher:
    """Walks on request."""

    def __init__(self, bus: Bus, settings: Settings) -> None:
        self._bus = bus
        self._settings = settings
        self._registry = Registry(settings)
        self._configs: dict[InstanceId, ConfigWatch] = {}
        self._walks = anyio.CapacityLimiter(WALKS_AT_ONCE)

    def contract(self) -> ServiceContract:
        """Name what this service answers."""
        return ServiceContract(
            name=WATCHER,
            description="file system walks",
            endpoints=(
                Endpoint(route=RECONCILE, handle=self.reconcile),
                Endpoint(route=SURVEY, handle=self.survey),
                health_endpoint(WATCHER),
            ),
        )

    async def reconcile(self, message: ReconcileTree) -> TreeReconciled:
        """Announce every difference; the reply means that the indexer has accepted them all. Idempotent.

        Raises:
            KxError: ROOT_MISSING, so that an unreadable or vanished root is never taken for an empty tree.
        """
        started = time.monotonic()
        compared = await self._compare(message.instance, message.subtrees, force=message.force)
        for start in range(0, len(compared.paths), MAX_TOUCHED_PATHS):
            await self._announce(message.instance, compared.paths[start : start + MAX_TOUCHED_PATHS], message.urgency)
        if "" in message.subtrees:
            await self._bus.request(FINISH_REBUILD, FinishRebuild(instance=message.instance, epoch=compared.epoch))
        took_ms = (time.monotonic() - started) * 1000
        return TreeReconciled(walked=compared.walked, announced=len(compared.paths), took_ms=took_ms)

    async def survey(self, message: SurveyTree) -> TreeSurveyed:
        """Count the differences; a missing root is an answer, not an error."""
        try:
            compared = await self._compare(message.instance, ("",), force=False)
        except KxError as error:
            if error.code is not ErrorCode.ROOT_MISSING:
                raise
            return TreeSurveyed(walked=0, behind=0, root_missing=True)
        return TreeSurveyed(walked=compared.walked, behind=len(compared.paths))

    async def _compare(self, instance: InstanceId, subtrees: tuple[str, ...], *, force: bool) -> Compared:
        project = await to_thread.run_sync(self._registry.get, instance)
        root = Path(project.root)
        config = self._configs.setdefault(instance, ConfigWatch(root, self._settings))
        # The manifest first: what changes while walking is then announced once too often, never missed.
        known, epoch = await self._manifest(instance)
        met = await self._walk(root, TreeRules(root, config.current().config.rules()), subtrees)
        return Compared(walked=len(met), paths=differences(known, met, subtrees, force=force), epoch=epoch)

    async def _manifest(self, instance: InstanceId) -> tuple[dict[str, ManifestEntry], int]:
        known: dict[str, ManifestEntry] = {}
        after = ""
        while True:
            page = await self._bus.request(MANIFEST, ManifestRequest(instance=instance, after=after))
            known.update((entry.path, entry) for entry in page.entries)
            if page.complete or not page.entries:
                return known, page.epoch
            after = page.entries[-1].path

    async def _walk(self, root: Path, rules: TreeRules, subtrees: Sequence[str]) -> list[ManifestEntry]:
        stop = threading.Event()

        def walk_all() -> list[ManifestEntry]:
            return [
                ManifestEntry(path=entry.path, size=entry.size, mtime_ns=entry.mtime_ns)
                for entry in walk(root, rules, subtrees, stop.is_set)
            ]

        try:
            return await to_thread.run_sync(walk_all, limiter=self._walks)
        finally:
            stop.set()

    async def _announce(self, instance: InstanceId, paths: list[str], urgency: Urgency) -> None:
        message = PathsTouched(instance=instance, paths=tuple(paths), urgency=urgency, reason="walk")
        while True:
            try:
                await self._bus.request(TOUCHED, message)
            except KxError as error:
                if error.code is not ErrorCode.INDEX_BUSY:
                    raise
                await anyio.sleep(BUSY_PAUSE_S)
            else:
                return


@asynccontextmanager
async def service(bus: Bus, settings: Settings) -> AsyncIterator[None]:
    """Serve while entered."""
    async with bus.serve(Watcher(bus, settings).contract()):
        yield
