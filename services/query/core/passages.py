"""The values a search passes from lane to answer (pure): locations, passages, lane hits, candidates, ranked passages."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from shared.identity import ChunkId, DocumentId, TextHash
from shared.kinds import DOCUMENTS
from shared.messages import KindFilter, Origin


class LaneName(StrEnum):
    """The lanes of a search; their names stand in every answer."""

    LEXICAL = "lexical"
    VECTOR = "vector"


class Location(Struct, frozen=True, kw_only=True):
    """Where a text stands, and what the index knows of that file."""

    document: DocumentId
    path: str
    kind: KindFilter
    language: str
    ordinal: int  # 0-based position of the chunk in its document
    start_line: int  # 1-based, inclusive
    end_line: int
    size: int  # bytes of the file when it was indexed
    mtime_ns: int
    ctime_ns: int = 0  # 0 when it is not known
    content_hash: bytes = b""  # SHA-256 of the file when it was indexed

    @property
    def is_extracted(self) -> bool:
        """Whether the text was taken out of a document, so that the file does not hold it as it is."""
        return self.language in DOCUMENTS

    @property
    def order(self) -> tuple[str, int]:
        """What breaks ties: the same on every machine, unlike row ids."""
        return (self.path, self.ordinal)


class Passage(Struct, frozen=True, kw_only=True):
    """One distinct text of the index with every place where it stands."""

    chunk: ChunkId
    text_hash: TextHash
    heading: str
    symbols: tuple[str, ...]  # names defined in it
    text: str
    at: Location
    elsewhere: tuple[Location, ...] = ()  # in path order


class LaneHit(Struct, frozen=True, kw_only=True):
    """What a lane found; its place in the lane's sequence is its rank."""

    passage: Passage
    score: float  # better is higher: negated bm25, or cosine


class Standing(Struct, frozen=True, kw_only=True):
    """How a passage stood in one lane."""

    rank: int  # 1-based
    score: float


class Candidate(Struct, frozen=True, kw_only=True):
    """A passage that at least one lane returned."""

    passage: Passage
    lexical: Standing | None = None
    vector: Standing | None = None

    @property
    def origin(self) -> Origin:
        """Which lanes returned it."""
        if self.lexical is not None and self.vector is not None:
            return "both"
        return "lexical" if self.vector is None else "vector"


class Ranked(Struct, frozen=True, kw_only=True):
    """A candidate with its score; the parts add up to it."""

    candidate: Candidate
    score: float
    parts: dict[str, float]
    confidence: float | None = None  # 0..1 that it answers; only evidence can tell

    @property
    def passage(self) -> Passage:
        """The candidate's passage."""
        return self.candidate.passage
