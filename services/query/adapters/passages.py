"""Rows of the index to passages: the filters of a request, and texts with all the places where they stand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from services.query.adapters.reader import Row, Snapshot, Value
from services.query.core.passages import Location, Passage
from services.query.core.path_glob import Below, PathGlob
from shared.identity import ChunkId, DocumentId, TextHash
from shared.messages import KindFilter

MAX_PLACES = 50
"""Places of one text that are looked at; a licence may stand in thousands of files."""

_MATCHING_DOCUMENTS = "SELECT id, path FROM document{e} WHERE state = 'indexed'"

_PLACES = """
SELECT c.id, c.text_hash, c.heading, c.symbols, c.text, c.document, d.path, d.kind, d.language, c.ordinal,
       c.start_line, c.end_line, d.size, d.mtime_ns, d.ctime_ns, d.content_hash
FROM chunk{e} c CROSS JOIN document{e} d ON d.id = c.document
WHERE c.text_hash IN ({texts}) AND {filters}
ORDER BY d.path, c.ordinal
"""
_FIRST_PLACES = """
SELECT id, text_hash, heading, symbols, text, document, path, kind, language, ordinal, start_line, end_line,
       size, mtime_ns, ctime_ns, content_hash
FROM (SELECT c.id, c.text_hash, c.heading, c.symbols, c.text, c.document, d.path, d.kind, d.language, c.ordinal,
             c.start_line, c.end_line, d.size, d.mtime_ns, d.ctime_ns, d.content_hash,
             row_number() OVER (PARTITION BY c.text_hash ORDER BY c.id NOT IN (SELECT value FROM json_each(:ids)),
                                d.path, c.ordinal) AS place
      FROM chunk{e} c CROSS JOIN document{e} d ON d.id = c.document
      WHERE c.text_hash IN ({texts}) AND {filters})
WHERE place <= :places
ORDER BY path, ordinal
"""
_MOST_PLACES = """
SELECT coalesce(max(places), 0)
FROM (SELECT count(*) AS places FROM chunk{e} WHERE text_hash IN ({texts}) GROUP BY text_hash)
"""
_BY_CHUNKS = "SELECT text_hash FROM chunk{e} WHERE id IN (SELECT value FROM json_each(:ids))"
_BY_TEXTS = "SELECT unhex(value) FROM json_each(:texts)"


class Filters(Struct, frozen=True, kw_only=True):
    """What a request wants to see, and what may be shown at all."""

    kinds: tuple[KindFilter, ...] = ()  # () means every kind
    glob: PathGlob | Below | None = None
    is_denied: Callable[[str], bool] = lambda _: False


class RowFilter(Struct, frozen=True, kw_only=True):
    """The filters as conditions on a document row `d`, for one snapshot; values are bound, never spliced."""

    conditions: tuple[str, ...] = ("d.state = 'indexed'",)
    bindings: dict[str, Value] = {}

    @property
    def is_open(self) -> bool:
        """Whether it selects every document that is indexed."""
        return not self.bindings

    def into(self, statement: str) -> str:
        """Put the conditions into a statement that has a place for `{filters}`."""
        return statement.replace("{filters}", " AND ".join(self.conditions))

    def with_condition(self, condition: str, **values: str) -> RowFilter:
        """Demand one more thing."""
        return RowFilter(conditions=(*self.conditions, condition), bindings={**self.bindings, **values})

    def without(self, documents: Sequence[DocumentId]) -> RowFilter:
        """Leave these documents out too."""
        if not documents:
            return self
        return self.with_condition("d.id NOT IN (SELECT value FROM json_each(:out))", out=json.dumps(list(documents)))


def row_filter(snapshot: Snapshot, filters: Filters) -> RowFilter:
    """Write the filters as conditions; a path glob becomes the list of the documents it selects."""
    rows = RowFilter()
    if filters.kinds:
        rows = rows.with_condition("d.kind IN (SELECT value FROM json_each(:kinds))", kinds=json.dumps(filters.kinds))
    if filters.glob is not None:
        matches = filters.glob.matches
        selected = [row[0] for row in snapshot.all(_MATCHING_DOCUMENTS) if matches(str(row[1]))]
        rows = rows.with_condition("d.id IN (SELECT value FROM json_each(:selected))", selected=json.dumps(selected))
    return rows


def passages_of(snapshot: Snapshot, rows: RowFilter, filters: Filters, chunks: Sequence[ChunkId]) -> list[Passage]:
    """Load the texts of these chunks, each once, with the places they stand at; within the filters and not denied.

    A passage is shown at the place of the first of `chunks` that has its text, where that place may be shown.
    """
    bindings = {"ids": json.dumps(list(chunks))}
    position = {int(chunk): place for place, chunk in enumerate(chunks)}
    return [_passage(places, position) for places in _places(snapshot, rows, filters, _BY_CHUNKS, bindings)]


def passages_of_texts(
    snapshot: Snapshot, rows: RowFilter, filters: Filters, texts: Sequence[TextHash]
) -> list[Passage]:
    """Load those of these texts that stand anywhere within the filters and not denied, each once, in no order.

    A passage is shown at the first of its places in path order.
    """
    bindings = {"ids": "[]", "texts": json.dumps([text.hex() for text in texts])}
    return [_passage(places, {}) for places in _places(snapshot, rows, filters, _BY_TEXTS, bindings)]


def _places(
    snapshot: Snapshot, rows: RowFilter, filters: Filters, texts: str, bindings: Mapping[str, Value]
) -> Iterable[list[Row]]:
    """Give the places of each text, in path order; cutting them is what costs, and is seldom needed."""
    most = snapshot.number(_MOST_PLACES.replace("{texts}", texts), bindings)
    statement = _PLACES if most <= MAX_PLACES else _FIRST_PLACES
    values = {**rows.bindings, **bindings, "places": MAX_PLACES}
    by_text: dict[Value, list[Row]] = {}
    for row in snapshot.all(rows.into(statement.replace("{texts}", texts)), values):
        if not filters.is_denied(str(row[6])):
            by_text.setdefault(row[1], []).append(row)
    return by_text.values()


def _passage(places: Sequence[Row], position: Mapping[int, int]) -> Passage:
    main = places[0]
    if len(places) > 1:
        main = min(places, key=lambda row: position.get(int(row[0]), len(position)))  # type: ignore[arg-type]
    return Passage(
        chunk=ChunkId(int(main[0])),  # type: ignore[arg-type]
        text_hash=TextHash(bytes(main[1])),  # type: ignore[arg-type]
        heading=str(main[2]),
        symbols=tuple(str(main[3]).split("\n")) if main[3] else (),
        text=str(main[4]),
        at=_location(main),
        elsewhere=tuple(_location(row) for row in places if row is not main),
    )


def _location(row: Row) -> Location:
    document, path, kind, language, ordinal, start_line, end_line, size, mtime_ns, ctime_ns, content_hash = row[5:]
    return Location(
        document=DocumentId(int(document)),  # type: ignore[arg-type]
        path=str(path),
        kind=str(kind),  # type: ignore[arg-type]
        language=str(language),
        ordinal=int(ordinal),  # type: ignore[arg-type]
        start_line=int(start_line),  # type: ignore[arg-type]
        end_line=int(end_line),  # type: ignore[arg-type]
        size=int(size),  # type: ignore[arg-type]
        mtime_ns=int(mtime_ns),  # type: ignore[arg-type]
        ctime_ns=int(ctime_ns),  # type: ignore[arg-type]
        content_hash=bytes(content_hash),  # type: ignore[arg-type]
    )
