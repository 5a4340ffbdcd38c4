"""Recall what bears on a question: memory by meaning and words, and knowledge where it is asked for and allowed.

The index finds records; the database says which of them are there for the caller, and knows those that the index has not
seen yet: they are found by their words.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from services.knowledge.access import find_base, seen_item
from services.knowledge.adapters.store import Tables
from services.knowledge.core.memory import fitted, folder_of_record, path_of_record, shares
from services.knowledge.core.places import folder_of
from services.knowledge.core.roles import ROLE_RIGHTS, Right
from services.knowledge.desk import Desk
from services.knowledge.memory import MEMORY_TREE, READ, Memory, require_scope
from services.knowledge.pages import fitting
from services.knowledge.search import Field, KnowledgeSearch
from services.knowledge.trees import Trees
from shared.access import ADMIN
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.excerpts import Snippets
from shared.knowledge_messages import Caller, KnowledgeHit, SearchKnowledge
from shared.memory_messages import MemoryHit, RecallContext, RecalledContext
from shared.messages import SearchReply, SearchRequest
from shared.subjects import SPACE_SEARCH
from shared.token_estimate import tokens

SEARCH_S = 10.0  # the first question opens the model
MAX_TOP = 50
MAX_PAGE = 100
MAX_FOLDERS = 3_000  # of one message; beyond, what is found is looked through instead
MAX_TOKENS = 100_000
SCORE_DIGITS = 6


class Found(Struct, frozen=True):
    """Hits of one kind, and what is to be said about them."""

    memory: tuple[MemoryHit, ...] = ()
    knowledge: tuple[KnowledgeHit, ...] = ()
    notes: tuple[str, ...] = ()


class Recall:
    """Answers from memory and knowledge; belongs to one event loop."""

    def __init__(self, bus: Bus, desk: Desk, trees: Trees, memory: Memory, search: KnowledgeSearch) -> None:
        self._bus = bus
        self._desk = desk
        self._trees = trees
        self._memory = memory
        self._search = search

    async def recall(self, asked: RecallContext) -> RecalledContext:
        """Answer a question; reads only.

        Raises:
            KxError: BAD_REQUEST, KNOWLEDGE_FORBIDDEN, PROJECT_UNKNOWN, KNOWLEDGE_DAMAGED.
        """
        require_scope(asked.caller, READ)
        _check("top", asked.top, MAX_TOP)
        _check("max_tokens", asked.max_tokens, MAX_TOKENS)
        remembered = await self._remembered(asked)
        known = await self._known(asked) if asked.include_knowledge else Found()
        return _cut(asked, remembered.memory, known.knowledge, (*remembered.notes, *known.notes))

    async def _remembered(self, asked: RecallContext) -> Found:
        shown = await self._memory.shown(asked.instance, asked.caller)
        records = {one.id: one for one in shown.records}
        if not records:
            return Found()
        is_narrow = not shown.is_all and len(records) <= MAX_FOLDERS
        reply, problem = await self._asked_index(asked, tuple(map(folder_of_record, records)) if is_narrow else ())
        by_path = {path_of_record(one): one for one in records}
        scores: dict[str, float] = {}
        for hit in reply.results if reply is not None else ():
            for path in (hit.path, *(place.path for place in hit.also)):
                if path in by_path:
                    scores.setdefault(by_path[path], hit.score)
        is_whole = reply is not None and reply.state == "ready" and not reply.pending.text
        unseen = {
            one.id: one.text
            for one in records.values()
            if one.id not in scores and (one.id in self._memory.unseen or not is_whole)
        }
        scores |= {key: round(share, SCORE_DIGITS) for key, share in shares(unseen, asked.query).items()}
        best = sorted(scores, key=lambda key: (-scores[key], key))[: asked.top]
        return Found(memory=tuple(MemoryHit(record=records[key], score=scores[key]) for key in best), notes=problem)

    async def _asked_index(
        self, asked: RecallContext, folders: tuple[str, ...]
    ) -> tuple[SearchReply | None, tuple[str, ...]]:
        """Ask the index about these records and no others, or about all; without an answer say why."""
        instance = await self._trees.instance(MEMORY_TREE + await self._memory.key_of(asked.instance))
        if instance is None:
            return None, ()
        request = SearchRequest(
            instance=instance,
            query=asked.query,
            top=MAX_PAGE if not folders else asked.top,
            mode="hybrid",
            folders=folders,
            snippets=Snippets(lines=0, results=0),
        )
        try:
            return await self._bus.request(SPACE_SEARCH, request, timeout_s=SEARCH_S), ()
        except KxError as error:
            return None, (f"memory was searched by words alone: {error.code}",)

    async def _known(self, asked: RecallContext) -> Found:
        if not self._desk.settings.knowledge:
            return Found(notes=("knowledge bases are switched off on this machine",))
        if not _may_read(asked.caller):
            return Found(notes=("no knowledge is given: the token lacks the scope knowledge:read",))
        key = await self._memory.key_of(asked.instance)
        question = SearchKnowledge(caller=asked.caller, query=asked.query, top=asked.top)
        try:
            names = tuple(dict.fromkeys((key, str(asked.instance))))  # a link may be older than the project's id
            fields = await self._desk.read(lambda tables: recalled_fields(tables, asked.caller, names))
            if not fields:
                return Found(notes=("no knowledge is linked to this project, and there is no team space",))
            reply = await self._search.within(question, fields)
        except KxError as error:
            return Found(notes=(f"no knowledge is given: {error.code}",))
        return Found(knowledge=reply.results, notes=reply.notes)


def recalled_fields(tables: Tables, caller: Caller, names: Sequence[str]) -> tuple[Field, ...]:
    """Say where knowledge is recalled from: all of the caller's team spaces, and what is linked to the project."""
    folders: dict[str, list[str]] = {}
    for target in (one for name in names for one in tables.journal.linked(name)):
        space, folder = _linked(tables, caller, target)
        if space:
            folders.setdefault(space, []).append(folder)
    found = []
    for one in tables.spaces.memberships(caller.principal):
        if Right.READ not in ROLE_RIGHTS[one.role]:
            continue
        if one.space.kind == "team":
            found.append(Field(one.space.id, one.space.name))
        elif one.space.id in folders:
            found.append(Field(one.space.id, one.space.name, tuple(folders[one.space.id])))
    return tuple(found)


def _linked(tables: Tables, caller: Caller, target: str) -> tuple[str, str]:
    """Give the space of a linked item or base and its folder; nothing where the caller may not read it."""
    item = seen_item(tables, caller, target)
    if item is not None:
        return item.base.space, folder_of(item.base.id, item.item.id)
    if tables.spaces.base(target) is None:
        return "", ""
    try:
        base = find_base(tables, caller, target, Right.READ).base
    except KxError:  # not for this caller
        return "", ""
    return base.space, folder_of(base.id)


def _may_read(caller: Caller) -> bool:
    return "knowledge:read" in caller.scopes or ADMIN in caller.scopes


def _cut(
    asked: RecallContext, memory: Sequence[MemoryHit], knowledge: Sequence[KnowledgeHit], notes: tuple[str, ...]
) -> RecalledContext:
    """Keep to the tokens asked for, and to what a message holds."""
    cut = fitted(
        list(map(_text_of, memory)),
        list(map(_text_of, knowledge)),
        max_tokens=asked.max_tokens,
    )
    chosen: list[MemoryHit | KnowledgeHit] = []
    for place in range(max(len(memory), len(knowledge))):
        chosen += [memory[place]] if place in cut.first else []
        chosen += [knowledge[place]] if place in cut.second else []
    kept = fitting(chosen)
    left_out = cut.left_out + len(chosen) - len(kept)
    said = (f"{left_out} texts did not fit the tokens asked for",) if left_out else ()
    return RecalledContext(
        query=asked.query,
        memory=tuple(one for one in kept if isinstance(one, MemoryHit)),
        knowledge=tuple(one for one in kept if isinstance(one, KnowledgeHit)),
        tokens=sum(tokens(_text_of(one)) for one in kept),
        truncated=bool(left_out),
        notes=tuple(dict.fromkeys((*notes, *said))),
    )


def _text_of(hit: MemoryHit | KnowledgeHit) -> str:
    return hit.record.text if isinstance(hit, MemoryHit) else f"{hit.title}\n{hit.content}"


def _check(name: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{name} is {value}, expected {expected}",
            name=name,
            value=value,
            expected=f"1 to {most}",
        )
