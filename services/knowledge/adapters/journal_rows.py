"""The audit, and the links to projects, as rows; works inside a transaction of `Store`."""

from __future__ import annotations

import apsw
import msgspec

from shared.knowledge_upkeep_messages import AuditRow

_ADD = "INSERT INTO audit(space, at, principal, action, object, detail) VALUES(?, ?, ?, ?, ?, ?)"
_PAGE = """
SELECT number, at, principal, action, object, detail FROM audit WHERE space = ? AND number > ? ORDER BY number LIMIT ?
"""
_LINK = "INSERT OR IGNORE INTO links(project, target, created) VALUES(?, ?, ?)"
_UNLINK = "DELETE FROM links WHERE project = ? AND target = ?"
_UNLINK_ALL = "DELETE FROM links WHERE target = ?"
_LINKS = "SELECT target FROM links WHERE project = ? ORDER BY created, target"


class JournalRows:
    """Reads and writes the audit and the links."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def add(self, space: str, row: AuditRow) -> None:
        """Write what was done; the number is given by the database. Never a text, a title or a name: they may be erased."""
        detail = msgspec.json.encode(row.detail).decode()
        self._connection.execute(_ADD, (space, row.at, row.principal, row.action, row.object, detail))

    def page(self, space: str, *, after: int, limit: int) -> tuple[AuditRow, ...]:
        """Give what was done in a space, oldest first."""
        return tuple(
            AuditRow(
                number=int(str(row[0])),
                at=str(row[1]),
                principal=str(row[2]),
                action=str(row[3]),
                object=str(row[4]),
                detail=msgspec.json.decode(str(row[5]), type=dict[str, str]),
            )
            for row in self._connection.execute(_PAGE, (space, after, limit))
        )

    def link(self, project: str, target: str, at: str) -> bool:
        """Tie a target to a project; tells whether it was not tied."""
        self._connection.execute(_LINK, (project, target, at))
        return bool(self._connection.changes())

    def unlink(self, project: str, target: str) -> bool:
        """Untie a target from a project; tells whether it was tied."""
        self._connection.execute(_UNLINK, (project, target))
        return bool(self._connection.changes())

    def unlink_all(self, target: str) -> None:
        """Untie a target from every project."""
        self._connection.execute(_UNLINK_ALL, (target,))

    def linked(self, project: str) -> tuple[str, ...]:
        """Give the ids tied to a project, the oldest link first."""
        return tuple(str(row[0]) for row in self._connection.execute(_LINKS, (project,)))
