"""Answer a question from the published current revisions the caller may read.

Each space is asked as any tree; then each hit is proven in the database, in one moment of it: whatever the index still
holds, what was withdrawn is not shown, and what is shown stands in the immutable revision.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial

import anyio
from msgspec import Struct

from services.knowledge.access import find_base, find_space, seen_item, standings
from services.knowledge.adapters.store import Tables
from services.knowledge.core.merging import FoundHit, merged, one_report
from services.knowledge.core.places import Place, folder_of, passage_in, place_of
from services.knowledge.core.roles import Right, Standing
from services.knowledge.desk import Desk
from services.knowledge.pages import fitting
from services.knowledge.reading import Visible
from services.knowledge.trees import Trees
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.excerpts import Snippets
from shared.knowledge_messages import KnowledgeHit, KnowledgeReply, SearchKnowledge
from shared.knowledge_reference import Reference
from shared.messages import Hit, LaneReport, Pending, SearchReply, SearchRequest
from shared.subjects import SPACE_SEARCH

SEARCH_S = 10.0  # the first question opens the model
MAX_TOP, MAX_OFFSET = 100, 10_000
SLACK = 10  # asked for beyond what is wanted: some of it may have been withdrawn
ROUNDS = 8  # of asking for more
PLACES = 7  # of a passage that stands in many texts, which are looked at beside the first
PROVEN_AT_ONCE = 30  # hits whose revisions are read in one moment of the database
LANES = ("vector", "lexical")
NOT_INDEXED = "its texts are not in the index yet"


class Field(Struct, frozen=True):
    """A space to be searched, and which folders of its tree; None: all of it."""

    space: str  # id
    name: str
    folders: tuple[str, ...] | None = None


class Asked(Struct, frozen=True):
    """What one space was asked and answered so far."""

    field: Field
    replies: tuple[SearchReply, ...] = ()
    problem: KxError | None = None

    @property
    def hits(self) -> tuple[Hit, ...]:
        """All its hits, in its order."""
        return tuple(hit for reply in self.replies for hit in reply.results)

    @property
    def next_offset(self) -> int | None:
        """Where more would begin; None where there is none."""
        if self.problem is not None:
            return None
        return self.replies[-1].next_offset if self.replies else 0


class Proven(Struct, frozen=True):
    """Hits that may be shown, best first, and how many say something else than the revision."""

    hits: tuple[KnowledgeHit, ...]
    differing: int = 0


class KnowledgeSearch:
    """Searches spaces; belongs to one event loop."""

    def __init__(self, bus: Bus, desk: Desk, trees: Trees) -> None:
        self._bus = bus
        self._desk = desk
        self._trees = trees

    async def search(self, asked: SearchKnowledge) -> KnowledgeReply:
        """Answer a question; reads only.

        Raises:
            KxError: BAD_REQUEST, KNOWLEDGE_DISABLED, KNOWLEDGE_UNKNOWN, KNOWLEDGE_FORBIDDEN, KNOWLEDGE_DAMAGED.
        """
        _check(asked)
        return await self.within(asked, await self._desk.read(partial(fields_of, asked=asked)))

    async def within(self, asked: SearchKnowledge, fields: Sequence[Field]) -> KnowledgeReply:
        """Answer a question from some spaces; raises as `search`."""
        started = time.perf_counter()
        spaces = {field.space: Asked(field) for field in fields}
        wanted = asked.offset + asked.top
        proven = Proven(())
        nearness: dict[str, float] | None = None
        for _ in range(ROUNDS):
            spaces = await self._more(asked, spaces, wanted)
            nearness = await self._nearness(asked, spaces) if nearness is None else nearness
            order = merged({name: one.hits for name, one in spaces.items()}, nearness)
            proven = await self._proven(asked, spaces, order, wanted)
            if len(proven.hits) >= wanted or all(one.next_offset is None for one in spaces.values()):
                break
        return _reply(asked, spaces, proven, started)

    async def _more(self, asked: SearchKnowledge, spaces: Mapping[str, Asked], wanted: int) -> dict[str, Asked]:
        """Ask every space that has more for its next hits, all at once."""
        found = dict(spaces)

        async def ask(name: str) -> None:
            found[name] = await self._ask(asked, spaces[name], wanted)

        async with anyio.create_task_group() as asking:
            for name, one in spaces.items():
                if one.next_offset is not None:
                    asking.start_soon(ask, name)
        return {name: one for name, one in found.items() if one.replies or one.problem is not None}

    async def _ask(self, asked: SearchKnowledge, one: Asked, wanted: int) -> Asked:
        instance = await self._trees.instance(one.field.space)
        if instance is None:  # nothing was ever published there
            return one
        request = SearchRequest(
            instance=instance,
            query=asked.query,
            top=min(MAX_TOP, wanted + SLACK),
            offset=one.next_offset or 0,
            mode=asked.mode,
            k=asked.k,
            alpha=asked.alpha,
            folders=one.field.folders or (),
            snippets=Snippets(lines=0, results=0),
        )
        try:
            reply = await self._bus.request(SPACE_SEARCH, request, timeout_s=SEARCH_S)
        except KxError as error:
            if error.code is ErrorCode.BAD_REQUEST:
                raise
            return Asked(one.field, one.replies, error)
        return Asked(one.field, (*one.replies, reply))

    async def _nearness(self, asked: SearchKnowledge, spaces: Mapping[str, Asked]) -> dict[str, float]:
        """Ask each of several spaces how near its nearest passage is, where scores alone could not be compared."""
        found: dict[str, float] = {}
        several = [one for one in spaces.values() if one.hits]
        if len(several) < 2 or asked.mode in {"semantic", "lexical"}:
            return found

        async def ask(one: Asked) -> None:
            nearest = await self._ask(_nearest(asked), Asked(one.field), 1)
            if nearest.hits:
                found[one.field.space] = nearest.hits[0].score

        async with anyio.create_task_group() as asking:
            for one in several:
                asking.start_soon(ask, one)
        return found

    async def _proven(
        self, asked: SearchKnowledge, spaces: Mapping[str, Asked], order: Sequence[FoundHit], wanted: int
    ) -> Proven:
        """Prove hits in order until there are enough: each item once, by its best passage."""
        hits: dict[str, KnowledgeHit] = {}
        differing = 0
        for start in range(0, len(order), PROVEN_AT_ONCE):
            some = order[start : start + PROVEN_AT_ONCE]
            pairs = [(place.item, place.revision) for one in some for place in _places(one.hit)]
            shown = await self._desk.visible(asked.caller, pairs)
            for one in some:
                hit, is_other = _proof(one, spaces[one.space].field, shown)
                differing += is_other
                if hit is not None:
                    hits.setdefault(hit.knowledge_item_id, hit)
            if len(hits) >= wanted:
                break
        return Proven(tuple(hits.values())[:wanted], differing)


def fields_of(tables: Tables, *, asked: SearchKnowledge) -> tuple[Field, ...]:
    """Say which spaces a request is about, and where in them; one moment of the database.

    Raises:
        KxError: KNOWLEDGE_UNKNOWN, KNOWLEDGE_FORBIDDEN.
    """
    mine = [one for one in standings(tables, asked.caller) if Right.READ in one.rights]
    if asked.space is not None:
        chosen = find_space(tables, asked.caller, asked.space, Right.READ).space.id
        mine = [one for one in mine if one.space.id == chosen]
    base = None
    if asked.base is not None:
        base = find_base(tables, asked.caller, asked.base, Right.READ).base
        mine = [one for one in mine if one.space.id == base.space]
    if asked.items is not None:
        return _of_items(tables, asked, mine, base.id if base is not None else None)
    folders = None if base is None else (folder_of(base.id),)
    return tuple(Field(one.space.id, one.space.name, folders) for one in mine)


def _of_items(tables: Tables, asked: SearchKnowledge, mine: Sequence[Standing], base: str | None) -> tuple[Field, ...]:
    folders: dict[str, list[str]] = {}
    for item in dict.fromkeys(asked.items or ()):
        found = seen_item(tables, asked.caller, item)
        if found is not None and base in {None, found.base.id}:
            folders.setdefault(found.base.space, []).append(folder_of(found.base.id, found.item.id))
    return tuple(
        Field(one.space.id, one.space.name, tuple(folders[one.space.id])) for one in mine if one.space.id in folders
    )


def _check(asked: SearchKnowledge) -> None:
    for name, value, most in (("top", asked.top - 1, MAX_TOP - 1), ("offset", asked.offset, MAX_OFFSET)):
        if not 0 <= value <= most:
            raise KxError(
                ErrorCode.BAD_REQUEST,
                "{name} is {value}, expected {expected}",
                name=name,
                value=getattr(asked, name),
                expected=f"1 to {MAX_TOP}" if name == "top" else f"0 to {MAX_OFFSET}",
            )


def _nearest(asked: SearchKnowledge) -> SearchKnowledge:
    return SearchKnowledge(caller=asked.caller, query=asked.query, top=1, mode="semantic")


def _places(hit: Hit) -> list[Place]:
    """Name some of the texts a passage stands in, the one it is shown at first."""
    paths = (hit.path, *(place.path for place in hit.also[:PLACES]))
    return [place for path in paths if (place := place_of(path)) is not None]


def _is_in(field: Field, place: Place) -> bool:
    folders = {folder_of(place.base), folder_of(place.base, place.item)}
    return field.folders is None or not folders.isdisjoint(field.folders)


def _proof(found: FoundHit, field: Field, shown: Mapping[tuple[str, str], Visible]) -> tuple[KnowledgeHit | None, bool]:
    """Show a hit at the first of its places that may be shown; the flag says that the revision reads otherwise."""
    for place in _places(found.hit):
        text = shown.get((place.item, place.revision))
        if text is not None and _is_in(field, place):
            hit = _hit(found, place, text)
            return hit, hit is None
    return None, False


def _hit(found: FoundHit, place: Place, shown: Visible) -> KnowledgeHit | None:
    """Write a proven hit; None when the passage does not stand in the revision's lines."""
    lines = {place_of(found.hit.path): (found.hit.start_line, found.hit.end_line)}
    for also in found.hit.also[:PLACES]:
        lines.setdefault(place_of(also.path), (also.start_line, also.end_line))
    start_line, end_line = lines[place]
    if not passage_in(shown.content, found.hit.text, start_line=start_line, end_line=end_line):
        return None
    return KnowledgeHit(
        knowledge_item_id=place.item,
        knowledge_revision_id=place.revision,
        title=shown.title,
        content=found.hit.text,
        reference=str(Reference(place.item, place.revision)),
        score=found.score,
        base=shown.base,
        space=shown.space,
        start_line=start_line,
        end_line=end_line,
        heading=found.hit.heading,
    )


def _reply(asked: SearchKnowledge, spaces: Mapping[str, Asked], proven: Proven, started: float) -> KnowledgeReply:
    answers = [one.replies[-1] for one in spaces.values() if one.replies]
    results = fitting(proven.hits[asked.offset :])
    more = sum(max(0, one.replies[-1].total - len(one.hits)) for one in spaces.values() if one.replies)
    return KnowledgeReply(
        query=asked.query,
        mode=asked.mode,
        results=results,
        total=len(proven.hits) + more,
        lanes={lane: one_report(_reports(spaces, lane)) for lane in LANES},
        pending=Pending(
            text=sum(one.pending.text for one in answers), vectors=sum(one.pending.vectors for one in answers)
        ),
        took_ms=round((time.perf_counter() - started) * 1e3, 3),
        notes=tuple(dict.fromkeys(_notes(spaces, proven, cut=len(proven.hits[asked.offset :]) - len(results)))),
    )


def _reports(spaces: Mapping[str, Asked], lane: str) -> dict[str, LaneReport]:
    found = {}
    for one in spaces.values():
        if one.problem is not None:
            reason = f"{one.problem.code}: {one.problem}"
            found[one.field.name] = LaneReport(state="failed", coverage=0.0, took_ms=0.0, reason=reason)
        elif one.replies and one.replies[-1].state == "not_indexed":
            found[one.field.name] = LaneReport(state="off", coverage=0.0, took_ms=0.0, reason=NOT_INDEXED)
        elif one.replies:
            found[one.field.name] = one.replies[-1].lanes[lane]
    return found


def _notes(spaces: Mapping[str, Asked], proven: Proven, *, cut: int) -> list[str]:
    notes = []
    for one in spaces.values():
        if one.replies and one.replies[-1].state == "not_indexed":
            notes.append(f"the texts of the space {one.field.name} are not in the index yet")
        elif one.replies:
            notes += one.replies[0].notes
    if proven.differing:
        notes.append(f"{proven.differing} passages differ from their revision and were left out")
    if cut:
        notes.append(f"{cut} results did not fit the answer; ask for them with an offset")
    return notes
