"""Rows F11 and B10: model files that are not what they should be, and vectors that are none."""

import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from services.embedder.service import service as embedder
from services.indexer.service import service as indexer
from services.query.service import service as query
from services.watcher.service import service as watcher
from shared.bus_memory import MemoryBus
from shared.errors import ErrorCode
from shared.index_open import open_reader
from shared.messages import IndexProgress, ProgressRequest, ReconcileTree, SearchRequest
from shared.model import ModelFiles, locate_model
from shared.project_config import load_project_config
from shared.registry import Project, Registry
from shared.settings import Settings, ensure_home
from shared.subjects import PROGRESS, RECONCILE, SEARCH
from tests.soak.conftest import IS_SOAK, Report
from tests.support.index_facts import facts_of
from tests.support.indexing import indexing
from tests.support.trees import write_tree

pytestmark = [pytest.mark.anyio, *([pytest.mark.timeout(1_800)] if IS_SOAK else [])]

Amount = Callable[[int], int]

DEADLINE_S = 60.0
FILES = 5


def cut(path: Path, size_bytes: int) -> None:
    path.write_bytes(path.read_bytes()[:size_bytes])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def hide(path: Path) -> None:
    """Make it something that no one can read, a superuser neither."""
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, Callable[[ModelFiles], None]] = {
    "missing": lambda files: files.onnx.unlink(),
    "pointer": lambda files: files.onnx.write_bytes(b"version https://git-lfs.github.com/spec/v1\n") and None,
    "another tokenizer": lambda files: files.tokenizer.write_bytes(b'{"version": "1.0"}') and None,
    "one byte": lambda files: flip(files.onnx),
    "1 KiB": lambda files: cut(files.onnx, 1_024),
    "half": lambda files: cut(files.onnx, files.onnx.stat().st_size // 2),
    "another width": lambda files: files.onnx.write_bytes(files.onnx.read_bytes() + bytes(256)) and None,
    "unreadable": lambda files: hide(files.onnx),
}


def copied(folder: Path) -> ModelFiles:
    """Copy the model, expected to be what it is."""
    folder.mkdir()
    files = locate_model(None)
    graph, vocabulary = (shutil.copy(one.path, folder / one.path.name) for one in (files.graph, files.vocabulary))
    return replace(
        files,
        graph=replace(files.graph, path=Path(graph)),
        vocabulary=replace(files.vocabulary, path=Path(vocabulary)),
    )


def repair(files: ModelFiles, good: ModelFiles) -> None:
    for path, source in ((files.onnx, good.onnx), (files.tokenizer, good.tokenizer)):
        if path.is_dir():
            path.rmdir()
        shutil.copy(source, path)


async def progress_of(bus: MemoryBus, project: Project) -> IndexProgress:
    message = ProgressRequest(instance=project.instance, until="vectors", wait_ms=200)
    return await bus.request(PROGRESS, message, timeout_s=DEADLINE_S)


async def problems_with(project: Project, settings: Settings, files: ModelFiles, good: ModelFiles) -> list[str]:
    """Serve an index of words with a damaged model, then replace its files; what was not as it should be."""
    problems: list[str] = []
    async with (
        MemoryBus() as bus,
        query(bus, settings),
        embedder(bus, settings),
        indexer(bus, settings, mode="test"),
    ):
        with anyio.fail_after(DEADLINE_S):
            while (await progress_of(bus, project)).stalled is None:
                pass
        for mode, word in (("lexical", "constantword"), ("auto", "constantword"), ("semantic", "constantword")):
            request = SearchRequest(instance=project.instance, query=word, mode=mode)  # type: ignore[arg-type]
            reply = await bus.request(SEARCH, request, timeout_s=DEADLINE_S)
            lane = reply.lanes.get("vector")
            problems += [] if len(reply.results) == FILES else [f"{mode}: {len(reply.results)} results"]
            if mode != "lexical" and (lane is None or lane.state == "ok" or not lane.reason):
                problems.append(f"{mode} does not say that there are no vectors")
        stored = facts_of(project.index_path, project.instance).vectors
        problems += [] if not stored else [f"{stored} vectors were written"]
        repair(files, good)
        with anyio.move_on_after(DEADLINE_S):
            while (await progress_of(bus, project)).vectors_missing:
                pass
    stored = facts_of(project.index_path, project.instance).vectors
    return problems + ([] if stored == FILES else [f"{stored} vectors after the repair"])


async def test_damaged_model_is_refused_before_any_write_and_a_repaired_one_is_taken(
    tmp_path, amount: Amount, report: Report, monkeypatch
):
    """Row F11, case 34: words answer all the while, no vector is written, replacing the file is enough."""
    monkeypatch.setattr("services.indexer.embed_flow.retry_after_s", lambda *_: 0.2)
    good, problems, cases = locate_model(None), [], list(DAMAGES)[: amount(len(DAMAGES))]
    settings = Settings(home=tmp_path / "home", user_home=tmp_path, xdg_config_home=tmp_path / ".config")
    ensure_home(settings)
    for name in cases:
        root = tmp_path / name
        write_tree(root, {f"f{n}.md": f"# File {n}\n\nThe constantword {n} of {name}.\n" for n in range(FILES)})
        project = Registry(settings).enrol(root, load_project_config(root, settings))
        files = copied(tmp_path / f"model of {name}")
        monkeypatch.setattr("shared.model._default_model", lambda files=files: files)
        async with (
            MemoryBus() as bus,
            query(bus, settings),
            indexer(bus, settings, mode="test", embeds_when_asked=True),
            watcher(bus, settings, follow=False),
        ):
            await bus.request(RECONCILE, ReconcileTree(instance=project.instance), timeout_s=DEADLINE_S)
            message = ProgressRequest(instance=project.instance, until="text", wait_ms=int(DEADLINE_S * 1_000))
            assert not (await bus.request(PROGRESS, message, timeout_s=2 * DEADLINE_S)).text_pending
        DAMAGES[name](files)
        problems += [f"{name}: {one}" for one in await problems_with(project, settings, files, good)]
    refused = len(cases) - len({one.partition(":")[0] for one in problems})
    report("F11", problems, cases=len(cases), refused=refused, vectors=0)


BAD = {
    "nanword": struct.pack("<384f", *([float("nan")] * 384)),
    "infword": struct.pack("<384f", *([float("inf")] * 384)),
    "zeroword": bytes(4 * 384),
    "shortword": struct.pack("<383f", *([0.05] * 383)),
    "longword": struct.pack("<385f", *([0.05] * 385)),
}


async def test_no_vector_that_is_none_is_ever_stored(tmp_path, amount: Amount, report: Report, monkeypatch):
    """Row B10, case 28: NaN, infinite, zero, short and long; set aside, and found by their words."""
    for module in ("services.indexer.embed_flow", "services.indexer.adapters.store"):
        monkeypatch.setattr(f"{module}.retry_after_s", lambda *_: 0.01)
    vectors, words = amount(1_000), list(BAD)
    root = tmp_path / "tree"
    names = [f"f{number}.md" for number in range(vectors)]
    write_tree(root, {name: f"# File {n}\n\nText {n} of {words[n % 5]}.\n" for n, name in enumerate(names)})
    async with indexing(root, tmp_path / ".kx") as work:
        work.embedder.nonsense = BAD
        for start in range(0, vectors, 500):
            await work.touch(*names[start : start + 500])
        with anyio.fail_after(600 if IS_SOAK else DEADLINE_S):
            while (progress := await work.until("vectors")).vectors_missing > progress.texts_failed:
                pass
    found = facts_of(work.project.index_path, work.project.instance)
    connection = open_reader(work.project.index_path, work.project.instance)
    stored = connection.execute("SELECT count(*) FROM embedding").fetchone()[0]
    codes = {row[0] for row in connection.execute("SELECT code FROM failure")}
    connection.close()
    problems = [] if not stored else [f"{stored} were stored"]
    problems += [] if progress.texts_failed == vectors else [f"{progress.texts_failed} are set aside"]
    problems += [] if found.postings == vectors else [f"{found.postings} are found by their words"]
    problems += [] if codes == {ErrorCode.EMBEDDER_FAILED} else [f"codes {codes}"]
    report("B10", problems, vectors=vectors, kinds=len(BAD), stored=stored, set_aside=progress.texts_failed)
