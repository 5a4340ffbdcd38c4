"""Question sets and their texts: read the questions, index each folder of texts with the product's own parts."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from msgspec import Struct

from bench.quality.embeddings import EmbeddingCache
from services.indexer.adapters.reading import Reader
from services.indexer.adapters.store import IndexStore
from services.indexer.adapters.text_lane import TextLane
from services.indexer.core.chunking import CHUNKER_VERSION
from services.indexer.core.versions import EpochVersions
from shared.analyzer import ANALYZER_VERSION
from shared.identity import instance_id_from
from shared.messages import VectorItem
from shared.relpath import RelPath, encode_path
from shared.tokens import TokenCounter
from shared.treerules import RulesConfig

SETS = ("semble", "octocode-code", "octocode-docs", "faquad", "pira-pt", "pira-en", "pira-x", "trees", "trees-pt")
# Sets that ask other questions of the same texts share an index.
SAME_TEXTS = {"octocode-docs": "octocode-code", "pira-x": "pira-en", "trees-pt": "trees"}
INSTANCE = instance_id_from(b"a quality bench!")


class Question(Struct, frozen=True, kw_only=True):
    """One judged question."""

    set: str
    repo: str
    query: str
    relevant: tuple[str, ...]
    category: str = ""
    language: str = ""


class Corpus(Struct, frozen=True, kw_only=True):
    """One folder of texts, indexed, and what is asked of it."""

    set: str
    repo: str
    index: Path
    root: Path
    questions: tuple[Question, ...]

    @property
    def name(self) -> str:
        """How tables call it."""
        return f"{self.set}/{self.repo}"


def questions_of(data: Path, sets: tuple[str, ...]) -> dict[tuple[str, str], list[Question]]:
    """Read the judged questions of those of these sets that are there, by set and repository."""
    found: dict[tuple[str, str], list[Question]] = {}
    for file in filter(Path.is_file, (data / "queries" / f"{name}.jsonl" for name in sets)):
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            question = Question(
                set=row["set"],
                repo=row["repo"],
                query=row["query"],
                relevant=tuple(row["relevant"]),
                category=row.get("category") or "",
                language=row.get("language") or "",
            )
            found.setdefault((question.set, question.repo), []).append(question)
    return found


def build_index(root: Path, index: Path, *, model_id: str, count: TokenCounter) -> None:
    """Index one folder of texts as the product does, without vectors."""
    index.parent.mkdir(parents=True, exist_ok=True)
    versions = EpochVersions(chunker=CHUNKER_VERSION, analyzer=ANALYZER_VERSION, model_id=model_id)
    store = IndexStore.open(index, INSTANCE, project=root.name, root=str(root), versions=versions)
    lane = TextLane(root, store, rules=RulesConfig, reader=partial(Reader, root, count.count))
    paths: list[str] = sorted(_files(root))
    while paths:
        handled = lane.handle(paths, "bulk")
        paths = paths[handled.paths :] + list(handled.unstable)
    store.close()


def add_vectors(index: Path, root: Path, cache: EmbeddingCache, *, embed: bool) -> float:
    """Put the cached vectors into an index, embedding what is missing if asked; give the share of texts that have one."""
    versions = EpochVersions(chunker=CHUNKER_VERSION, analyzer=ANALYZER_VERSION, model_id=cache.model_id)
    store = IndexStore.open(index, INSTANCE, project=root.name, root=str(root), versions=versions)
    texts = {text.text_hash: text.text for text in store.next_missing(1_000_000, now_ns=0)}
    vectors = cache.embed(texts) if embed else cache.known(list(texts))
    with store.transaction():
        items = [VectorItem(text_hash=text, vector=vector) for text, vector in vectors.items()]
        store.keep_vectors(items, [], now_ns=0)
    counts = store.counts(store.epoch)
    store.close()
    return 1.0 - counts.missing / max(1, counts.texts)


def fresh(folder: Path) -> Path:
    """Empty a folder of indexes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _files(root: Path) -> Iterator[RelPath]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield encode_path(os.fsencode(path.relative_to(root)))
