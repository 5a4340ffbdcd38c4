"""What megabrain writes is found by search at once, with the real indexer and read side and nobody watching."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.embedder.service import service as embedder
from services.indexer.service import service as indexer
from services.megabrain.service import service as megabrain
from services.query.service import service as query
from shared.bus_memory import MemoryBus
from shared.megabrain_messages import AddArtifact
from shared.messages import ProgressRequest, SearchRequest
from shared.subjects import ARTIFACT_ADD, PROGRESS, SEARCH
from tests.support.megabrain_bench import Asker, Bench

pytestmark = pytest.mark.anyio


async def test_activity_and_artifact_are_found_at_once(tmp_path: Path):
    """Mission 6, R-MEM-9: no walk and no watcher comes between a note and its being found."""
    bench = Bench(tmp_path)
    settings = bench.settings
    async with (
        MemoryBus() as bus,
        query(bus, settings),
        embedder(bus, settings),
        indexer(bus, settings, mode="test", embeds_when_asked=True),
        megabrain(bus, settings),
    ):
        ask = Asker(bus, bench.instance)

        async def found(words: str) -> list[str]:
            await bus.request(
                PROGRESS, ProgressRequest(instance=bench.instance, until="text", wait_ms=5_000), timeout_s=6
            )
            message = SearchRequest(instance=bench.instance, query=words, mode="lexical")
            return [hit.path for hit in (await bus.request(SEARCH, message, timeout_s=10)).results]

        await ask.add("Retentativa", description="canario amarelo")
        assert ".vault/megabrain/retentativa.md" in await found("canario amarelo")
        await ask.update("1", "elefante azul")
        assert (await found("elefante azul"))[0] == ".vault/megabrain/retentativa.md"
        await ask.ask(ARTIFACT_ADD, AddArtifact, url="https://example.org/p", title="girafa listrada")
        assert ".vault/ARTEFATOS.md" in await found("girafa listrada")
