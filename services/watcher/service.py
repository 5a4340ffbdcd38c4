"""Own the file system: notice what changes, walk trees, compare them with what is known, announce the differences.

(events)         of every registered tree   → coalesce, look                     → PathsTouched to the indexer
RECONCILE        ReconcileTree              → walk, compare with the manifest    → PathsTouched   → TreeReconciled
SURVEY           SurveyTree                 → walk, compare with the manifest                     → TreeSurveyed
INDEXER_STARTED  IndexerStarted             → reconcile every followed tree                       → –
health           ServiceStatusRequest                                                             → ServiceStatus
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol, runtime_checkable

import anyio
from anyio import to_thread

from services.watcher.adapters.registry_watch import RegistryWatch
from services.watcher.adapters.tree import WatchedTree
from services.watcher.adapters.watch import Watch, watch_tree
from services.watcher.announcer import FIRST_RETRY_S
from services.watcher.comparison import Compared, Comparison
from services.watcher.core.batches import batches
from services.watcher.follower import Follower, Pace
from services.watcher.following import Following
from shared.bus import Bus, Endpoint, Listener, ServiceContract
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.messages import (
    FinishRebuild,
    FolderCount,
    IndexerStarted,
    PathsTouched,
    ReconcileTree,
    SurveyTree,
    TreeReconciled,
    TreeSurveyed,
    Urgency,
)
from shared.registry import Project, Registry
from shared.runtime import health_endpoint
from shared.settings import Settings
from shared.subjects import FINISH_REBUILD, INDEXER_STARTED, RECONCILE, SURVEY, TOUCHED, WATCHER


@runtime_checkable
class GappedBus(Protocol):
    """A bus that tells when it was away."""

    async def wait_gap(self, seen: int) -> int:
        """Return once it was away more than `seen` times."""
        ...


@asynccontextmanager
async def service(
    bus: Bus, settings: Settings, *, follow: bool = True, watch: Watch = watch_tree, pace: Pace | None = None
) -> AsyncIterator[None]:
    """Serve while entered; without `follow` it only walks when asked, for commands that run once."""
    watcher = Watcher(bus, settings, watch=watch, pace=pace or Pace())
    async with anyio.create_task_group() as tasks:
        async with bus.serve(watcher.contract()):
            if follow:
                tasks.start_soon(watcher.following.run)
                tasks.start_soon(watcher.hear_of_gaps)
            yield
        tasks.cancel_scope.cancel()


class Watcher:
    """Walks on request, and follows."""

    def __init__(self, bus: Bus, settings: Settings, *, watch: Watch, pace: Pace) -> None:
        self._bus = bus
        self._settings = settings
        self._registry = Registry(settings)
        self._trees: dict[InstanceId, WatchedTree] = {}
        self._comparison = Comparison(bus)

        async def follower(project: Project) -> Follower:
            tree = await to_thread.run_sync(WatchedTree, project, settings)
            return Follower(bus, tree, self._comparison, watch=watch, pace=pace)

        self.following = Following(RegistryWatch(settings), follower, pace)

    def contract(self) -> ServiceContract:
        """Name what this service answers and hears."""
        return ServiceContract(
            name=WATCHER,
            description="file system events and walks",
            endpoints=(
                Endpoint(route=RECONCILE, handle=self.reconcile),
                Endpoint(route=SURVEY, handle=self.survey),
                health_endpoint(WATCHER, lambda: self.following.trouble),
            ),
            listeners=(Listener(route=INDEXER_STARTED, handle=self.indexer_started),),
        )

    async def reconcile(self, message: ReconcileTree) -> TreeReconciled:
        """Announce every difference; the reply means that the indexer has accepted them all. Idempotent.

        Raises:
            KxError: ROOT_MISSING, so that an unreadable or vanished root is never taken for an empty tree.
        """
        started = time.monotonic()
        self.following.follower(message.instance)  # one it does not know yet may be new in the registry
        compared = await self._compare(message.instance, message.subtrees, force=message.force)
        await self._announce(message.instance, compared.paths, message.urgency)
        if "" in message.subtrees:
            await self._bus.request(FINISH_REBUILD, FinishRebuild(instance=message.instance, epoch=compared.epoch))
        took_ms = (time.monotonic() - started) * 1000
        return TreeReconciled(walked=compared.walked, announced=len(compared.paths), took_ms=took_ms)

    async def survey(self, message: SurveyTree) -> TreeSurveyed:
        """Count the differences; a missing root is an answer, not an error."""
        follower = self.following.follower(message.instance)
        held = follower.held if follower is not None else 0
        is_followed = follower is not None and follower.state == "following"
        trouble = follower.trouble if follower is not None else ""
        is_missing = follower is not None and follower.state == "root_missing"
        walked, behind = 0, held
        largest: tuple[FolderCount, ...] = ()
        if message.walk:
            try:
                compared = await self._compare(message.instance, ("",), force=False)
                walked, behind, is_missing = compared.walked, len(compared.paths), False
                largest = compared.largest
            except KxError as error:
                if error.code is not ErrorCode.ROOT_MISSING:
                    raise
                behind, is_missing = 0, True
        return TreeSurveyed(
            walked=walked,
            behind=behind,
            root_missing=is_missing,
            held=held,
            is_followed=is_followed,
            trouble=trouble,
            largest=largest,
        )

    async def indexer_started(self, _: IndexerStarted) -> None:
        """Reconcile: what the indexer before it had accepted may not be on disk."""
        self.following.reconcile_all(is_indexer_new=True)

    async def hear_of_gaps(self) -> None:
        """Reconcile after every gap of the bus: an indexer may have started without being heard."""
        seen = 0
        while isinstance(self._bus, GappedBus):
            seen = await self._bus.wait_gap(seen)
            self.following.reconcile_all(is_indexer_new=True)

    async def _compare(self, instance: InstanceId, subtrees: tuple[str, ...], *, force: bool) -> Compared:
        project = await to_thread.run_sync(self._registry.tree, instance)
        tree = self._trees.get(instance)
        if tree is None or tree.project != project:
            tree = self._trees[instance] = await to_thread.run_sync(WatchedTree, project, self._settings)
        return await self._comparison.compare(tree, subtrees, force=force)

    async def _announce(self, instance: InstanceId, paths: list[str], urgency: Urgency) -> None:
        for batch in batches(paths):
            message = PathsTouched(instance=instance, paths=tuple(batch), urgency=urgency, reason="walk")
            await self._request_patiently(message)

    async def _request_patiently(self, message: PathsTouched) -> None:
        while True:
            try:
                await self._bus.request(TOUCHED, message)
            except KxError as error:
                if error.code is not ErrorCode.INDEX_BUSY:
                    raise
                await anyio.sleep(FIRST_RETRY_S)
            else:
                return
