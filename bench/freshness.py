"""How long a saved edit takes to reach the index: save to text lane, save to vector lane.

Files are saved at a steady rate while the watcher, the indexer, the embedder and the read side run in this process. An
edit is of a file of its own and changes one paragraph. It counts as in the text lane once the index holds the file as
saved, and as in the vector lane once none of its chunks lacks a vector; at the end every edit is searched by its word.

    python bench/freshness.py [--edits 60] [--rate 10] [--bulk 0] [--model]

With `--bulk N`, N more files appear just before the first edit, so that the edits have to overtake them. Without
`--model` a stand-in makes the vectors, and the numbers are the way, not the arithmetic.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import apsw
from anyio import to_thread
from msgspec import Struct

from services.embedder.service import service as embedder
from services.indexer.service import service as indexer
from services.query.service import service as query
from services.watcher.service import service as watcher
from shared import logs
from shared.bus_memory import MemoryBus
from shared.errors import KxError
from shared.index_open import open_reader
from shared.messages import SearchRequest
from shared.model import locate_model
from shared.project_config import load_project_config
from shared.registry import Project, Registry
from shared.settings import ensure_home, load_settings
from shared.subjects import SEARCH
from tests.support.fake_encoder import FakeEncoder

LOOK_S = 0.005  # between looks at the index: the resolution of what is printed
GIVE_UP_S = 600.0
WORDS = ("anchor", "basket", "candle", "dragon", "engine", "forest", "garden", "harbor", "island", "jacket", "kettle")
STATE = """
SELECT d.mtime_ns, (SELECT count(*) FROM chunk_e1 c JOIN missing_e1 m USING(text_hash) WHERE c.document = d.id)
FROM document_e1 d WHERE d.path = ?
"""
WAITING = "SELECT (SELECT count(*) FROM document_e1), (SELECT count(*) FROM missing_e1)"


class Edit(Struct):
    """One save and when it arrived."""

    path: str
    mtime_ns: int
    word: str
    saved_at: float
    text_s: float | None = None
    vectors_s: float | None = None


class Index:
    """Looks at the index file from outside."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._connection: apsw.Connection | None = None

    def rows(self, statement: str, *bindings: str) -> list[tuple[int, ...]]:
        """Run a statement; nothing while there is no index yet."""
        try:
            if self._connection is None:
                self._connection = open_reader(self._project.index_path, self._project.instance)
            return self._connection.execute(statement, bindings).fetchall()  # type: ignore[return-value]
        except (KxError, apsw.Error):
            return []


def prose(rng: random.Random, word: str = "") -> str:
    """Make one paragraph: four of them are one chunk of some 230 tokens."""
    return " ".join([*rng.choices(WORDS, k=48), word]).strip()


def write_files(root: Path, prefix: str, count: int, rng: random.Random) -> None:
    """Write small documents of four sections."""
    root.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        sections = [f"# Section {n} of {prefix} {number}\n\n{prose(rng)}\n" for n in range(4)]
        (root / f"{prefix}{number}.md").write_text("\n".join(sections))


def save(root: Path, number: int, rng: random.Random) -> Edit:
    """Change one paragraph of a file, as an editor that writes in place."""
    path = root / f"edited{number}.md"
    lines = path.read_text().split("\n")
    word = f"zz{number}marker"
    lines[2] = prose(rng, word)
    path.write_text("\n".join(lines))
    return Edit(path.name, path.stat().st_mtime_ns, word, time.monotonic())


def look(index: Index, edits: Sequence[Edit], *, vectors: bool) -> bool:
    """Note what has arrived; tell whether everything has."""
    for edit in edits:
        if edit.text_s is None or (vectors and edit.vectors_s is None):
            for mtime_ns, missing in index.rows(STATE, edit.path):
                if mtime_ns == edit.mtime_ns:
                    took_s = time.monotonic() - edit.saved_at
                    edit.text_s = took_s if edit.text_s is None else edit.text_s
                    edit.vectors_s = took_s if not missing and edit.vectors_s is None else edit.vectors_s
    return all(edit.text_s is not None and (not vectors or edit.vectors_s is not None) for edit in edits)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what only the index can tell."""
    with anyio.fail_after(GIVE_UP_S):
        while not await to_thread.run_sync(condition):  # noqa: ASYNC110 - from outside nobody tells
            await anyio.sleep(LOOK_S)


async def measure(folder: Path, options: argparse.Namespace) -> None:
    """Set up, save, wait, print."""
    rng = random.Random(1)
    settings = load_settings({"home": str(folder / "home")}, {"HOME": str(folder)})
    ensure_home(settings)
    root = folder / "tree"
    write_files(root, "edited", options.edits, rng)
    project = Registry(settings).enrol(root, load_project_config(root, settings))
    fake = FakeEncoder(model_id=locate_model(None).model_id)

    async with AsyncExitStack() as stack:
        bus = await stack.enter_async_context(MemoryBus())
        await stack.enter_async_context(query(bus, settings, encoder=fake))
        await stack.enter_async_context(embedder(bus, settings, open_encoder=None if options.model else lambda: fake))
        await stack.enter_async_context(indexer(bus, settings))
        await stack.enter_async_context(watcher(bus, settings))
        index = Index(project)
        await until(lambda: index.rows(WAITING) == [(options.edits, 0)])
        if options.bulk:
            write_files(root / "bulk", "bulk", options.bulk, rng)
        edits: list[Edit] = []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(save_all, root, edits, options, rng)
            await until(lambda: look(index, tuple(edits), vectors=options.vectors) and len(edits) == options.edits)
        report("save → text", [edit.text_s for edit in edits])
        if options.vectors:
            report("save → vectors", [edit.vectors_s for edit in edits])
        found = 0
        for edit in edits:
            request = SearchRequest(instance=project.instance, query=edit.word, mode="lexical", top=1)
            reply = await bus.request(SEARCH, request)
            found += any(hit.path == edit.path for hit in reply.results)
        print(f"found {found}/{len(edits)}")


async def save_all(root: Path, edits: list[Edit], options: argparse.Namespace, rng: random.Random) -> None:
    """Save at the rate asked for."""
    begun = anyio.current_time()
    for number in range(options.edits):
        await anyio.sleep_until(begun + number / options.rate)
        edits.append(await to_thread.run_sync(save, root, number, rng))


def report(name: str, seconds: Sequence[float | None]) -> None:
    """Print one line of percentiles."""
    took_ms = sorted(1_000 * one for one in seconds if one is not None)
    p95 = took_ms[min(len(took_ms) - 1, int(0.95 * len(took_ms)))]
    print(f"{name}: n={len(took_ms)} p50={statistics.median(took_ms):.0f} p95={p95:.0f} max={took_ms[-1]:.0f} ms")


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", type=int, default=60)
    parser.add_argument("--rate", type=float, default=10.0)
    parser.add_argument("--bulk", type=int, default=0)
    parser.add_argument("--model", action="store_true")
    parser.add_argument("--vectors", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args()
    logs.configure("error")
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(measure, Path(folder), options)


if __name__ == "__main__":
    main()
