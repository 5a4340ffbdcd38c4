"""A gateway on a bus in memory, with services that answer from what a test gives them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import msgspec

from services.mcp_gateway.service import service
from shared import megabrain_messages as mb
from shared import messages as m
from shared import subjects
from shared.bus import Bus, Endpoint, ServiceContract
from shared.bus_memory import MemoryBus
from shared.excerpts import Excerpt
from shared.settings import Settings, ensure_home, load_settings
from shared.stack_file import StackFile, read_stack_file
from tests.support.knowledge_samples import KNOWLEDGE_SAMPLES
from tests.support.samples import ACTIVITY, ARTIFACT
from tests.support.trees import write_tree

PROJECT_ID = "3f2b8c1e-5d7a-4e0f-9b6c-1a2d3e4f5a6b"
OTHER_ID = "8a7b6c5d-4e3f-4a2b-8c1d-0e9f8a7b6c5d"

WRITTEN = mb.ActivityWritten(activity=ACTIVITY)
PUBLISHED = mb.ArtifactWritten(artifact=ARTIFACT, is_new=True)
KNOWN = {type(one): one for one in KNOWLEDGE_SAMPLES}
KNOWLEDGE_TOOLS = (subjects.KNOWLEDGE_SEARCH, subjects.RECALL, subjects.REMEMBER, subjects.FORGET)


class Services:
    """Fake indexer, query and watcher; every request is kept, replies can be replaced."""

    def __init__(self) -> None:
        self.asked: list[m.Message] = []
        self.search = m.SearchReply(
            query="q",
            mode="auto",
            project="shop",
            results=(),
            lanes={},
            pending=m.Pending(text=0, vectors=0),
            total=0,
            took_ms=1.0,
        )
        self.progress = m.IndexProgress(
            text_pending=0,
            documents=2,
            chunks=3,
            vectors_ready=3,
            vectors_missing=0,
            texts_failed=0,
            text_done=0,
            bytes_done=0,
            embedded=0,
        )
        self.status = m.StatusReply(
            project="shop", root="/shop", state="ready", documents=2, chunks=3, by_kind={"docs": 2}, vectors_ready=3,
            vectors_missing=0, skipped={"denied": 1}, failed=(), model_id="minilm", index_bytes=4_096,
        )  # fmt: skip
        self.listing = m.ListingPage(rows=(), complete=True)
        self.tree = m.TreeReconciled(walked=3, announced=1, took_ms=1.0)
        self.walk_may_end = anyio.Event()
        self.walk_may_end.set()

    def contracts(self) -> tuple[ServiceContract, ...]:
        """Give what the fakes answer."""

        async def walked(_: m.Message) -> m.Message:
            await self.walk_may_end.wait()
            return self.tree

        return (
            self._contract(subjects.QUERY, {
                subjects.SEARCH: lambda: self.search, subjects.STATUS: lambda: self.status,
                subjects.LISTING: lambda: self.listing,
            }),
            self._contract(subjects.INDEXER, {
                subjects.PROGRESS: lambda: self.progress, subjects.REBUILD: lambda: m.RebuildStarted(epoch=2),
            }),
            ServiceContract(
                name=subjects.WATCHER, description="walks",
                endpoints=(Endpoint(route=subjects.RECONCILE, handle=self._noted(walked)),),
            ),
            self._contract(subjects.MEGABRAIN, {
                subjects.ACTIVITY_ADD: lambda: WRITTEN, subjects.ACTIVITY_UPDATE: lambda: WRITTEN,
                subjects.ACTIVITIES: lambda: mb.Activities(project="shop", activities=(ACTIVITY,), total=1, counts={}),
                subjects.ACTIVITY: lambda: mb.ActivityText(activity=ACTIVITY, text="olá", offset=0, total_chars=3),
                subjects.ARTIFACT_ADD: lambda: PUBLISHED, subjects.ARTIFACT_LINK: lambda: PUBLISHED,
                subjects.ARTIFACTS: lambda: mb.Artifacts(project="shop", artifacts=(ARTIFACT,), total=1),
            }),
            self._contract(
                subjects.KNOWLEDGE, {route: partial(KNOWN.__getitem__, route.reply) for route in KNOWLEDGE_TOOLS}
            ),
        )  # fmt: skip

    def _contract(self, name: str, replies: dict[Any, Callable[[], m.Message]]) -> ServiceContract:
        def handler(reply: Callable[[], m.Message]) -> Callable[[m.Message], Awaitable[m.Message]]:
            async def handle(_: m.Message) -> m.Message:
                return reply()

            return self._noted(handle)

        endpoints = tuple(Endpoint(route=route, handle=handler(reply)) for route, reply in replies.items())
        return ServiceContract(name=name, description="fake", endpoints=endpoints)

    def _noted(self, handle: Callable[[Any], Awaitable[m.Message]]) -> Callable[[Any], Awaitable[m.Message]]:
        async def noted(message: m.Message) -> m.Message:
            self.asked.append(message)
            return await handle(message)

        return noted


def make_settings(folder: Path) -> Settings:
    """Give settings with an empty home of its own."""
    settings = load_settings({"home": str(folder / "home" / ".kx")}, {"HOME": str(folder / "home")})
    ensure_home(settings)
    return settings


def make_project(root: Path, *, project_id: str | None = PROJECT_ID) -> Path:
    """Write a small project; without an id it asks for no assertion."""
    config: dict[str, Any] = {"project": "shop"} | ({"mcp": {"projectId": project_id}} if project_id else {})
    files: dict[str, str | bytes] = {
        ".kx.json": msgspec.json.encode(config),
        "docs/guide.md": "# Guide\n\nEverything about the breaker.\n",
        "sub/deep/a.py": "A = 1\n",
        ".env": "SECRET=canary-9d1f\n",
        ".vault/private/diary.md": "canary-9d1f\n",
    }
    return write_tree(root, files)


@asynccontextmanager
async def fake_services() -> AsyncIterator[tuple[MemoryBus, Services]]:
    """Give a bus on which fakes answer."""
    fakes = Services()
    async with MemoryBus() as bus, AsyncExitStack() as serving:
        for contract in fakes.contracts():
            await serving.enter_async_context(bus.serve(contract))
        yield bus, fakes


@asynccontextmanager
async def running_gateway(bus: Bus, settings: Settings) -> AsyncIterator[StackFile]:
    """Run the gateway on a bus; give where it can be reached."""
    async with service(bus, settings):
        found = read_stack_file(settings.run_dir)
        assert found is not None
        yield found


def make_hit(path: str = "docs/guide.md", text: str = "# Guide\n", **fields: Any) -> m.Hit:
    """Make a result as a budgeted answer has it: its whole passage is its excerpt."""
    last = 1 + text.count("\n")
    given: dict[str, Any] = {
        "kind": "docs",
        "start_line": 1,
        "end_line": last,
        "score": 1.25,
        "origin": "both",
        "heading": "",
        "excerpt": Excerpt(start_line=1, end_line=last, text=text),
    }
    return m.Hit(path=path, text="", **(given | fields))
