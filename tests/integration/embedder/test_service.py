"""The embedder as a service: live before bulk between two parts, and an end where the model hangs."""

import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from services.embedder import service as embedder_module
from services.embedder.core.parts import PART_TEXTS
from services.embedder.service import service
from shared.bus_memory import MemoryBus
from shared.identity import text_hash
from shared.messages import EmbedTexts, TextItem, Urgency
from shared.runtime import EXIT_CRASHED
from shared.settings import load_settings
from shared.subjects import EMBED
from shared.vectors import EmbeddingMatrix
from tests.support.fake_encoder import FakeEncoder

pytestmark = pytest.mark.anyio


class HeldEncoder(FakeEncoder):
    """Stands still at its first run until it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.is_at_it = threading.Event()
        self.may_go_on = threading.Event()

    def encode(self, texts: Sequence[str]) -> EmbeddingMatrix:
        """Wait, the first time."""
        self.is_at_it.set()
        assert self.may_go_on.wait(20)
        return super().encode(texts)


def request(word: str, count: int, urgency: Urgency) -> EmbedTexts:
    texts = [f"{word} {number}" for number in range(count)]
    items = tuple(TextItem(text_hash=text_hash(text), text=text) for text in texts)
    return EmbedTexts(model_id=FakeEncoder().model_id, items=items, urgency=urgency)


@asynccontextmanager
async def embedding(folder: Path, encoder: FakeEncoder, **named: object) -> AsyncIterator[MemoryBus]:
    settings = load_settings({"home": str(folder)}, {"HOME": str(folder)})
    async with MemoryBus() as bus, service(bus, settings, open_encoder=lambda: encoder, **named):
        yield bus


async def test_live_request_goes_before_the_next_part_of_a_bulk_one(tmp_path: Path) -> None:
    """R-IDX-29: whatever bulk work is in hand and on its way, a save waits for one part of it."""
    encoder = HeldEncoder()
    replies = {}

    async def ask(bus: MemoryBus, word: str, count: int, urgency: Urgency) -> None:
        replies[word] = await bus.request(EMBED, request(word, count, urgency))

    async with embedding(tmp_path, encoder) as bus, anyio.create_task_group() as tasks:
        tasks.start_soon(ask, bus, "bulk", 3 * PART_TEXTS, "bulk")
        assert await to_thread.run_sync(encoder.is_at_it.wait, 20)
        tasks.start_soon(ask, bus, "other", 3 * PART_TEXTS, "bulk")
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(ask, bus, "live", 1, "live")
        await anyio.wait_all_tasks_blocked()
        encoder.may_go_on.set()
    order = [text.split()[0] for text in encoder.encoded]
    assert order == ["bulk"] * PART_TEXTS + ["live"] + ["bulk"] * 2 * PART_TEXTS + ["other"] * 3 * PART_TEXTS
    assert {word: len(reply.items) for word, reply in replies.items()} == {
        "bulk": 3 * PART_TEXTS,
        "other": 3 * PART_TEXTS,
        "live": 1,
    }


async def test_model_that_hangs_ends_its_process_and_one_at_work_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row F12: a part that finds no end is the end; parts that follow each other are work."""
    monkeypatch.setattr(embedder_module, "HANG_LOOK_S", 0.001)
    encoder = HeldEncoder()
    ended = anyio.Event()
    async with embedding(tmp_path, encoder, end=ended.set) as bus, anyio.create_task_group() as tasks:
        tasks.start_soon(bus.request, EMBED, request("text", 1, "bulk"))
        with anyio.fail_after(20):
            await ended.wait()
        encoder.may_go_on.set()


async def test_embedder_that_waits_for_work_is_not_taken_for_hung(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Idle for as many looks as anybody likes."""
    looks = []

    async def look(_: float) -> None:
        looks.append(1)
        await anyio.lowlevel.checkpoint()
        if len(looks) > 10 * embedder_module.HANG_LOOKS:
            await anyio.sleep_forever()

    embedder = embedder_module.Embedder(FakeEncoder)
    await embedder.embed(request("text", 1, "bulk"))
    ended: list[int] = []
    monkeypatch.setattr(embedder_module.anyio, "sleep", look)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(embedder.watch_for_hang, lambda: ended.append(1))
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert (ended, len(looks) > embedder_module.HANG_LOOKS) == ([], True)


HUNG = """
import sys
import anyio
from services.embedder import service as module
from shared.bus_memory import MemoryBus
from shared.settings import load_settings
from shared.subjects import EMBED
from tests.integration.embedder.test_service import HeldEncoder, request

module.HANG_LOOK_S = 0.01

async def main():
    settings = load_settings({"home": sys.argv[1]}, {"HOME": sys.argv[1]})
    async with MemoryBus() as bus, module.service(bus, settings, open_encoder=HeldEncoder):
        await bus.request(EMBED, request("text", 1, "bulk"))

anyio.run(main)
"""


def test_process_with_a_hung_thread_ends_all_the_same(tmp_path: Path) -> None:
    """Row F12: native code gives no thread back, so nothing waits for it; whoever supervises starts another."""
    ended = subprocess.run([sys.executable, "-c", HUNG, tmp_path], check=False, timeout=60, capture_output=True)
    assert ended.returncode == EXIT_CRASHED, ended.stderr
    assert b"run.hung" in ended.stdout + ended.stderr
