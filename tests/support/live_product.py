"""One tree that is followed, indexed and searched in this process, with real events and a stand-in for the model."""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
from anyio import to_thread

from services.embedder.service import service as embedder
from services.indexer.service import service as indexer
from services.query.service import service as query
from services.watcher.adapters.watch import Watch, watch_tree
from services.watcher.follower import Pace
from services.watcher.service import service as watcher
from shared.bus import Bus
from shared.bus_memory import MemoryBus
from shared.messages import (
    Hit,
    ProgressRequest,
    ReconcileTree,
    SearchReply,
    SearchRequest,
    ServiceStatus,
    ServiceStatusRequest,
    SurveyTree,
    TreeSurveyed,
)
from shared.model import locate_model
from shared.project_config import load_project_config
from shared.registry import Project, Registry
from shared.settings import Settings, ensure_home
from shared.subjects import PROGRESS, RECONCILE, SEARCH, SURVEY, WATCHER, service_status
from tests.support.fake_encoder import FakeEncoder
from tests.support.index_facts import IndexFacts, facts_of

LOOK_S = 0.02


class LiveProduct:
    """What stands outside sees of it."""

    def __init__(self, bus: Bus, project: Project, base: Path) -> None:
        self._base = base
        self.bus = bus
        self.project = project
        self.root = project.root_path

    async def search(self, query: str, *, top: int = 10, explain: bool = False) -> SearchReply:
        """Ask the lexical lane."""
        message = SearchRequest(instance=self.project.instance, query=query, top=top, mode="lexical", explain=explain)
        return await self.bus.request(SEARCH, message, timeout_s=30)

    async def hits(self, query: str, *, top: int = 10) -> tuple[Hit, ...]:
        """Give what is found."""
        return (await self.search(query, top=top)).results

    async def finds(self, query: str, path: str) -> bool:
        """Tell whether a file is among what is found."""
        return any(hit.path == path for hit in await self.hits(query))

    async def within(self, seconds: float, condition: Callable[[], Awaitable[bool]]) -> float | None:
        """Give the seconds until something became true, None if it did not in time."""
        started = time.monotonic()
        while (took := time.monotonic() - started) <= seconds:
            if await condition():
                return took
            await anyio.sleep(LOOK_S)
        return None

    async def equals_fresh(self, seconds: float) -> float | None:
        """Give the seconds until the index is what a new one of the tree as it stands would be; None if never.

        Building the new one counts: the seconds are at most those.
        """
        started = time.monotonic()
        fresh = await index_anew(self.root, self._base)

        async def is_equal() -> bool:
            found = await self.facts()
            return (found.rows, found.chunks, found.postings) == (fresh.rows, fresh.chunks, fresh.postings)

        is_reached = await self.within(seconds, is_equal) is not None
        return time.monotonic() - started if is_reached else None

    async def facts(self) -> IndexFacts:
        """Read the index."""
        return await to_thread.run_sync(facts_of, self.project.index_path, self.project.instance)

    async def paths(self) -> set[str]:
        """Give the files that have passages in the index."""
        return {str(row[0]) for row in (await self.facts()).rows if row[4] is not None}

    async def health(self) -> ServiceStatus:
        """Ask how the watcher is."""
        return await self.bus.request(service_status(WATCHER), ServiceStatusRequest())

    async def survey(self) -> TreeSurveyed:
        """Ask how far the index is behind, as far as events tell."""
        return await self.bus.request(SURVEY, SurveyTree(instance=self.project.instance, walk=False))

    async def is_followed(self) -> bool:
        """Tell whether events of the tree are heard."""
        return (await self.survey()).is_followed

    async def reconcile(self) -> None:
        """Walk, and wait for the words."""
        await self.bus.request(RECONCILE, ReconcileTree(instance=self.project.instance), timeout_s=60)
        with anyio.fail_after(60):
            message = ProgressRequest(instance=self.project.instance, until="text", wait_ms=1_000)
            while (await self.bus.request(PROGRESS, message, timeout_s=60)).text_pending:
                continue


@asynccontextmanager
async def live_product(
    root: Path, base: Path, *, follow: bool = True, watch: Watch = watch_tree, pace: Pace | None = None
) -> AsyncIterator[LiveProduct]:
    """Serve a tree; entered, its words are indexed and, with `follow`, its events are heard."""
    settings = Settings(home=base / "home", user_home=base, xdg_config_home=base / ".config")
    ensure_home(settings)
    registry = Registry(settings)
    project = registry.find(root) or registry.enrol(root, load_project_config(root, settings))
    encoder = FakeEncoder(model_id=locate_model(None).model_id)
    async with AsyncExitStack() as stack:
        bus = await stack.enter_async_context(MemoryBus())
        await stack.enter_async_context(query(bus, settings, encoder=encoder))
        await stack.enter_async_context(embedder(bus, settings, open_encoder=lambda: encoder))
        await stack.enter_async_context(indexer(bus, settings, mode="test"))
        await stack.enter_async_context(watcher(bus, settings, follow=follow, watch=watch, pace=pace))
        live = LiveProduct(bus, project, base)
        await live.reconcile()
        if follow and watch is watch_tree:
            await live.within(60, live.is_followed)
        yield live


async def index_anew(root: Path, base: Path) -> IndexFacts:
    """Index a tree into a home that is new each time; give what the index holds."""
    folder = Path(tempfile.mkdtemp(prefix="anew", dir=base))
    async with live_product(root, folder, follow=False) as fresh:
        return await fresh.facts()
