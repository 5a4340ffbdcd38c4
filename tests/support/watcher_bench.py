"""A watcher over real trees, with a stand-in for the indexer and the read side: what its tests follow."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread

from services.watcher.adapters.watch import Watch, watch_tree
from services.watcher.follower import Pace
from services.watcher.service import service
from shared.bus import Bus, Endpoint, ServiceContract
from shared.bus_memory import MemoryBus
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.messages import (
    Accepted,
    FinishRebuild,
    IndexerStarted,
    ManifestEntry,
    ManifestPage,
    ManifestRequest,
    PathsTouched,
    ReconcileTree,
    ServiceStatus,
    ServiceStatusRequest,
    SurveyTree,
    TouchAccepted,
    TreeReconciled,
    TreeSurveyed,
)
from shared.project_config import load_project_config
from shared.registry import Project, Registry
from shared.relpath import decode_path
from shared.settings import Settings, ensure_home
from shared.subjects import (
    FINISH_REBUILD,
    INDEXER,
    INDEXER_STARTED,
    MANIFEST,
    QUERY,
    RECONCILE,
    SURVEY,
    TOUCHED,
    WATCHER,
    service_status,
)
from shared.treerules import TreeRules
from tests.support.trees import make_rules

FAST = Pace(root_s=0.05, registry_s=0.05, reconcile_s=3_600.0, poll_s=0.1)
FREQUENT = Pace(root_s=0.05, registry_s=0.05, reconcile_s=0.2, poll_s=0.1)


class FakeIndex:
    """Accepts touched paths and does what disk and ignore files say, as the indexer and the read side would."""

    def __init__(self, roots: dict[InstanceId, Path]) -> None:
        self.messages: list[PathsTouched] = []
        self.finished: list[FinishRebuild] = []
        self.refusals: list[ErrorCode] = []  # answered one after the other before anything is taken
        self.known: dict[InstanceId, dict[str, ManifestEntry]] = {instance: {} for instance in roots}
        self.bulk_held = anyio.Event()  # a bulk announcement waits for its answer
        self._roots = roots
        self._changed = anyio.Event()
        self._bulk_free = anyio.Event()
        self._bulk_free.set()
        self._handling = anyio.Lock()

    def adopt(self, project: Project) -> None:
        """Keep an index for one more tree."""
        self._roots[project.instance] = project.root_path
        self.known[project.instance] = {}

    def hold_bulk(self) -> None:
        """Leave bulk announcements without an answer until `release_bulk`."""
        self._bulk_free = anyio.Event()

    def release_bulk(self) -> None:
        """Answer them."""
        self._bulk_free.set()

    def touched(self) -> list[str]:
        """Every path ever announced, in order."""
        return [path for message in self.messages for path in message.paths]

    def files(self, instance: InstanceId) -> set[str]:
        """The files it knows, without what was kept out."""
        return {path for path, entry in self.known[instance].items() if entry.mtime_ns}

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that can only come true when a message arrives."""
        while not condition():
            await self._changed.wait()

    @asynccontextmanager
    async def serving(self, bus: Bus, *, touched: bool = True) -> AsyncIterator[None]:
        """Answer for the read side and, with `touched`, for the indexer."""
        query = ServiceContract(
            name=QUERY, description="", endpoints=(Endpoint(route=MANIFEST, handle=self._manifest),)
        )
        indexer = ServiceContract(
            name=INDEXER,
            description="",
            endpoints=(
                Endpoint(route=TOUCHED, handle=self._touched),
                Endpoint(route=FINISH_REBUILD, handle=self._finish),
            ),
        )
        async with AsyncExitStack() as served:
            await served.enter_async_context(bus.serve(query))
            if touched:
                await served.enter_async_context(bus.serve(indexer))
                await bus.publish(INDEXER_STARTED, IndexerStarted())
            yield

    async def _touched(self, message: PathsTouched) -> TouchAccepted:
        if self.refusals:
            raise KxError(self.refusals.pop(0), "not now", retryable=True)
        if message.urgency == "bulk" and not self._bulk_free.is_set():
            self.bulk_held.set()
            await self._bulk_free.wait()
        async with self._handling:
            self.known[message.instance] = await anyio.to_thread.run_sync(self._handled, message)
        self.messages.append(message)
        self._tell()
        return TouchAccepted(queued=0)

    async def _finish(self, message: FinishRebuild) -> Accepted:
        self.finished.append(message)
        self._tell()
        return Accepted()

    async def _manifest(self, request: ManifestRequest) -> ManifestPage:
        later = sorted(path for path in self.known[request.instance] if path > request.after)
        page = later[: request.limit]
        entries = tuple(self.known[request.instance][path] for path in page)
        return ManifestPage(entries=entries, complete=len(page) == len(later), epoch=1)

    def _handled(self, message: PathsTouched) -> dict[str, ManifestEntry]:
        root, known = self._roots[message.instance], dict(self.known[message.instance])
        rules = make_rules(root)
        for path in message.paths:
            self._handle(known, root, path, rules)
        return known

    def _handle(self, known: dict[str, ManifestEntry], root: Path, path: str, rules: TreeRules) -> None:
        known.pop(path, None)
        try:
            status = os.lstat(os.fsencode(root) + b"/" + decode_path(path.rstrip("/")))
        except OSError:
            for below in [one for one in known if one.startswith(path.rstrip("/") + "/")]:
                del known[below]
            return
        if path.endswith("/"):
            known[path] = ManifestEntry(path, 0, 0)
        elif not stat.S_ISDIR(status.st_mode):
            verdict = rules.verdict(path, status)
            if verdict.admitted:
                known[path] = ManifestEntry(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            elif not verdict.pruned:
                known[path] = ManifestEntry(path, 0, 0)

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


class WatcherBench:
    """Registered trees below `folder`, and a watcher that follows them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = Settings(home=folder / "home", user_home=folder, xdg_config_home=folder / ".config")
        ensure_home(self.settings)
        self.registry = Registry(self.settings)
        self.root = folder / "tree"
        self.root.mkdir()
        self.project = self.register(self.root)

    def register(self, root: Path) -> Project:
        """Enrol a tree."""
        root.mkdir(exist_ok=True)
        return self.registry.enrol(root, load_project_config(root, self.settings))

    @asynccontextmanager
    async def following(
        self, *, watch: Watch = watch_tree, pace: Pace = FAST, indexer: bool = True, follow: bool = True
    ) -> AsyncIterator[Followed]:
        """Run the watcher; entered, the first walk is over (unless there is no `indexer`)."""
        projects = await anyio.to_thread.run_sync(self.registry.projects)
        index = FakeIndex({project.instance: project.root_path for project in projects})
        async with (
            MemoryBus() as bus,
            index.serving(bus, touched=indexer),
            service(bus, self.settings, follow=follow, watch=watch, pace=pace),
        ):
            if indexer and follow:
                await index.until(lambda: bool(index.finished))
            yield Followed(bus, self, index)


class Followed:
    """A running watcher, seen from outside."""

    def __init__(self, bus: Bus, bench: WatcherBench, index: FakeIndex) -> None:
        self.bus = bus
        self.index = index
        self.instance = bench.project.instance
        self.root = bench.root

    async def agrees(self, expected: Sequence[str]) -> None:
        """Wait until the index knows exactly these files, each as it is on disk."""

        def is_equal() -> bool:
            return {path: entry.mtime_ns for path, entry in self._files().items()} == self._on_disk(expected)

        await self.index.until(is_equal)

    def _files(self) -> dict[str, ManifestEntry]:
        return {path: entry for path, entry in self.index.known[self.instance].items() if entry.mtime_ns}

    def _on_disk(self, expected: Sequence[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for path in expected:
            try:
                found[path] = os.lstat(os.fsencode(self.root) + b"/" + decode_path(path)).st_mtime_ns
            except OSError:
                found[path] = -1
        return found

    async def survey(self, *, walk: bool = False) -> TreeSurveyed:
        """Ask how far the index is behind."""
        return await self.bus.request(SURVEY, SurveyTree(instance=self.instance, walk=walk))

    async def reconcile(self) -> TreeReconciled:
        """Ask for a walk."""
        return await self.bus.request(RECONCILE, ReconcileTree(instance=self.instance))

    async def health(self) -> ServiceStatus:
        """Ask how the watcher is."""
        return await self.bus.request(service_status(WATCHER), ServiceStatusRequest())

    async def marker(self, name: str = "marker.md") -> None:
        """Save a file and wait until it is announced: whatever was noticed before it has been announced too."""
        already = self.index.touched().count(name)
        (self.root / name).write_text(f"marker {already}")
        await self.index.until(lambda: self.index.touched().count(name) > already)
        await self.settled()

    async def settled(self) -> None:
        """Wait until nothing that was noticed is left to announce."""
        while (await self.survey()).held:
            await anyio.lowlevel.checkpoint()
