"""The format of an index file: tables, versions and pragmas (pure: text and numbers).

One file holds one tree. `embedding` and `failure` are shared; `document`, `chunk`, `chunk_fts` and `missing` exist once
per epoch (`*_e{n}`), so that a rebuild grows beside the epoch that answers and takes over by one UPDATE of `meta`.
"""

from __future__ import annotations

from enum import StrEnum

SCHEMA_VERSION = 2
# One line per step, newest last; the indexer migrates forward, a reader refuses what is newer.
SCHEMA_HISTORY = (
    (1, "documents, chunks, contentless FTS5, content-addressed vectors, epochs"),
    (2, "documents know the ctime of their file: a restored size and mtime hides no change"),
)
# The statements of each step, for the tables of every epoch.
MIGRATIONS = {2: "ALTER TABLE document{e} ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0"}

MIN_SQLITE = (3, 51, 3)  # below, a WAL file with several processes can be corrupted (WAL-reset bug, 3.7.0 to 3.51.2)
BUSY_TIMEOUT_MS = 2_000
PAGE_SIZE = 8_192
WAL_AUTOCHECKPOINT_PAGES = 1_000
WAL_KEPT_BYTES = 4 * 1024 * 1024  # the log is cut to this when it begins anew
WAL_LIMIT_BYTES = 48 * 1024 * 1024  # a log that a reader keeps from ending is not made longer by bulk work


class Meta(StrEnum):
    """Keys of the `meta` table."""

    INSTANCE = "instance"
    PROJECT = "project"
    ROOT = "root"
    SCHEMA = "schema"
    SEQ = "seq"  # +1 per commit
    EPOCH = "epoch"  # the epoch that answers
    BUILDING = "building"  # the epoch being built beside it, 0 when none
    BUILDING_ANNOUNCED = "building_announced"  # 1 once every path of the tree was announced to that epoch
    ERASURE_WANTED = "erasure_wanted"  # +1 each time text was removed that must leave no trace in the file
    ERASURE_DONE = "erasure_done"  # the value of ERASURE_WANTED whose traces are gone


class DocumentState(StrEnum):
    """What became of a path that was handled."""

    INDEXED = "indexed"
    SKIPPED = "skipped"
    FAILED = "failed"


NO_STRUCTURE = "no_structure"
"""The reason of an indexed document whose parser failed: it is cut by its form alone."""

CUT_TEXT = "cut_text"
"""The reason of an indexed document of which a part is missing: a PDF of too many pages."""


# Set before the first table exists; a later connection finds them in the file.
CREATION_PRAGMAS = (f"PRAGMA page_size={PAGE_SIZE}", "PRAGMA auto_vacuum=INCREMENTAL", "PRAGMA journal_mode=WAL")
WRITER_PRAGMAS = (
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA secure_delete=FAST",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA foreign_keys=OFF",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA cache_size=-65536",
    f"PRAGMA wal_autocheckpoint={WAL_AUTOCHECKPOINT_PAGES}",
    f"PRAGMA journal_size_limit={WAL_KEPT_BYTES}",
)
READER_PRAGMAS = (
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}",
    "PRAGMA query_only=ON",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA cache_size=-16384",
    "PRAGMA mmap_size=1073741824",
)

SHARED_TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID; -- ANY keeps types only when STRICT
CREATE TABLE epoch(
  id INTEGER PRIMARY KEY,
  chunker INTEGER NOT NULL,        -- chunker version that made its chunks
  analyzer INTEGER NOT NULL,       -- analyzer version of its terms
  model INTEGER NOT NULL           -- model whose vectors it is answered with
);
CREATE TABLE model(id INTEGER PRIMARY KEY, model_id TEXT NOT NULL UNIQUE);
CREATE TABLE embedding(
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: who mirrors the vectors follows by it
  text_hash BLOB NOT NULL,
  model INTEGER NOT NULL,
  vector BLOB NOT NULL,            -- little-endian float32 x dim, L2-normalised
  last_used_ns INTEGER NOT NULL
);
CREATE UNIQUE INDEX embedding_by_text ON embedding(text_hash, model);
CREATE TABLE failure(
  subject BLOB NOT NULL PRIMARY KEY, -- text hash of a text, or path of a document
  code TEXT NOT NULL,
  detail TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  next_try_ns INTEGER NOT NULL     -- 0: not tried again until the text changes or someone asks
) WITHOUT ROWID;
"""

EPOCH_TABLES = """
CREATE TABLE document_e{n}(
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,       -- reversible escape of the path's bytes; a pruned folder ends with "/"
  kind TEXT NOT NULL,
  language TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  content_hash BLOB NOT NULL,      -- sha256 of the file's bytes; empty when it was not read
  state TEXT NOT NULL,
  reason TEXT NOT NULL,            -- skip reason or error code
  detail TEXT NOT NULL,
  ctime_ns INTEGER NOT NULL DEFAULT 0 -- nobody can set it back; 0 when it was not read
);
CREATE INDEX document_by_state_e{n} ON document_e{n}(state, kind);
CREATE TABLE chunk_e{n}(
  id INTEGER PRIMARY KEY,
  document INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,        -- 0-based position in the document
  start_line INTEGER NOT NULL,     -- 1-based, inclusive
  end_line INTEGER NOT NULL,
  heading TEXT NOT NULL,           -- heading path or symbol path
  symbols TEXT NOT NULL,           -- names defined in it, one a line
  text TEXT NOT NULL,              -- the only copy
  text_hash BLOB NOT NULL,         -- of heading and text, as embedded
  tokens INTEGER NOT NULL          -- exact, special tokens included
);
CREATE INDEX chunk_by_document_e{n} ON chunk_e{n}(document);
CREATE INDEX chunk_by_text_e{n} ON chunk_e{n}(text_hash);
CREATE VIRTUAL TABLE chunk_fts_e{n} USING fts5(
  body, names, path,               -- analysed terms, joined by blanks (shared.analyzer)
  content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 0 tokenchars '_'"
);
CREATE TABLE missing_e{n}(         -- derived: texts of live chunks without a vector of the epoch's model
  text_hash BLOB NOT NULL PRIMARY KEY,
  urgency INTEGER NOT NULL,        -- 0 asked for by a person, 1 live edit, 2 bulk
  touched_ns INTEGER NOT NULL      -- newest first within one urgency
) WITHOUT ROWID;
"""

EPOCH_TABLE_NAMES = ("chunk_fts", "missing", "chunk", "document")


def epoch_ddl(epoch: int) -> str:
    """Give the statements that create the tables of `epoch`."""
    return EPOCH_TABLES.replace("{n}", str(int(epoch)))


def drop_epoch_ddl(epoch: int) -> str:
    """Give the statements that drop the tables of `epoch`."""
    return "".join(f"DROP TABLE IF EXISTS {name}_e{int(epoch)};\n" for name in EPOCH_TABLE_NAMES)


def for_epoch(statement: str, epoch: int) -> str:
    """Point a statement written with `{e}` suffixes at the tables of one epoch.

    >>> for_epoch("SELECT count(*) FROM chunk{e}", 3)
    'SELECT count(*) FROM chunk_e3'
    """
    return statement.replace("{e}", f"_e{int(epoch)}")
