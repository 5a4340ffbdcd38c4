"""Spaces, their members and their bases, as rows; works inside a transaction of `Store`."""
# ruff: noqa: S608 - what is put into a statement is a list of columns of this module

from __future__ import annotations

from typing import Any

import apsw

from services.knowledge.core.records import Base, Membership, Space
from services.knowledge.core.words import folded
from shared.knowledge_messages import BaseStatus, Member, Role

_SPACE = "s.id, s.kind, s.name, s.owner, s.created"
_BASE = "id, space, name, description, status, created, updated"
_SPACES_OF = f"""
SELECT {_SPACE}, m.role FROM members m JOIN spaces s ON s.id = m.space
WHERE m.principal = ? ORDER BY s.kind, s.folded, s.id
"""
_MEMBERSHIP = (
    f"SELECT {_SPACE}, m.role FROM members m JOIN spaces s ON s.id = m.space WHERE m.principal = ? AND s.id = ?"
)
_IDS = "SELECT id FROM spaces ORDER BY id"
_ADD_SPACE = "INSERT INTO spaces(id, kind, name, folded, owner, created) VALUES(?, ?, ?, ?, ?, ?)"
_MEMBERS = "SELECT principal, role FROM members WHERE space = ? ORDER BY role = 'owner' DESC, principal"
_SET_MEMBER = """
INSERT INTO members(space, principal, role) VALUES(?, ?, ?) ON CONFLICT(space, principal) DO UPDATE SET role = excluded.role
"""
_DROP_MEMBER = "DELETE FROM members WHERE space = ? AND principal = ?"
_COUNT_SPACES = "SELECT count(*) FROM members WHERE principal = ?"
_BASES_OF = f"SELECT {_BASE} FROM bases WHERE space = ? ORDER BY folded"
_FIND_BASE = f"SELECT {_BASE} FROM bases WHERE id = ?"
_ADD_BASE = """
INSERT INTO bases(id, space, name, description, status, created, updated, folded) VALUES(?, ?, ?, ?, ?, ?, ?, ?)
"""
_SAVE_BASE = "UPDATE bases SET name = ?, description = ?, status = ?, updated = ?, folded = ? WHERE id = ?"
_DROP_BASE = "DELETE FROM bases WHERE id = ?"
_NAMED_BASE = "SELECT id FROM bases WHERE space = ? AND folded = ?"
_COUNTS = """
SELECT count(*), count(*) FILTER (WHERE status = 'published'), count(*) FILTER (WHERE status = 'draft')
FROM items WHERE base = ?
"""


class SpaceRows:
    """Reads and writes spaces, members and bases."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def memberships(self, principal: str) -> tuple[Membership, ...]:
        """Give the spaces of a principal with its role, the personal one first, then by name."""
        return tuple(map(_membership, self._connection.execute(_SPACES_OF, (principal,))))

    def membership(self, principal: str, space: str) -> Membership | None:
        """Give the role of a principal in the space of this id."""
        row = self._connection.execute(_MEMBERSHIP, (principal, space)).fetchone()
        return _membership(row) if row is not None else None

    def ids(self) -> tuple[str, ...]:
        """Give the ids of all spaces."""
        return tuple(str(row[0]) for row in self._connection.execute(_IDS))

    def add(self, space: Space) -> None:
        """Found a space; its owner is its first member."""
        values = (space.id, space.kind, space.name, folded(space.name), space.owner, space.created)
        self._connection.execute(_ADD_SPACE, values)
        self._connection.execute(_SET_MEMBER, (space.id, space.owner, "owner"))

    def members(self, space: str) -> tuple[Member, ...]:
        """Give the members of a space, the owner first, then by name."""
        rows = self._connection.execute(_MEMBERS, (space,))
        return tuple(Member(principal=str(row[0]), role=_any(row[1])) for row in rows)

    def set_member(self, space: str, principal: str, role: Role | None) -> None:
        """Give a principal a role, or take it away."""
        if role is None:
            self._connection.execute(_DROP_MEMBER, (space, principal))
        else:
            self._connection.execute(_SET_MEMBER, (space, principal, role))

    def count_of(self, principal: str) -> int:
        """Count the spaces of a principal."""
        return _count(self._connection.execute(_COUNT_SPACES, (principal,)).fetchone())

    def bases(self, space: str) -> tuple[Base, ...]:
        """Give the bases of a space by name."""
        return tuple(map(_base, self._connection.execute(_BASES_OF, (space,))))

    def base(self, base: str) -> Base | None:
        """Give the base of this id."""
        row = self._connection.execute(_FIND_BASE, (base,)).fetchone()
        return _base(row) if row is not None else None

    def base_named(self, space: str, name: str) -> str | None:
        """Give the id of the base of a space that has this name."""
        row = self._connection.execute(_NAMED_BASE, (space, folded(name))).fetchone()
        return str(row[0]) if row is not None else None

    def add_base(self, base: Base) -> None:
        """Found a base."""
        values = (base.id, base.space, base.name, base.description, base.status, base.created, base.updated)
        self._connection.execute(_ADD_BASE, (*values, folded(base.name)))

    def save_base(self, base: Base) -> None:
        """Write the name, description and status of a base."""
        values = (base.name, base.description, base.status, base.updated, folded(base.name), base.id)
        self._connection.execute(_SAVE_BASE, values)

    def drop_base(self, base: str) -> None:
        """Remove a base that has no items any more."""
        self._connection.execute(_DROP_BASE, (base,))

    def counts(self, base: str) -> tuple[int, int, int]:
        """Count the items of a base: all, published, drafts."""
        row = self._connection.execute(_COUNTS, (base,)).fetchone()
        assert row is not None
        return int(str(row[0])), int(str(row[1])), int(str(row[2]))


def _membership(row: tuple[Any, ...]) -> Membership:
    space = Space(id=row[0], kind=row[1], name=row[2], owner=row[3], created=row[4])
    return Membership(space=space, role=row[5])


def _base(row: tuple[Any, ...]) -> Base:
    status: BaseStatus = row[4]
    return Base(id=row[0], space=row[1], name=row[2], description=row[3], status=status, created=row[5], updated=row[6])


def _count(row: tuple[Any, ...] | None) -> int:
    return int(row[0]) if row is not None else 0


def _any(value: object) -> Any:
    """Take a value of a closed set: the table's CHECK holds it."""
    return value
