"""What `/api/v1` gives (pure): one Struct an answer. JSON carries the exact text; nothing is neutralised in it."""

from __future__ import annotations

from msgspec import Struct

from shared.knowledge_messages import BaseRow, ItemRow, KnowledgeHit, RevisionRow, SearchMode, SpaceRow


class SearchFound(Struct, frozen=True, kw_only=True, tag_field="type", tag="knowledge_search"):
    """What a search found, best first."""

    results: tuple[KnowledgeHit, ...]
    total: int
    mode: SearchMode
    took_ms: float
    notes: tuple[str, ...] = ()


class SpacesFound(Struct, frozen=True, kw_only=True):
    """The caller's spaces."""

    spaces: tuple[SpaceRow, ...]


class BasesFound(Struct, frozen=True, kw_only=True):
    """A page of the bases of the caller's spaces."""

    bases: tuple[BaseRow, ...]
    total: int


class BaseKept(Struct, frozen=True, kw_only=True):
    """A base as it is now."""

    base: BaseRow


class ItemsFound(Struct, frozen=True, kw_only=True):
    """A page of items."""

    items: tuple[ItemRow, ...]
    total: int


class ItemKept(Struct, frozen=True, kw_only=True):
    """An item as it is now."""

    item: ItemRow
    changed: bool
    notes: tuple[str, ...] = ()


class RevisionRead(Struct, frozen=True, kw_only=True):
    """One revision whole."""

    item: ItemRow
    revision: RevisionRow
    content: str
    reference: str


class RevisionsFound(Struct, frozen=True, kw_only=True):
    """An item's revisions, the newest first."""

    revisions: tuple[RevisionRow, ...]
    complete: bool  # false: ask again for those before the last


class Limits(Struct, frozen=True, kw_only=True):
    """How large what may be, in bytes unless said otherwise."""

    max_text_bytes: int
    max_document_bytes: int
    max_title_chars: int
    text_suffixes: tuple[str, ...]
    document_suffixes: tuple[str, ...]
    documents_available: bool


class Problem(Struct, frozen=True, kw_only=True):
    """What went wrong."""

    code: str
    message: str
    hint: str = ""


class Failed(Struct, frozen=True, kw_only=True):
    """Every answer that is not a success."""

    error: Problem
