"""What the tools about knowledge bases and memory do: one request each to knowledge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from services.mcp_gateway.call import Call
from services.mcp_gateway.core.knowledge_answers import (
    ForgetAnswer,
    KnowledgeAnswer,
    KnowledgeToolAnswer,
    RecallAnswer,
    RememberAnswer,
    forget_answer,
    knowledge_answer,
    recall_answer,
    remember_answer,
    revision_answer,
)
from services.mcp_gateway.core.knowledge_inputs import ForgetInput, RecallInput, RememberInput, SearchKnowledgeInput
from services.mcp_gateway.core.permits import HIDDEN, Permit
from shared.access import ADMIN, Scope
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import Caller, ReadItem, SearchKnowledge
from shared.knowledge_reference import parse_reference
from shared.memory_messages import Forget, RecallContext, Remember
from shared.subjects import FORGET, ITEM_READ, KNOWLEDGE_SEARCH, RECALL, REMEMBER

KNOWLEDGE_S = 30.0  # a cold model folds its weights first
CLIENT = "mcp"
_MEMORY: frozenset[Scope] = frozenset({"memory:read", "memory:write"})


async def search_knowledge(bus: Bus, call: Call[SearchKnowledgeInput]) -> KnowledgeAnswer:
    """Search, or read what a reference names."""
    asked, caller = call.asked, caller_of(call.permit)
    if asked.reference:
        named = parse_reference(asked.reference)
        message = ReadItem(caller=caller, item=named.item, revision=named.revision, offset=asked.offset)
        found = await bus.request(ITEM_READ, message, timeout_s=KNOWLEDGE_S)
        return revision_answer(found, max_tokens=asked.max_tokens)
    if not asked.query.strip():
        raise KxError(ErrorCode.BAD_REQUEST, "query or reference is needed", hint="say what you look for in query")
    request = SearchKnowledge(
        caller=caller,
        query=_text(asked.query),
        top=asked.top,
        offset=asked.offset,
        mode=asked.mode,
        k=asked.k,
        alpha=asked.alpha,
        space=_text(asked.space) or None,
        base=_text(asked.base) or None,
    )
    reply = await bus.request(KNOWLEDGE_SEARCH, request, timeout_s=KNOWLEDGE_S)
    return knowledge_answer(reply, offset=asked.offset, max_tokens=asked.max_tokens)


async def recall_context(bus: Bus, call: Call[RecallInput]) -> RecallAnswer:
    """Recall memory, and knowledge where the caller may read it."""
    asked = call.asked
    message = RecallContext(
        instance=call.instance,
        caller=caller_of(call.permit),
        query=_text(asked.query),
        top=asked.top,
        max_tokens=asked.max_tokens,
        include_knowledge=asked.include_knowledge,
    )
    return recall_answer(await bus.request(RECALL, message, timeout_s=KNOWLEDGE_S))


async def remember(bus: Bus, call: Call[RememberInput]) -> RememberAnswer:
    """Keep a record."""
    asked = call.asked
    message = Remember(
        instance=call.instance,
        caller=caller_of(call.permit),
        text=_text(asked.text),
        kind=asked.kind,
        expires_s=asked.expires_s,
        source=_text(asked.source),
        session=_text(asked.session or call.session.session_id),
        tags=_listed(asked.tags),
        space=_text(asked.space),
    )
    return remember_answer(await bus.request(REMEMBER, message, timeout_s=KNOWLEDGE_S))


async def forget(bus: Bus, call: Call[ForgetInput]) -> ForgetAnswer:
    """Destroy records."""
    message = Forget(instance=call.instance, caller=caller_of(call.permit), ids=_listed(call.asked.ids))
    return forget_answer(await bus.request(FORGET, message, timeout_s=KNOWLEDGE_S))


RECALL_HANDLERS: Mapping[str, Callable[[Bus, Call[Any]], Awaitable[KnowledgeToolAnswer]]] = {
    handler.__name__: handler for handler in (search_knowledge, recall_context, remember, forget)
}


def caller_of(permit: Permit, client: str = CLIENT) -> Caller:
    """Name on whose behalf a request is sent; a profile that may not see knowledge does not carry its scope along."""
    scopes: frozenset[Scope] = permit.scopes
    if "search_knowledge" in HIDDEN[permit.profile]:
        scopes = _MEMORY if ADMIN in scopes else scopes & _MEMORY
    return Caller(principal=permit.principal, scopes=tuple(sorted(scopes)), client=client)


def covers(permit: Permit, scope: Scope) -> bool:
    """Tell whether a request that needs `scope` may be sent on this caller's behalf."""
    held = caller_of(permit).scopes
    return scope in held or ADMIN in held


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _listed(given: tuple[str, ...] | str) -> tuple[str, ...]:
    parts = given.split(",") if isinstance(given, str) else given
    return tuple(_text(part.strip()) for part in parts if part.strip())
