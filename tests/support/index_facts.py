"""What makes two indexes equal: documents, spans and texts as a set, and counts that must agree."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from shared.identity import InstanceId
from shared.index_format import for_epoch
from shared.index_open import open_reader

_FACTS = """
SELECT d.path, d.content_hash, d.state, d.reason, c.start_line, c.end_line, c.text_hash, c.heading
FROM document{e} d LEFT JOIN chunk{e} c ON c.document = d.id
"""


class IndexFacts(Struct, frozen=True):
    """The content of an index, apart from row ids and times."""

    rows: frozenset[tuple[object, ...]]
    chunks: int
    postings: int  # rows of the full-text index
    texts: int  # distinct texts
    vectors: int  # of those, with a vector
    missing: int


def facts_of(path: Path, instance: InstanceId) -> IndexFacts:
    """Read an index that nobody is writing."""
    connection = open_reader(path, instance)
    try:
        epoch = int(connection.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()[0])  # type: ignore[index]

        def number(statement: str) -> int:
            return int(connection.execute(for_epoch(statement, epoch)).fetchone()[0])  # type: ignore[index]

        return IndexFacts(
            rows=frozenset(connection.execute(for_epoch(_FACTS, epoch))),
            chunks=number("SELECT count(*) FROM chunk{e}"),
            postings=number("SELECT count(*) FROM chunk_fts{e}_docsize"),
            texts=number("SELECT count(DISTINCT text_hash) FROM chunk{e}"),
            vectors=number("SELECT count(*) FROM embedding WHERE text_hash IN (SELECT text_hash FROM chunk{e})"),
            missing=number("SELECT count(*) FROM missing{e}"),
        )
    finally:
        connection.close()
