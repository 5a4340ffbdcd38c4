"""What the tools about knowledge bases and memory take (pure)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from services.mcp_gateway.core.inputs import MAX_TOKENS, Form, ToolInput
from shared.knowledge_messages import SearchMode
from shared.memory_messages import MemoryKind

Tokens = Annotated[int, Meta(description="About how many tokens the answer may have.", ge=200, le=MAX_TOKENS)]


class SearchKnowledgeInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `search_knowledge`."""

    query: Annotated[
        str,
        Meta(
            description="What you look for: a question or words. Needed unless `reference` is given.", max_length=10_000
        ),
    ] = ""
    top: Annotated[int, Meta(description="How many results.", ge=1, le=100)] = 10
    offset: Annotated[int, Meta(description="Results to leave out; with `reference`, bytes.", ge=0)] = 0
    mode: Annotated[
        SearchMode,
        Meta(
            description="hybrid mixes words and meaning with `alpha`; rrf fuses their ranks with `k`; semantic is meaning "
            "only, lexical exact words only."
        ),
    ] = "hybrid"
    k: Annotated[int, Meta(description="Constant of reciprocal rank fusion (mode rrf).", ge=1, le=1000)] = 60
    alpha: Annotated[float, Meta(description="Mode hybrid: 1 is words only, 0 meaning only.", ge=0, le=1)] = 0.5
    space: Annotated[
        str, Meta(description="Only this space, by id or name. All you may read without it.", max_length=300)
    ] = ""
    base: Annotated[str, Meta(description="Only this base, by id or name.", max_length=300)] = ""
    reference: Annotated[
        str,
        Meta(
            description="Read exactly this revision instead of searching: knowledge:<item>@<revision> as a result has it, or "
            "knowledge:<item> for the current one.",
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
    include_knowledge: Annotated[
        bool, Meta(description="Also passages of knowledge bases: linked to this project, or team-wide.")
    ] = True
    max_tokens: Tokens = 4_000
    format: Form = "structured"


class RememberInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `remember`."""

    text: Annotated[
        str,
        Meta(description="What is to be remembered, one fact or decision a record.", min_length=1, max_length=20_000),
    ]
    kind: Annotated[
        MemoryKind,
        Meta(description="knowledge: lasts until it is forgotten; working: about the task at hand, expires."),
    ] = "knowledge"
    expires_s: (
        Annotated[int, Meta(description="Seconds from now; a working record lasts 14 days without it.", ge=1)] | None
    ) = None
    source: Annotated[str, Meta(description="Where it was learned: a path, an address.", max_length=2_000)] = ""
    tags: Annotated[tuple[str, ...] | str, Meta(description="Tags, as a list or separated by commas.")] = ()
    space: Annotated[str, Meta(description="A team space it belongs to, by id or name; your own without it.")] = ""
    session: Annotated[str, Meta(description="Your own id of this session, to be recorded.", max_length=300)] = ""


class ForgetInput(ToolInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of `forget`."""

    ids: Annotated[
        tuple[str, ...] | str, Meta(description="The records, by id, as a list or separated by commas; at most 100.")
    ]
