"""Knowledge with everything that is searched behind it, on a bus in memory; mostly with a stand-in for the model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from services.embedder.service import service as embedder
from services.indexer.service import service as indexer
from services.knowledge.service import service as knowledge
from services.query.service import service as query
from services.watcher.service import service as watcher
from shared.bus import Bus
from shared.bus_memory import MemoryBus
from shared.identity import InstanceId
from shared.knowledge_messages import Caller, KnowledgeReply, SearchKnowledge
from shared.messages import IndexProgress, ProgressRequest
from shared.model import locate_model
from shared.project_config import load_project_config
from shared.registry import Project, Registry
from shared.settings import Settings, ensure_home
from shared.subjects import KNOWLEDGE_SEARCH, PROGRESS
from tests.support.configs import make_root, make_settings
from tests.support.fake_encoder import FakeEncoder
from tests.support.knowledge_bench import Asker, Clock


class KnowledgeProduct:
    """A home folder, and the services over it."""

    def __init__(self, home: Path, *, has_model: bool = False, **environ: str) -> None:
        self.home = home
        self.has_model = has_model
        self.settings: Settings = make_settings(home, **environ)
        ensure_home(self.settings)
        self.clock = Clock()
        self.encoder = FakeEncoder(model_id=locate_model(None).model_id)

    @asynccontextmanager
    async def serving(self, *, indexes: bool = True, searches: bool = True) -> AsyncIterator[Asker]:
        """Run them; asks as the user of the machine."""
        async with AsyncExitStack() as entered:
            bus = await entered.enter_async_context(MemoryBus())
            if searches:
                encoder = None if self.has_model else self.encoder
                await entered.enter_async_context(query(bus, self.settings, encoder=encoder))
                await entered.enter_async_context(watcher(bus, self.settings, follow=False))
            if indexes:
                bulk = None if self.has_model else (lambda: self.encoder)
                await entered.enter_async_context(embedder(bus, self.settings, open_encoder=bulk))
                await entered.enter_async_context(indexer(bus, self.settings, mode="test"))
            await entered.enter_async_context(knowledge(bus, self.settings, now=self.clock, is_once=True))
            yield Asker(bus, self.settings, Caller(client="test"))

    def tree(self, name: str) -> Project:
        """Give a derived tree by its name."""
        found = Registry(self.settings).find(self.settings.spaces_dir / name)
        assert found is not None
        return found

    def files(self, name: str) -> dict[str, str]:
        """Read the texts of a derived tree, by the name of the file."""
        return {path.name: path.read_text() for path in (self.settings.spaces_dir / name / "kb").rglob("*.*")}

    def project(self, config: object = None) -> Project:
        """Register a project."""
        root = make_root(self.home, config=config)
        return Registry(self.settings).enrol(root, load_project_config(root, self.settings))

    def holding(self, text: str) -> list[str]:
        """Name the files of the home in which a text stands."""
        found = [path for path in self.settings.home.rglob("*") if path.is_file()]
        return sorted(str(path.relative_to(self.settings.home)) for path in found if text.encode() in path.read_bytes())


async def search(asker: Asker, query: str, **fields: Any) -> KnowledgeReply:
    """Search knowledge bases as somebody."""
    asked = SearchKnowledge(caller=asker.caller, query=query, **fields)
    return await asker.ask(KNOWLEDGE_SEARCH, asked)


async def titles(asker: Asker, query: str, **fields: Any) -> list[str]:
    """Name what is found, best first."""
    return [hit.title for hit in (await search(asker, query, **fields)).results]


async def indexed(bus: Bus, instance: InstanceId) -> IndexProgress:
    """Wait until nothing of a tree is left to read, to embed or to erase."""
    with anyio.fail_after(30):
        while True:
            asked = ProgressRequest(instance=instance, until="vectors", wait_ms=200)
            found = await bus.request(PROGRESS, asked, timeout_s=30)
            if not found.text_pending and not found.vectors_missing and not found.upkeep:
                return found
