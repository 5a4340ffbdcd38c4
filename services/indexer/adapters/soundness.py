"""Is an index sound? Its pages, its full-text index, its texts and vectors, and whether the tables agree.

Reads the whole file (half a second a hundred megabytes), so it is asked after an unclean end or where damage was met.
"""

from __future__ import annotations

import apsw

from services.indexer.core.chunking import embed_text
from shared.identity import text_hash
from shared.index_format import for_epoch
from shared.model import DIM
from shared.vectors import check_vector_bytes

_FTS_CHECK = "INSERT INTO chunk_fts{e}(chunk_fts{e}) VALUES('integrity-check')"
_NO_VECTOR = """
SELECT id FROM chunk{e} c WHERE NOT EXISTS (SELECT 1 FROM missing{e} WHERE text_hash = c.text_hash)
  AND NOT EXISTS (SELECT 1 FROM embedding v WHERE v.text_hash = c.text_hash
                    AND v.model = (SELECT model FROM epoch WHERE id = ?1))
"""
_STRAYS = (
    ("passages and words", "SELECT id FROM chunk{e} EXCEPT SELECT id FROM chunk_fts{e}_docsize"),
    ("words and passages", "SELECT id FROM chunk_fts{e}_docsize EXCEPT SELECT id FROM chunk{e}"),
    ("passages and documents", "SELECT id FROM chunk{e} WHERE document NOT IN (SELECT id FROM document{e})"),
    ("passages and vectors", _NO_VECTOR),
)


def flaw_of(connection: apsw.Connection) -> str | None:
    """Name the first thing wrong with an index, None if it is sound; the connection can write.

    Raises:
        apsw.Error: busy, full, or a disk that fails: these are no flaws.
    """
    try:
        return _first_flaw(connection)
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, UnicodeError, TypeError) as error:
        return str(error)  # a page, a table, a text or a value is not what it was


def _first_flaw(connection: apsw.Connection) -> str | None:
    found = str(next(iter(connection.execute("PRAGMA quick_check(1)")))[0])
    if found != "ok":
        return found
    for row in connection.execute("SELECT id FROM epoch").fetchall():
        epoch = int(str(row[0]))
        connection.execute(for_epoch(_FTS_CHECK, epoch)).fetchall()
        for what, strays in _STRAYS:
            statement = f"SELECT 1 FROM ({for_epoch(strays, epoch)}) LIMIT 1"  # noqa: S608  # our own names
            bindings = (epoch,) if "?1" in strays else ()
            if connection.execute(statement, bindings).fetchall():
                return f"{what} do not agree"
        for heading, text, known in connection.execute(
            for_epoch("SELECT heading, text, text_hash FROM chunk{e}", epoch)
        ):
            if text_hash(embed_text(str(heading), str(text))) != known:
                return "a passage is not the text it was"
    for (vector,) in connection.execute("SELECT vector FROM embedding"):
        flaw = check_vector_bytes(bytes(vector), DIM)
        if flaw is not None:
            return f"a vector is none: {flaw}"
    return None
