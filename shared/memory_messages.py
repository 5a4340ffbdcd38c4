"""The messages of a project's memory: records that are remembered, recalled and forgotten (pure).

As those of `shared.messages`, of which they are a part in a file of their own. Memory belongs to a project; knowledge
bases do not, and nothing here changes them.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from shared.knowledge_messages import Caller, KnowledgeHit
from shared.messages import InstanceMessage, Message

MemoryKind = Literal["knowledge", "working"]  # durable; transient and expiring


class MemoryRecord(Struct, frozen=True, kw_only=True):
    """One record."""

    id: str
    kind: MemoryKind
    text: str
    created: str  # RFC 3339, UTC
    expires: str | None  # of a working record
    principal: str  # who had it remembered
    client: str
    session: str = ""
    source: str = ""  # where it was learned: a path, an address, a message
    tags: tuple[str, ...] = ()
    space: str = ""  # id of the team space it belongs to; empty: the principal's own


class Remember(InstanceMessage, frozen=True, kw_only=True):
    """Keep a record. The same text of the same kind and owner is kept once: its expiry is moved, nothing else."""

    caller: Caller
    text: str  # 1..20,000 characters
    kind: MemoryKind = "knowledge"
    expires_s: int | None = None  # seconds from now; a working record without it expires after 14 days
    source: str = ""
    session: str = ""
    tags: tuple[str, ...] = ()
    space: str = ""  # id or name of a team space the caller may write to


class Remembered(Message, frozen=True, kw_only=True):
    """The record as it is kept."""

    record: MemoryRecord
    is_new: bool


class Forget(InstanceMessage, frozen=True, kw_only=True):
    """Destroy records, to the bytes. Idempotent: what is not there is not counted."""

    caller: Caller
    ids: tuple[str, ...]  # at most 100


class Forgotten(Message, frozen=True, kw_only=True):
    """How many records were destroyed."""

    forgotten: int


class PromoteMemory(InstanceMessage, frozen=True, kw_only=True):
    """Make a working record durable. Idempotent."""

    caller: Caller
    id: str


class MemoriesRequest(InstanceMessage, frozen=True, kw_only=True):
    """Ask for the records the caller may see, the newest first, a page at a time."""

    caller: Caller
    kind: MemoryKind | None = None
    offset: int = 0
    limit: int = 50  # 1..200


class Memories(Message, frozen=True, kw_only=True):
    """A page of records."""

    records: tuple[MemoryRecord, ...]
    total: int


class RecallContext(InstanceMessage, frozen=True, kw_only=True):
    """Ask for what bears on a question: memory, and knowledge where it is asked for, enabled and in scope."""

    caller: Caller
    query: str
    top: int = 10  # 1..50 of each
    max_tokens: int = 4_000  # of all text together
    include_knowledge: bool = False  # what is linked to the project, and what is team-wide


class MemoryHit(Struct, frozen=True, kw_only=True):
    """One record that bears on the question."""

    record: MemoryRecord
    score: float


class RecalledContext(Message, frozen=True, kw_only=True):
    """What was recalled, best first in each list, cut to the budget."""

    query: str
    memory: tuple[MemoryHit, ...]
    knowledge: tuple[KnowledgeHit, ...]
    tokens: int  # of all text given
    truncated: bool
    notes: tuple[str, ...] = ()  # English sentences: why there is no knowledge, what was cut
