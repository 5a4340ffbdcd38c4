"""What an operation did, and what the rest of the service must do once it is on the disk."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

from services.knowledge.adapters.store import Tables
from shared.knowledge_messages import Caller
from shared.knowledge_upkeep_messages import AuditRow
from shared.messages import Message

R_co = TypeVar("R_co", bound=Message, covariant=True)


class Done(Struct, Generic[R_co], frozen=True, kw_only=True):
    """A reply, and the space in which something a search may see has changed."""

    reply: R_co
    space: str = ""  # id; empty: nothing changed
    erased: tuple[str, ...] = ()  # ids of items that were destroyed
    markers: tuple[bytes, ...] = ()  # bytes of theirs that must be nowhere any more


class Moment(Struct, frozen=True):
    """Who does something, and when."""

    caller: Caller
    at: str  # RFC 3339, UTC

    def record(self, tables: Tables, space: str, action: str, subject: str, **detail: object) -> None:
        """Write into the audit what is done; ids, states and numbers alone, no word of a text."""
        row = AuditRow(
            number=0,
            at=self.at,
            principal=self.caller.principal,
            action=action,
            object=subject,
            detail={name: str(value) for name, value in detail.items()},
        )
        tables.journal.add(space, row)
