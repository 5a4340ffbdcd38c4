"""The indexer as one service on the in-memory bus, with a counted, steerable embedder beside it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from services.indexer.embed_flow import HARMLESS_TEXT
from services.indexer.service import service as indexer
from shared.bus import Endpoint, ServiceContract
from shared.bus_memory import MemoryBus
from shared.errors import ErrorCode, KxError
from shared.messages import (
    EmbedTexts,
    IndexProgress,
    PathsTouched,
    ProgressRequest,
    TextsEmbedded,
    Upto,
    Urgency,
    VectorItem,
)
from shared.project_config import load_project_config
from shared.registry import Project, Registry
from shared.settings import Settings, ensure_home, load_settings
from shared.subjects import EMBED, EMBEDDER, PROGRESS, TOUCHED
from shared.vectors import vector_to_bytes
from tests.support.fake_encoder import FakeEncoder

DEADLINE_S = 60.0
ENDS_AFTER_S = 1.0  # an embedder that hangs ends itself; longer than any test waits for one request


class SteeredEmbedder:
    """Embeds with the fake encoder; can be told to be away or to give nonsense for texts that hold a word."""

    def __init__(self) -> None:
        self.asked: list[str] = []  # every text, in the order embedded
        self.is_away = False
        self.nonsense: dict[str, bytes] = {}  # word -> vector bytes given in place of the right ones
        self.hangs_on: set[str] = set()  # words
        self.dies_on: set[str] = set()
        self._encoder = FakeEncoder()

    async def embed(self, message: EmbedTexts) -> TextsEmbedded:
        """Answer as the embedder does."""
        if self.is_away:
            raise KxError(ErrorCode.EMBEDDER_FAILED, "away", retryable=True)
        texts = [item.text for item in message.items]
        if any(word in text for text in texts for word in self.hangs_on):
            await anyio.sleep(ENDS_AFTER_S)
            raise KxError(ErrorCode.SERVICE_UNAVAILABLE, "it hung and was ended", retryable=True)
        if any(word in text for text in texts for word in self.dies_on):
            raise KxError(ErrorCode.SERVICE_UNAVAILABLE, "killed", retryable=True)
        self.asked += [text for text in texts if text != HARMLESS_TEXT]
        rows = self._encoder.encode(texts)
        items = []
        for item, row in zip(message.items, rows, strict=True):
            bad = [data for word, data in self.nonsense.items() if word in item.text]
            items.append(VectorItem(text_hash=item.text_hash, vector=bad[0] if bad else vector_to_bytes(row)))
        return TextsEmbedded(model_id=message.model_id, items=tuple(items))


class Indexing:
    """A project being indexed."""

    def __init__(self, bus: MemoryBus, project: Project, embedder: SteeredEmbedder) -> None:
        self.bus = bus
        self.project = project
        self.embedder = embedder

    async def touch(self, *paths: str, urgency: Urgency = "bulk") -> None:
        """Announce paths as the watcher does."""
        await self.bus.request(TOUCHED, PathsTouched(instance=self.project.instance, paths=paths, urgency=urgency))

    async def until(self, upto: Upto) -> IndexProgress:
        """Wait until the work is done."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            message = ProgressRequest(instance=self.project.instance, until=upto, wait_ms=1_000)
            progress = await self.bus.request(PROGRESS, message)
            is_done = not progress.text_pending and (
                upto == "text" or progress.vectors_missing <= progress.texts_failed
            )
            if is_done or time.monotonic() > deadline:
                return progress


@asynccontextmanager
async def indexing(root: Path, home: Path) -> AsyncIterator[Indexing]:
    """Serve the indexer for one registered root."""
    settings: Settings = load_settings({"home": str(home)}, {"HOME": str(home.parent)})
    ensure_home(settings)
    project = Registry(settings).enrol(root, load_project_config(root, settings))
    embedder = SteeredEmbedder()
    contract = ServiceContract(
        name=EMBEDDER, description="steered", endpoints=(Endpoint(route=EMBED, handle=embedder.embed),)
    )
    async with MemoryBus() as bus, bus.serve(contract), indexer(bus, settings):
        yield Indexing(bus, project, embedder)
