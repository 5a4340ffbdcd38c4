"""Builders of the values a search passes from lane to answer."""

from __future__ import annotations

from services.query.core.passages import Candidate, Location, Passage, Ranked, Standing
from shared.identity import ChunkId, DocumentId, text_hash
from shared.messages import KindFilter


def make_location(
    path: str = "a.md", *, ordinal: int = 0, start_line: int = 1, mtime_ns: int = 0, kind: KindFilter = "docs"
) -> Location:
    """Make a place of one line."""
    return Location(
        document=DocumentId(1),
        path=path,
        kind=kind,
        language="text",
        ordinal=ordinal,
        start_line=start_line,
        end_line=start_line,
        size=1,
        mtime_ns=mtime_ns,
    )


def make_passage(
    text: str, at: Location | None = None, *, heading: str = "", elsewhere: tuple[Location, ...] = ()
) -> Passage:
    """Make a passage; without a place it stands in a file named after its text."""
    return Passage(
        chunk=ChunkId(1),
        text_hash=text_hash(f"{heading}\n{text}"),
        heading=heading,
        symbols=(),
        text=text,
        at=at or make_location(f"{text}.md"),
        elsewhere=elsewhere,
    )


def make_candidate(
    text: str, at: Location | None = None, *, lexical: int | None = None, vector: int | None = None
) -> Candidate:
    """Make a candidate with these ranks."""
    return Candidate(
        passage=make_passage(text, at),
        lexical=None if lexical is None else Standing(rank=lexical, score=10.0 / lexical),
        vector=None if vector is None else Standing(rank=vector, score=1.0 / vector),
    )


def make_ranked(
    text: str,
    at: Location | None = None,
    *,
    score: float = 1.0,
    heading: str = "",
    elsewhere: tuple[Location, ...] = (),
) -> Ranked:
    """Make a ranked passage."""
    passage = make_passage(text, at, heading=heading, elsewhere=elsewhere)
    return Ranked(candidate=Candidate(passage=passage), score=score, parts={"lexical": score})
