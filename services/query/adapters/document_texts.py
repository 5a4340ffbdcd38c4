"""Which texts each document of an epoch has, in memory, so that a filter can be applied before vectors are chosen.

A document's texts follow from its row: it is written whole, and another content is another content hash. So following
is comparing the rows and reading the chunks of the documents that came.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from itertools import groupby
from typing import Final

import numpy as np
from msgspec import Struct

from services.query.adapters.passages import RowFilter
from services.query.adapters.reader import Row, Snapshot
from services.query.adapters.vector_mirror import TextKeys, text_keys

_DOCUMENTS = "SELECT id, content_hash, kind, language FROM document{e} WHERE state = 'indexed'"
_WITHIN = "SELECT d.id FROM document{e} d WHERE {filters}"
_TEXTS = """
SELECT document, text_hash FROM chunk{e} WHERE document IN (SELECT value FROM json_each(?)) ORDER BY document
"""
_NO_KEYS: Final = np.empty(0, dtype=np.uint64)


class Selection(Struct, frozen=True, kw_only=True):
    """The texts within a filter."""

    keys: list[TextKeys]  # of each document
    chunks: int
    of: int  # chunks of the whole index

    @property
    def share(self) -> float:
        """What of the index it is, 0..1."""
        return self.chunks / max(1, self.of)

    def sorted_keys(self) -> TextKeys:
        """Give every key once, in order."""
        return np.unique(np.concatenate([_NO_KEYS, *self.keys]))


class DocumentTexts:
    """The text keys of every document of one epoch; safe across threads."""

    def __init__(self, epoch: int) -> None:
        self.epoch: Final = epoch
        self._lock = threading.Lock()
        self._rows: dict[int, Row] = {}
        self._keys: dict[int, TextKeys] = {}
        self._chunks = 0
        self._seq = -1

    def follow(self, snapshot: Snapshot, limit: int) -> bool:
        """Take in up to `limit` documents that came; tell whether these are all `snapshot` has. Blocks.

        A microsecond a document after a commit, and 40 for each that came.
        """
        if snapshot.seq <= self._seq:
            return True
        with self._lock:
            return snapshot.seq <= self._seq or self._catches_up(snapshot, limit)

    def within(self, snapshot: Snapshot, allowed: RowFilter) -> Selection:
        """Select the texts within a filter."""
        documents = snapshot.all(allowed.into(_WITHIN), allowed.bindings)
        with self._lock:
            keys = [self._keys.get(int(row[0]), _NO_KEYS) for row in documents]  # type: ignore[arg-type]
            return Selection(keys=keys, chunks=sum(map(len, keys)), of=self._chunks)

    def _catches_up(self, snapshot: Snapshot, limit: int) -> bool:
        rows = {int(row[0]): row for row in snapshot.all(_DOCUMENTS)}  # type: ignore[arg-type]
        for gone in self._rows.keys() - rows.keys():
            del self._rows[gone], self._keys[gone]
        came = [document for document, row in rows.items() if self._rows.get(document) != row]
        for document, keys in _read(snapshot, came[:limit]):
            self._rows[document], self._keys[document] = rows[document], keys
        if len(came) > limit:
            return False
        self._chunks = sum(map(len, self._keys.values()))
        self._seq = snapshot.seq
        return True


def _read(snapshot: Snapshot, documents: list[int]) -> Iterable[tuple[int, TextKeys]]:
    rows = snapshot.all(_TEXTS, (json.dumps(documents),))
    found = {document: text_keys(bytes(row[1]) for row in of) for document, of in groupby(rows, key=lambda row: row[0])}  # type: ignore[arg-type]
    return [(document, found.get(document, _NO_KEYS)) for document in documents]
