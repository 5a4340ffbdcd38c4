"""The tables of `knowledge.sqlite`, and the history of their form (text and numbers alone).

The database keeps revisions immutable whoever writes to it: no statement changes or removes one, but for the moment of
its first publication and for a permanent deletion that was declared in the same transaction.
"""

from __future__ import annotations

APPLICATION_ID = 0x6B786B62  # "kxkb"
FILE_NAME = "knowledge.sqlite"

TABLES = """
CREATE TABLE state(key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE spaces(
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK(kind IN ('personal', 'team')),
  name TEXT NOT NULL,
  folded TEXT NOT NULL,            -- the name in which two are the same
  owner TEXT NOT NULL,             -- principal
  created TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX one_personal_space ON spaces(owner) WHERE kind = 'personal';
CREATE TABLE members(
  space TEXT NOT NULL REFERENCES spaces(id),
  principal TEXT NOT NULL,
  role TEXT NOT NULL CHECK(role IN ('owner', 'admin', 'member', 'viewer')),
  PRIMARY KEY(space, principal)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_by_principal ON members(principal, space);
CREATE UNIQUE INDEX one_owner ON members(space) WHERE role = 'owner';
CREATE TABLE bases(
  id TEXT PRIMARY KEY,
  space TEXT NOT NULL REFERENCES spaces(id),
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  description TEXT NOT NULL,
  status TEXT NOT NULL CHECK(status IN ('active', 'archived')),
  created TEXT NOT NULL,
  updated TEXT NOT NULL,
  UNIQUE(space, folded)
) STRICT, WITHOUT ROWID;
CREATE TABLE items(
  id TEXT PRIMARY KEY,
  base TEXT NOT NULL REFERENCES bases(id),
  title TEXT NOT NULL,
  locator TEXT NOT NULL,
  status TEXT NOT NULL CHECK(status IN ('draft', 'published', 'archived')),
  was TEXT NOT NULL CHECK(was IN ('draft', 'published')),
  origin TEXT NOT NULL CHECK(origin IN ('user_created', 'file')),
  current TEXT REFERENCES revisions(id),
  author TEXT NOT NULL,
  failure TEXT NOT NULL,
  file_hash TEXT NOT NULL,
  created TEXT NOT NULL,
  updated TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX items_by_base ON items(base, status);
CREATE UNIQUE INDEX one_item_of_a_file ON items(base, locator) WHERE origin = 'file';
CREATE TABLE revisions(
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  item TEXT NOT NULL REFERENCES items(id),
  number INTEGER NOT NULL CHECK(number >= 1),
  format TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  source TEXT NOT NULL,            -- JSON
  provenance TEXT NOT NULL,        -- JSON
  created TEXT NOT NULL,
  published_at TEXT,
  content BLOB NOT NULL,
  UNIQUE(item, number)
) STRICT;
CREATE TABLE links(
  project TEXT NOT NULL,
  target TEXT NOT NULL,            -- id of an item or a base
  created TEXT NOT NULL,
  PRIMARY KEY(project, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_target ON links(target);
CREATE TABLE audit(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  space TEXT NOT NULL,
  at TEXT NOT NULL,
  principal TEXT NOT NULL,
  action TEXT NOT NULL,
  object TEXT NOT NULL,
  detail TEXT NOT NULL             -- JSON
) STRICT;
CREATE INDEX audit_by_space ON audit(space, number);
CREATE TABLE erasing(item TEXT PRIMARY KEY) STRICT, WITHOUT ROWID; -- what this transaction destroys; else empty
"""

GUARDS = """
CREATE TRIGGER revision_rises BEFORE INSERT ON revisions
WHEN EXISTS(SELECT 1 FROM revisions r WHERE r.id = NEW.id OR r.seq = NEW.seq OR (r.item = NEW.item AND r.number >= NEW.number))
BEGIN SELECT RAISE(ABORT, 'a revision is new and has the next number'); END;
CREATE TRIGGER revision_is_immutable BEFORE UPDATE ON revisions
WHEN NOT (OLD.published_at IS NULL AND NEW.published_at IS NOT NULL
  AND NEW.seq IS OLD.seq AND NEW.id IS OLD.id AND NEW.item IS OLD.item AND NEW.number IS OLD.number
  AND NEW.format IS OLD.format AND NEW.content_hash IS OLD.content_hash AND NEW.source IS OLD.source
  AND NEW.provenance IS OLD.provenance AND NEW.created IS OLD.created AND NEW.content IS OLD.content)
BEGIN SELECT RAISE(ABORT, 'a revision is immutable'); END;
CREATE TRIGGER revision_stays BEFORE DELETE ON revisions
WHEN NOT EXISTS(SELECT 1 FROM erasing WHERE item = OLD.item)
BEGIN SELECT RAISE(ABORT, 'a revision is destroyed with its item alone'); END;
CREATE TRIGGER pointer_advances BEFORE UPDATE OF current ON items
WHEN NEW.current IS NOT OLD.current AND NOT EXISTS(SELECT 1 FROM erasing WHERE item = OLD.id) AND NOT EXISTS(
  SELECT 1 FROM revisions n WHERE n.id = NEW.current AND n.item = NEW.id
    AND n.number > coalesce((SELECT o.number FROM revisions o WHERE o.id = OLD.current), 0))
BEGIN SELECT RAISE(ABORT, 'the pointer advances to a newer revision of its item'); END;
CREATE TRIGGER audit_is_immutable BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is immutable'); END;
CREATE TRIGGER audit_stays BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is kept'); END;
"""

HISTORY: tuple[str, ...] = (TABLES + GUARDS,)  # one entry a version; the version is the number of entries run
