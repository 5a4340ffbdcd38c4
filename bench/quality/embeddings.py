"""Vectors of texts kept by their hash outside the checkout, so that a changed chunker embeds only what is new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import apsw

from shared.encoder import OnnxEncoder
from shared.identity import TextHash, text_hash
from shared.model import locate_model
from shared.vectors import vector_to_bytes

BATCH_TEXTS = 64


class EmbeddingCache:
    """One file of vectors a model; another process may fill it at the same time."""

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        self._folder = folder
        self._threads = threads
        self._files = locate_model()
        self._encoder: OnnxEncoder | None = None
        folder.mkdir(parents=True, exist_ok=True)
        name = self._files.model_id.replace("/", "_").replace(":", "_")
        self._connection = apsw.Connection(str(folder / f"{name}.sqlite"))
        self._connection.set_busy_timeout(10_000)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("CREATE TABLE IF NOT EXISTS vector(text_hash BLOB PRIMARY KEY, vector BLOB NOT NULL)")

    @property
    def model_id(self) -> str:
        """The model the vectors are of."""
        return self._files.model_id

    def known(self, hashes: Sequence[TextHash]) -> dict[TextHash, bytes]:
        """Give the vectors that are there."""
        found: dict[TextHash, bytes] = {}
        for text in hashes:
            row = self._connection.execute("SELECT vector FROM vector WHERE text_hash = ?", (text,)).fetchone()
            if row is not None:
                found[text] = bytes(row[0])
        return found

    def embed(self, texts: Mapping[TextHash, str]) -> dict[TextHash, bytes]:
        """Give the vectors of all texts, embedding and keeping those that are not there."""
        found = self.known(list(texts))
        missing = sorted((text for text in texts if text not in found), key=lambda text: len(texts[text]))
        for start in range(0, len(missing), BATCH_TEXTS):
            batch = missing[start : start + BATCH_TEXTS]
            matrix = self._opened().encode([texts[text] for text in batch])
            made = {text: vector_to_bytes(row) for text, row in zip(batch, matrix, strict=True)}
            self._connection.executemany("INSERT OR IGNORE INTO vector VALUES(?, ?)", list(made.items()))
            found |= made
        return found

    def embed_questions(self, questions: Sequence[str]) -> dict[str, bytes]:
        """Give the vectors of questions, kept like any text."""
        hashes = {question: text_hash(question) for question in questions}
        vectors = self.embed({hashed: question for question, hashed in hashes.items()})
        return {question: vectors[hashed] for question, hashed in hashes.items()}

    def _opened(self) -> OnnxEncoder:
        if self._encoder is None:
            cache = self._folder / "models"
            self._encoder = OnnxEncoder.open(self._files, cache_dir=cache, threads=self._threads, spinning=False)
        return self._encoder
