"""A large index to measure searches on: real texts of this machine, vectors mixed from a few real ones.

Texts are Python and other files of the standard library and of the installed packages. Embedding 75,000 of them takes
an hour, so a few hundred are embedded and every other vector is a mixture of two of those and noise, which keeps the
clustering that a filter of nearest neighbours depends on.
"""

from __future__ import annotations

import shutil
import sysconfig
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from msgspec import Struct

from services.indexer.adapters.reading import Reader
from services.indexer.adapters.store import IndexStore
from services.indexer.adapters.text_lane import TextLane
from services.indexer.core.chunking import CHUNKER_VERSION
from services.indexer.core.versions import EpochVersions
from services.query.adapters.question_encoder import QueryEncoder
from services.query.adapters.reader import IndexReaders
from services.query.service import open_encoder
from shared.analyzer import ANALYZER_VERSION
from shared.identity import TextHash
from shared.messages import VectorItem
from shared.model import locate_model
from shared.project_config import load_project_config
from shared.registry import Project, Registry
from shared.settings import Settings, ensure_home
from shared.tokens import TokenCounter
from shared.treerules import RulesConfig
from shared.vectors import EmbeddingMatrix, vector_to_bytes

ANCHORS = 400
NOISE = 0.35  # length of the noise beside a mixture of length one; then nearest texts have cosines like real ones
SUFFIXES = {".py", ".md", ".rst", ".txt", ".json", ".toml", ".cfg", ".c", ".h", ".pyi"}
MAX_FILE_BYTES = 400_000
BATCH = 200

ASKED = (
    "how is a temporary file created and removed",
    "parse command line arguments with subcommands",
    "where are http redirects followed",
    "retry with exponential backoff",
    "how to cancel a task and wait for it",
    "read a zip file member without extracting",
    "TestCase assertRaises context manager",
    "escape html characters in a string",
    "default encoding of open text files",
    "walk a directory tree bottom up",
    "what happens when the connection pool is full",
    "compare two versions of a package",
    "lru_cache maxsize typed",
    "json decode error position line column",
    "find the git root of a project",
    "thread safe queue with priority",
    "how are wheels installed into site packages",
    "certificate verification failed",
    "register a signal handler",
    "decorator that keeps the function name",
    "convert datetime to utc timestamp",
    "sum",
    "self return value",
    "import os sys",
)


class Ground(Struct, frozen=True):
    """A home with one enrolled and indexed tree."""

    settings: Settings
    project: Project
    chunks: int


def ground(folder: Path, chunks: int, sources: Sequence[Path] = ()) -> Ground:
    """Give an index of at least `chunks` chunks below `folder`, building it unless it is there."""
    settings = Settings(home=folder / "home", user_home=folder, xdg_config_home=folder / ".config")
    root = folder / "tree"
    root.mkdir(parents=True, exist_ok=True)
    ensure_home(settings)
    config = load_project_config(root, settings)
    registry = Registry(settings)
    project = registry.find(root, config) or registry.enrol(root, config)
    if not (folder / "complete").exists():
        _build(project, settings, chunks, sources or _library())
        (folder / "complete").touch()
    encoder = open_encoder(settings)
    store = _store(project, encoder.model_id)
    found = store.counts(store.epoch).chunks
    store.close()
    return Ground(settings, project, found)


def _library() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    return (Path(paths["stdlib"]), Path(paths["purelib"]))


def _store(project: Project, model_id: str) -> IndexStore:
    versions = EpochVersions(chunker=CHUNKER_VERSION, analyzer=ANALYZER_VERSION, model_id=model_id)
    path = project.index_path
    return IndexStore.open(path, project.instance, project=project.project, root=project.root, versions=versions)


def _build(project: Project, settings: Settings, chunks: int, sources: Sequence[Path]) -> None:
    encoder = open_encoder(settings)
    store = _store(project, encoder.model_id)
    root = project.root_path
    count = TokenCounter.load(locate_model(settings.model_dir).tokenizer).count
    lane = TextLane(root, store, rules=RulesConfig, reader=partial(Reader, root, count))
    batch: list[str] = []
    for path in _copied(sources, root):
        batch.append(path)
        if len(batch) == BATCH:
            _handle(lane, batch)
            batch.clear()
            if store.counts(store.epoch).chunks >= chunks:
                break
    _handle(lane, batch)
    _add_vectors(store, encoder)
    store.close()


def _handle(lane: TextLane, paths: list[str]) -> None:
    left = list(paths)
    while left:
        left = left[lane.handle(left, "bulk").paths :]


def _copied(sources: Sequence[Path], root: Path) -> Iterator[str]:
    for number, source in enumerate(sources):
        for path in sorted(source.rglob("*")):
            inside = path.relative_to(source)
            is_wanted = (
                path.suffix in SUFFIXES and "__pycache__" not in inside.parts and "site-packages" not in inside.parts
            )
            if is_wanted and path.is_file() and 0 < path.stat().st_size <= MAX_FILE_BYTES:
                target = root / f"part{number}" / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
                yield str(target.relative_to(root))


def _add_vectors(store: IndexStore, encoder: QueryEncoder) -> None:
    texts = store.next_missing(10_000_000, now_ns=0)
    step = max(1, len(texts) // ANCHORS)
    anchors = np.concatenate([encoder.encode([text.text[:1_500]]) for text in texts[::step][:ANCHORS]])
    hashes = [text.text_hash for text in texts]
    for start in range(0, len(hashes), 2_000):
        part = hashes[start : start + 2_000]
        items = [
            VectorItem(text_hash=text, vector=vector_to_bytes(row))
            for text, row in zip(part, mixtures(part, anchors), strict=True)
        ]
        with store.transaction():
            store.keep_vectors(items, [], now_ns=0)


def mixtures(hashes: Sequence[TextHash], anchors: EmbeddingMatrix) -> EmbeddingMatrix:
    """Make one unit vector a text, always the same for the same text and anchors."""
    rng = np.random.default_rng(int.from_bytes(b"".join(hashes)[:8], "little"))
    first, second = rng.integers(0, len(anchors), (2, len(hashes)))
    share = rng.uniform(0.2, 1.0, (len(hashes), 1)).astype(np.float32)
    noise = rng.normal(0.0, NOISE / np.sqrt(anchors.shape[1]), (len(hashes), anchors.shape[1])).astype(np.float32)
    mixed = share * anchors[first] + (1.0 - share) * anchors[second] + noise
    made: EmbeddingMatrix = (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)
    return made


def questions_about(found: Ground, count: int) -> list[str]:
    """Make distinct questions: those that a person would ask, then names the texts define among words beside them."""
    readers = IndexReaders()
    with readers.snapshot(found.project.index_path, found.project.instance, limit_s=60.0) as snapshot:
        step = max(1, found.chunks // (count * 4))
        rows = snapshot.all("SELECT symbols, text FROM chunk{e} WHERE symbols <> '' AND id % ? = 0", (step,))
    readers.close()
    made = [_question(str(symbols), str(text), number) for number, (symbols, text) in enumerate(rows)]
    return list(dict.fromkeys((*ASKED, *made)))[:count]


def _question(symbols: str, text: str, number: int) -> str:
    words = [word for word in dict.fromkeys(text.split()) if word.isalpha() and len(word) > 3]
    name = symbols.split("\n", maxsplit=1)[0]
    few = " ".join(words[number % 7 :][:4])
    return (f"where is {name} defined", f"how does {name} handle {few}", few or name, f"{name} {few}")[number % 4]
