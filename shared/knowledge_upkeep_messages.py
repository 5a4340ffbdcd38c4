"""The messages of knowledge bases about what was done, what is tied to a project, and how large what may be (pure).

As those of `shared.knowledge_messages`, of which they are a part in a file of their own.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from shared.knowledge_messages import PERSONAL, KnowledgeMessage
from shared.messages import Message


class AuditRow(Struct, frozen=True, kw_only=True):
    """One thing that was done."""

    number: int  # strictly rising
    at: str
    principal: str
    action: str  # noun.verb: item.published
    object: str  # id
    detail: dict[str, str] = {}


class AuditRequest(KnowledgeMessage, frozen=True, kw_only=True):
    """Ask for the audit of a space, oldest first, a page at a time; only for its owner and admins."""

    space: str = PERSONAL
    after: int = 0
    limit: int = 200


class Audit(Message, frozen=True, kw_only=True):
    """A page of the audit."""

    rows: tuple[AuditRow, ...]
    complete: bool


class SetLink(KnowledgeMessage, frozen=True, kw_only=True):
    """Tie an item or a base to a project, or untie it; neither changes anything else. Idempotent."""

    project: str  # project id of `.kx.json`, else the instance
    target: str  # id of an item or a base
    linked: bool


class LinksRequest(KnowledgeMessage, frozen=True, kw_only=True):
    """Ask what is linked to a project."""

    project: str


class LinkRow(Struct, frozen=True, kw_only=True):
    """One link; a target the caller may not read is not told."""

    target: str
    kind: Literal["item", "base"]
    name: str


class Links(Message, frozen=True, kw_only=True):
    """What is linked to a project."""

    links: tuple[LinkRow, ...]


class LimitsRequest(Message, frozen=True, kw_only=True):
    """Ask how large what may be."""


class KnowledgeLimits(Message, frozen=True, kw_only=True):
    """Sizes, in bytes unless said otherwise."""

    max_text_bytes: int
    max_document_bytes: int
    max_title_chars: int
    text_suffixes: tuple[str, ...]
    document_suffixes: tuple[str, ...]
    documents_available: bool  # the extra is installed
