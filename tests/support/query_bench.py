"""A query service over one small index, on an in-memory bus: what the tests of the read side ask questions of."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from services.query.adapters.question_encoder import QueryEncoder
from services.query.service import service
from shared.bus import Bus
from shared.bus_memory import MemoryBus
from shared.messages import Hit, SearchReply, SearchRequest, StatusReply, StatusRequest
from shared.project_config import load_project_config
from shared.registry import Project, Registry
from shared.settings import Settings, ensure_home
from shared.subjects import SEARCH, STATUS
from tests.support.fake_encoder import FakeEncoder
from tests.support.index_builder import IndexBuilder


class QueryBench:
    """One enrolled tree under `folder` with its settings; `index` writes, `serving` answers."""

    def __init__(self, folder: Path, *, encoder: FakeEncoder | None = None) -> None:
        self.root = folder / "tree"
        self.root.mkdir()
        home = folder / "home"
        self.settings = Settings(home=home, user_home=folder, xdg_config_home=folder / ".config")
        ensure_home(self.settings)
        self.encoder = encoder or FakeEncoder()
        config = load_project_config(self.root, self.settings)
        self.project: Project = Registry(self.settings).enrol(self.root, config)

    def index(self) -> IndexBuilder:
        """Begin a new index; use it as a context."""
        return IndexBuilder(self.project.index_path, self.project.instance, self.root, encoder=self.encoder)

    def configure(self, text: str) -> None:
        """Write the project's `.kx.json`."""
        (self.root / ".kx.json").write_text(text)

    @asynccontextmanager
    async def serving(self, *, encoder: QueryEncoder | None = None) -> AsyncIterator[Asker]:
        """Run the service, with a stand-in for the model."""
        async with MemoryBus() as bus, service(bus, self.settings, encoder=encoder or self.encoder):
            yield Asker(bus, self.project)


class Asker:
    """Asks the service over the bus."""

    def __init__(self, bus: Bus, project: Project) -> None:
        self.bus = bus
        self.instance = project.instance

    async def search(self, query: str, **fields: Any) -> SearchReply:
        """Ask a question."""
        return await self.bus.request(SEARCH, SearchRequest(instance=self.instance, query=query, **fields))

    async def hits(self, query: str, **fields: Any) -> tuple[Hit, ...]:
        """Ask a question and give its results."""
        return (await self.search(query, **fields)).results

    async def paths(self, query: str, **fields: Any) -> list[str]:
        """Ask a question and give the paths of its results."""
        return [hit.path for hit in await self.hits(query, **fields)]

    async def status(self) -> StatusReply:
        """Ask what the index holds."""
        return await self.bus.request(STATUS, StatusRequest(instance=self.instance))
