"""Do excerpts show the lines that judges named: of the best passage that holds any of them, in sets that name lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from bench.quality.corpora import INSTANCE, Corpus
from bench.quality.pipeline import Found, by_evidence
from services.query.adapters.reader import IndexReaders, Snapshot
from services.query.adapters.word_worth import LEAST_WORTH
from services.query.core.dedup import fold_equal_texts
from services.query.core.evidence.asked import rarity
from services.query.core.excerpts import Ruler, Source, pair_key
from services.query.core.passages import Passage
from shared.analyzer import query_terms

HEIGHTS = (3, 7)
MIN_LINES = 10  # of a passage; in a shorter one there is little to choose

_CHUNKS = "SELECT count(*) FROM chunk{e}"


class Target(Struct, frozen=True):
    """Lines that a judge named."""

    path: str
    first: int
    last: int


def targets_of(data: Path, name: str) -> dict[str, list[Target]]:
    """Read the lines named for each question of a set."""
    rows = map(json.loads, (data / "queries" / f"{name}.jsonl").read_text("utf-8").splitlines())
    return {
        row["query"]: [Target(one["path"], *one["lines"]) for one in row.get("targets") or () if "lines" in one]
        for row in rows
    }


def touched(corpus: Corpus, found: Sequence[Found], targets: Mapping[str, Sequence[Target]]) -> Iterator[list[bool]]:
    """Tell of each question whether excerpts of `HEIGHTS` lines, and as many from the beginning, touch a named line."""
    readers = IndexReaders()
    with readers.snapshot(corpus.index, INSTANCE, limit_s=600.0) as snapshot:
        for item in found:
            named = targets.get(item.question.query, ())
            held = ((hit.passage, _within(hit.passage, named)) for hit in fold_equal_texts(by_evidence(item)))
            passage, lines = next(((passage, lines) for passage, lines in held if lines), (None, []))
            if passage is not None and passage.text.count("\n") + 1 >= MIN_LINES:
                source, worth = Source(passage.text, passage.at.start_line), _worth(snapshot, item.question.query)
                rulers = (Ruler(source, worth), Ruler(source, {}))
                yield [_touches(ruler, height, lines) for ruler in rulers for height in HEIGHTS]
    readers.close()


def _within(passage: Passage, targets: Sequence[Target]) -> list[Target]:
    at = passage.at
    return [one for one in targets if one.path == at.path and one.first <= at.end_line and at.start_line <= one.last]


def _touches(ruler: Ruler, height: int, lines: Sequence[Target]) -> bool:
    shown = ruler.excerpt(height)
    return shown is not None and any(one.first <= shown.end_line and shown.start_line <= one.last for one in lines)


def _worth(snapshot: Snapshot, query: str) -> dict[str, float]:
    asked = query_terms(query)
    chunks = snapshot.number(_CHUNKS)
    worth = {term: max(rarity(chunks, snapshot.chunks_with(term)), LEAST_WORTH) for term in asked.terms}
    return worth | {pair_key(a, b): min(worth[a], worth[b]) for a, b in pairwise(asked.stems)}
