"""What was read before something newer was written is not written after it."""

import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from services.indexer.adapters.text_lane import TextLane
from shared.messages import ProgressRequest, Urgency
from shared.subjects import PROGRESS, PURGE
from shared.upkeep_messages import PurgePaths
from tests.support.configs import write_json
from tests.support.index_facts import facts_of
from tests.support.indexing import Indexing, indexing

pytestmark = pytest.mark.anyio


class Hold:
    """Holds the first reading of one urgency between disk and database."""

    def __init__(self, urgency: Urgency) -> None:
        self.urgency = urgency
        self.has_read = threading.Event()
        self.may_write = threading.Event()

    async def until_read(self) -> None:
        """Wait until the disk was looked at."""
        assert await to_thread.run_sync(self.has_read.wait, 20)


@pytest.fixture(params=["bulk"])
def hold(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Hold]:
    held = Hold(request.param)
    true_read = TextLane.read

    def read(self, paths, config, known, urgency):
        outcomes = true_read(self, paths, config, known, urgency)
        if urgency == held.urgency and not held.has_read.is_set():
            held.has_read.set()
            held.may_write.wait(20)
        return outcomes

    monkeypatch.setattr(TextLane, "read", read)
    yield held
    held.may_write.set()


def states(work: Indexing) -> dict[str, str]:
    return {str(row[0]): str(row[2]) for row in facts_of(work.project.index_path, work.project.instance).rows}


async def until_it_is_in(work: Indexing, path: str) -> None:
    with anyio.fail_after(20):
        while path not in states(work):
            await anyio.lowlevel.checkpoint()


async def test_live_edit_is_not_undone_by_what_bulk_work_read_before(tmp_path: Path, hold: Hold) -> None:
    """The file was not there when a walk announced it, and is saved while the walk's batch is in hand."""
    root = tmp_path / "tree"
    root.mkdir()
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch("a.md")
        await hold.until_read()
        (root / "a.md").write_text("# New\n\nText.\n")
        await work.touch("a.md", urgency="live")
        await until_it_is_in(work, "a.md")
        hold.may_write.set()
        await work.until("text")
        assert states(work) == {"a.md": "indexed"}


@pytest.mark.parametrize("hold", ["live"], indirect=True)
async def test_a_file_that_was_gone_for_a_moment_stays_in(tmp_path: Path, hold: Hold) -> None:
    """Row L3: a checkout deletes a file and makes it anew; who saw it gone writes after who saw it there."""
    root = tmp_path / "tree"
    root.mkdir()
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch("a.md", urgency="live")
        await hold.until_read()
        for name in ("a.md", "b.md"):
            (root / name).write_text("# New\n\nText.\n")
        await work.touch("a.md", "b.md")
        await until_it_is_in(work, "b.md")
        hold.may_write.set()
        await work.until("text")
        assert states(work) == {"a.md": "indexed", "b.md": "indexed"}


async def test_purged_text_does_not_come_back_from_what_is_in_hand(tmp_path: Path, hold: Hold) -> None:
    """It was read before it was denied and purged."""
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.md").write_text("# Secret\n\nText.\n")
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch("a.md")
        await hold.until_read()
        write_json(root / ".kx.json", {"indexing": {"deny": ["a.md"]}})
        await work.bus.request(PURGE, PurgePaths(instance=work.project.instance, paths=("a.md",)))
        hold.may_write.set()
        with anyio.fail_after(20):
            while (await work.until("text")).upkeep:
                await anyio.lowlevel.checkpoint()
        assert states(work) == {"a.md": "skipped"}


async def test_who_asks_how_far_the_work_is_does_not_wait_for_a_reader(tmp_path: Path, hold: Hold) -> None:
    """A parser may take seconds to die; the writer's thread is free meanwhile."""
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.md").write_text("# A\n\nText.\n")
    async with indexing(root, tmp_path / ".kx") as work:
        await work.touch("a.md")
        await hold.until_read()
        with anyio.fail_after(4):
            progress = await work.bus.request(PROGRESS, ProgressRequest(instance=work.project.instance))
        assert progress.text_pending == 1
        hold.may_write.set()
