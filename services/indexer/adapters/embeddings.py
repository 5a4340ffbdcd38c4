"""Vectors by content, the texts that lack one, and what failed; inside a caller's transaction.

`missing` is derived (texts of live chunks without a vector of the epoch's model) and kept in the same transactions as
the chunks, so that counting it costs nothing while an answer is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import apsw

from services.indexer.core.chunking import embed_text
from services.indexer.core.embedplan import ASKED, MissingText
from shared.identity import TextHash
from shared.index_format import for_epoch
from shared.messages import VectorItem

_ADD_MISSING = """
INSERT INTO missing{e}(text_hash, urgency, touched_ns)
SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM embedding WHERE text_hash = ?1 AND model = ?4)
ON CONFLICT DO UPDATE SET urgency = min(urgency, excluded.urgency), touched_ns = max(touched_ns, excluded.touched_ns)
"""
_DROP_MISSING = """
DELETE FROM missing{e} WHERE text_hash = ?1 AND NOT EXISTS (SELECT 1 FROM chunk{e} WHERE text_hash = ?1)
"""
_UNUSED_FROM_NOW = """
UPDATE embedding SET last_used_ns = ?2 WHERE text_hash = ?1 AND NOT EXISTS (SELECT 1 FROM chunk{e} WHERE text_hash = ?1)
"""
_DROP_FAILURE = """
DELETE FROM failure WHERE subject = ?1 AND NOT EXISTS (SELECT 1 FROM chunk{e} WHERE text_hash = ?1)
"""
_NEXT = """
SELECT m.text_hash, c.heading, c.text, c.tokens, m.urgency
FROM (SELECT text_hash, urgency, touched_ns FROM missing{e}
      WHERE NOT EXISTS (SELECT 1 FROM failure f WHERE f.subject = missing{e}.text_hash
                          AND (f.next_try_ns = 0 OR f.next_try_ns > ?2))
      ORDER BY urgency, touched_ns DESC, text_hash LIMIT ?1) m
JOIN chunk{e} c ON c.id = (SELECT min(id) FROM chunk{e} WHERE text_hash = m.text_hash)
"""
_STORE = """
INSERT INTO embedding(text_hash, model, vector, last_used_ns) VALUES(?, ?, ?, ?)
ON CONFLICT(text_hash, model) DO NOTHING
"""
_FOUND = "DELETE FROM missing{e} WHERE text_hash = ?"
_ASK = "UPDATE missing{e} SET urgency = 0 WHERE text_hash = ? AND urgency > 0"
_UNASK = "UPDATE missing{e} SET urgency = 2 WHERE urgency = 0"
_ASKED_LEFT = "SELECT count(*) FROM missing{e} WHERE urgency = ?"
_FAILED_BEFORE = "SELECT attempts FROM failure WHERE subject = ?"
_FAIL = "INSERT OR REPLACE INTO failure(subject, code, detail, attempts, next_try_ns) VALUES(?, ?, ?, ?, ?)"
_FORGET_FAILURE = "DELETE FROM failure WHERE subject = ?"
_FORGET_ALL = "DELETE FROM failure"


class EmbeddingRows:
    """The vectors of one epoch's texts under the epoch's model."""

    def __init__(self, connection: apsw.Connection, epoch: int, model: int, *, now_ns: Callable[[], int]) -> None:
        self._now_ns = now_ns
        self._connection = connection
        self._epoch = epoch
        self._model = model

    def add_missing(self, texts: Iterable[TextHash], *, urgency: int, touched_ns: int) -> None:
        """Queue the texts that have no vector yet; a text queued before keeps the more urgent class."""
        rows = [(text, urgency, touched_ns, self._model) for text in dict.fromkeys(texts)]
        self._connection.executemany(self._sql(_ADD_MISSING), rows)

    def drop_unused(self, texts: Iterable[TextHash]) -> None:
        """Take texts out of the queue which no chunk holds any more; their vectors grow old, their failures go."""
        rows = [(text,) for text in dict.fromkeys(texts)]
        now_ns = self._now_ns()
        self._connection.executemany(self._sql(_UNUSED_FROM_NOW), [(text, now_ns) for (text,) in rows])
        self._connection.executemany(self._sql(_DROP_MISSING), rows)
        self._connection.executemany(self._sql(_DROP_FAILURE), rows)

    def next_missing(self, limit: int, *, now_ns: int) -> list[MissingText]:
        """Give up to `limit` texts to embed, most urgent first, without those set aside or waiting after a failure."""
        rows = self._connection.execute(self._sql(_NEXT), (limit, now_ns))
        return [
            MissingText(
                text_hash=TextHash(bytes(row[0])),
                text=embed_text(str(row[1]), str(row[2])),
                tokens=int(row[3]),
                urgency=int(row[4]),
            )
            for row in rows
        ]

    def store(self, items: Sequence[VectorItem], *, now_ns: int) -> None:
        """Keep vectors under (text, model); a text is no longer missing, its failures are forgotten."""
        self._connection.executemany(_STORE, [(item.text_hash, self._model, item.vector, now_ns) for item in items])
        found = [(item.text_hash,) for item in items]
        self._connection.executemany(self._sql(_FOUND), found)
        self._connection.executemany(_FORGET_FAILURE, found)

    def prioritise(self, texts: Iterable[TextHash]) -> None:
        """Put these texts before everything else; an earlier wish that was not met falls back to bulk."""
        self._connection.execute(self._sql(_UNASK))
        self._connection.executemany(self._sql(_ASK), [(text,) for text in texts])

    def asked_left(self) -> int:
        """Count the prioritised texts that still lack a vector."""
        row = self._connection.execute(self._sql(_ASKED_LEFT), (ASKED,)).fetchone()
        return int(row[0])  # type: ignore[index]

    def attempts(self, text: TextHash) -> int:
        """Count the failures of a text so far."""
        row = self._connection.execute(_FAILED_BEFORE, (text,)).fetchone()
        return int(row[0]) if row is not None else 0

    def record_failure(self, text: TextHash, *, code: str, detail: str, attempts: int, next_try_ns: int) -> None:
        """Remember a failure; `next_try_ns` 0 sets the text aside until it changes or someone asks."""
        self._connection.execute(_FAIL, (text, code, detail, attempts, next_try_ns))

    def forget_failures(self) -> None:
        """Let everything be tried again."""
        self._connection.execute(_FORGET_ALL)

    def _sql(self, statement: str) -> str:
        return for_epoch(statement, self._epoch)
