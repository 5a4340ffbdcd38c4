"""Items and their revisions, as rows; works inside a transaction of `Store`."""
# ruff: noqa: S608 - what is put into a statement is a list of columns of this module

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import apsw
import msgspec
from msgspec import Struct

from services.knowledge.core.records import Item, Revision
from services.knowledge.core.revision import content_hash
from shared.knowledge_messages import ItemStatus

_ITEM = """
i.id, i.base, i.title, i.locator, i.status, i.was, i.origin, i.current, i.author, i.failure, i.file_hash, i.created, i.updated,
coalesce((SELECT c.number FROM revisions c WHERE c.id = i.current), 0)
"""
_REVISION = """
r.id, r.item, r.number, r.format, r.content_hash, length(r.content), r.source, r.provenance, r.created, r.published_at
"""
_FIND = f"SELECT {_ITEM} FROM items i WHERE i.id = ?"
_OF_FILE = f"SELECT {_ITEM} FROM items i WHERE i.base = ? AND i.locator = ? AND i.origin = 'file'"
_OF_BASE = f"SELECT {_ITEM} FROM items i WHERE i.base = ? ORDER BY i.id"
_SHOWN = """
FROM items i JOIN bases b ON b.id = i.base
WHERE (i.base IN (SELECT value FROM json_each(?1))
   OR (i.base IN (SELECT value FROM json_each(?2)) AND i.status = 'published' AND i.current IS NOT NULL AND b.status = 'active'))
  AND (?3 IS NULL OR i.status = ?3)
"""
_LIST = f"SELECT {_ITEM} {_SHOWN} ORDER BY b.folded, i.base, i.title, i.id LIMIT ?4 OFFSET ?5"
_TOTAL = f"SELECT count(*) {_SHOWN}"
_PUBLISHED = """
SELECT i.id, r.id, i.title, r.format, r.content_hash, length(r.content), i.base
FROM bases b JOIN items i ON i.base = b.id JOIN revisions r ON r.id = i.current
WHERE b.space = ? AND b.status = 'active' AND i.status = 'published' ORDER BY i.id
"""
_ADD = """
INSERT INTO items(id, base, title, locator, status, was, origin, current, author, failure, file_hash, created, updated)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_SAVE = """
UPDATE items SET title = ?, locator = ?, status = ?, was = ?, current = ?, failure = ?, file_hash = ?, updated = ? WHERE id = ?
"""
_FIND_REVISION = f"SELECT {_REVISION} FROM revisions r WHERE r.id = ?"
_REVISIONS = f"SELECT {_REVISION} FROM revisions r WHERE r.item = ? AND r.number < ? ORDER BY r.number DESC LIMIT ?"
_NEXT = "SELECT coalesce(max(number), 0) + 1 FROM revisions WHERE item = ?"
_ADD_REVISION = """
INSERT INTO revisions(id, item, number, format, content_hash, source, provenance, created, published_at, content)
VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_PUBLISH = "UPDATE revisions SET published_at = ? WHERE id = ? AND published_at IS NULL"
_CONTENT = "SELECT content, content_hash FROM revisions WHERE id = ?"
_CONTENTS = "SELECT content FROM revisions WHERE item = ? ORDER BY number"
_COUNT_REVISIONS = "SELECT count(*) FROM revisions WHERE item = ?"
_HOLDS = """
SELECT EXISTS(SELECT 1 FROM revisions WHERE instr(content, ?1) OR instr(CAST(source AS BLOB), ?1))
    OR EXISTS(SELECT 1 FROM items WHERE instr(CAST(title || char(10) || locator || char(10) || failure AS BLOB), ?1))
    OR EXISTS(SELECT 1 FROM bases WHERE instr(CAST(name || char(10) || description AS BLOB), ?1))
"""

ALL_NUMBERS = 2**62


class DamagedContentError(Exception):
    """The bytes of a revision are not those that were written."""


class PublishedItem(Struct, frozen=True, kw_only=True):
    """A published current revision of an active base: what a query search may find."""

    item_id: str
    revision_id: str
    title: str
    format: str
    content_hash: str
    content_bytes: int
    base_id: str


class ItemRows:
    """Reads and writes items and revisions."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def find(self, item: str) -> Item | None:
        """Give the item of this id."""
        return self._item(_FIND, item)

    def of_file(self, base: str, locator: str) -> Item | None:
        """Give the item that was imported from this place into the base."""
        return self._item(_OF_FILE, base, locator)

    def of_base(self, base: str) -> tuple[Item, ...]:
        """Give all the items of a base."""
        return tuple(map(_item, self._connection.execute(_OF_BASE, (base,))))

    def page(
        self, edited: Collection[str], read: Collection[str], status: ItemStatus | None, *, offset: int, limit: int
    ) -> tuple[tuple[Item, ...], int]:
        """List items by base and title: all of the bases `edited`, what is found of those `read`; and count them."""
        values = (_json(sorted(edited)), _json(sorted(read)), status)
        rows = self._connection.execute(_LIST, (*values, limit, offset))
        total = self._connection.execute(_TOTAL, values).fetchone()
        return tuple(map(_item, rows)), int(str(total[0])) if total is not None else 0

    def published(self, space: str) -> tuple[PublishedItem, ...]:
        """Give what a query search may find in a space."""
        rows = self._connection.execute(_PUBLISHED, (space,))
        return tuple(
            PublishedItem(
                item_id=row[0],
                revision_id=row[1],
                title=row[2],
                format=row[3],
                content_hash=row[4],
                content_bytes=row[5],
                base_id=row[6],
            )
            for row in rows
        )

    def add(self, item: Item) -> None:
        """Write a new item."""
        self._connection.execute(
            _ADD,
            (
                item.id, item.base, item.title, item.locator, item.status, item.was, item.origin, item.current,
                item.author, item.failure, item.file_hash, item.created, item.updated,
            ),
        )  # fmt: skip

    def save(self, item: Item) -> None:
        """Write what may change of an item."""
        self._connection.execute(
            _SAVE,
            (
                item.title, item.locator, item.status, item.was, item.current, item.failure, item.file_hash,
                item.updated, item.id,
            ),
        )  # fmt: skip

    def revision(self, revision: str) -> Revision | None:
        """Give the revision of this id."""
        row = self._connection.execute(_FIND_REVISION, (revision,)).fetchone()
        return _revision(row) if row is not None else None

    def revisions(self, item: str, *, before: int = ALL_NUMBERS, limit: int) -> tuple[Revision, ...]:
        """Give the revisions of an item below a number, the newest first."""
        return tuple(map(_revision, self._connection.execute(_REVISIONS, (item, before, limit))))

    def next_number(self, item: str) -> int:
        """Give the number of the next revision of an item."""
        row = self._connection.execute(_NEXT, (item,)).fetchone()
        return int(str(row[0])) if row is not None else 1

    def add_revision(self, revision: Revision, content: bytes) -> None:
        """Write a revision, for good."""
        self._connection.execute(
            _ADD_REVISION,
            (
                revision.id, revision.item, revision.number, revision.format, revision.content_hash,
                _json(revision.source), _json(revision.provenance), revision.created, revision.published_at, content,
            ),
        )  # fmt: skip

    def publish(self, revision: str, at: str) -> None:
        """Record when a revision first was the current one of a published item."""
        self._connection.execute(_PUBLISH, (at, revision))

    def content(self, revision: str) -> bytes | None:
        """Give the exact bytes of a revision.

        Raises:
            DamagedContentError: they are not those that were written.
        """
        row = self._connection.execute(_CONTENT, (revision,)).fetchone()
        if row is None:
            return None
        content = bytes(row[0])
        if content_hash(content) != row[1]:
            raise DamagedContentError(revision)
        return content

    def contents(self, item: str) -> Iterator[bytes]:
        """Give the bytes of all revisions of an item, one after the other."""
        for row in self._connection.execute(_CONTENTS, (item,)):
            yield bytes(row[0])

    def count_revisions(self, item: str) -> int:
        """Count the revisions of an item."""
        row = self._connection.execute(_COUNT_REVISIONS, (item,)).fetchone()
        return int(str(row[0])) if row is not None else 0

    def destroy(self, item: str) -> None:
        """Remove an item, all its revisions and its links."""
        run = self._connection.execute
        run("INSERT INTO erasing VALUES(?)", (item,))
        run("DELETE FROM links WHERE target = ?", (item,))
        run("UPDATE items SET current = NULL WHERE id = ?", (item,))
        run("DELETE FROM revisions WHERE item = ?", (item,))
        run("DELETE FROM items WHERE id = ?", (item,))
        run("DELETE FROM erasing WHERE item = ?", (item,))

    def holds(self, marker: bytes) -> bool:
        """Tell whether what is kept has these bytes in a text of it."""
        row = self._connection.execute(_HOLDS, (marker,)).fetchone()
        return row is not None and bool(row[0])

    def _item(self, statement: str, *values: str) -> Item | None:
        row = self._connection.execute(statement, values).fetchone()
        return _item(row) if row is not None else None


def _item(row: tuple[Any, ...]) -> Item:
    return Item(
        id=row[0],
        base=row[1],
        title=row[2],
        locator=row[3],
        status=row[4],
        was=row[5],
        origin=row[6],
        current=row[7],
        author=row[8],
        failure=row[9],
        file_hash=row[10],
        created=row[11],
        updated=row[12],
        number=row[13],
    )


def _revision(row: tuple[Any, ...]) -> Revision:
    return Revision(
        id=row[0],
        item=row[1],
        number=row[2],
        format=row[3],
        content_hash=row[4],
        content_bytes=row[5],
        source=msgspec.json.decode(row[6], type=dict[str, str]),
        provenance=msgspec.json.decode(row[7], type=dict[str, str]),
        created=row[8],
        published_at=row[9],
    )


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
