"""What the tools about knowledge bases and memory take (pure)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from services.mcp_gateway.core.inputs import MAX_TOKENS, Form, ToolInput
from shared.knowledge_messages import SearchMode
from shared.memory_messages import MemoryKind

Tokens = Annotated[int, Meta(description="Length of the answer.", ge=200, le=MAX_TOKENS)]


class SearchKnowledgeInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `search_knowledge`."""

    query: Annotated[
        str,
        Meta(description="A question or words; needed unless `reference` is given.", max_length=10_000),
    ] = ""
    top: Annotated[int, Meta(description="Results.", ge=1, le=100)] = 10
    offset: Annotated[int, Meta(description="Results to leave out; with `reference`, bytes.", ge=0)] = 0
    mode: Annotated[
        SearchMode,
        Meta(
            description="hybrid mixes scores with `alpha`, rrf fuses ranks with `k`; semantic: meaning only, lexical: words only."
        ),
    ] = "hybrid"
    k: Annotated[int, Meta(description="Constant of mode rrf.", ge=1, le=1000)] = 60
    alpha: Annotated[float, Meta(description="Mode hybrid: 1 words, 0 meaning.", ge=0, le=1)] = 0.5
    space: Annotated[str, Meta(description="Only this space, by id or name.", max_length=300)] = ""
    base: Annotated[str, Meta(description="Only this base, by id or name.", max_length=300)] = ""
    reference: Annotated[
        str,
        Meta(
            description="Read this revision instead of searching: knowledge:<item>@<revision>, or knowledge:<item> for the "
            "current one.",
            max_length=300,
        ),
    ] = ""
    max_tokens: Tokens = 10_000
    format: Form = "structured"


class RecallInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `recall_context`."""

    query: Annotated[
        str, Meta(description="What you are about to do or want to know.", min_length=1, max_length=10_000)
    ]
    top: Annotated[int, Meta(description="How many records, and how many passages of knowledge.", ge=1, le=50)] = 10
    include_knowledge: Annotated[bool, Meta(description="Also passages of knowledge bases.")] = True
    max_tokens: Tokens = 4_000
    format: Form = "structured"


class RememberInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `remember`."""

    text: Annotated[
        str,
        Meta(description="One fact or decision.", min_length=1, max_length=20_000),
    ]
    kind: Annotated[
        MemoryKind,
        Meta(description="knowledge: lasts until it is forgotten; working: about the task at hand, expires."),
    ] = "knowledge"
    expires_s: (
        Annotated[int, Meta(description="Seconds from now; a working record lasts 14 days without it.", ge=1)] | None
    ) = None
    source: Annotated[str, Meta(description="Where it was learned: a path, an address.", max_length=2_000)] = ""
    tags: Annotated[tuple[str, ...] | str, Meta(description="Words to find it by.")] = ()
    space: Annotated[str, Meta(description="Team space it belongs to, by id or name. Default: your own.")] = ""
    session: Annotated[str, Meta(description="Id of your session.", max_length=300)] = ""


class ForgetInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `forget`."""

    ids: Annotated[tuple[str, ...] | str, Meta(description="Ids of records, at most 100.")]
