"""Say why a question shows a file or not: rules, disk, index and filters first, then where its passages stand.

The question is carried out as `search` does it; what stands beyond the candidates of a lane is found by asking that
lane for the file alone, whose scores compare with the others'.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import anyio.to_thread
from anyio import CapacityLimiter
from msgspec import Struct
from msgspec.structs import replace

from services.query.adapters.document_view import (
    KnownDocument,
    KnownPassage,
    OnDisk,
    known_document,
    known_passages,
    look,
    no_file,
    searched_text,
)
from services.query.adapters.lag import lag_of
from services.query.adapters.lanes import LaneOutcome, Lanes, Outcomes
from services.query.adapters.passages import Filters
from services.query.adapters.projects import SearchProject
from services.query.adapters.prover import Prover
from services.query.adapters.reader import IndexReaders
from services.query.core.fusion import unite
from services.query.core.path_glob import PathGlob
from services.query.core.question import Question, question_of
from services.query.core.ranking import rank
from services.query.core.why_not import Indexed, Standings, Window, deciding, standing_of, why_of
from services.query.page import Ranking
from services.query.search import Ground, Searcher
from shared.analyzer import terms
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.identity import TextHash
from shared.index_format import DocumentState
from shared.messages import Mode
from shared.relpath import can_name_an_entry
from shared.search_messages import (
    MAX_PASSAGES,
    LaneStanding,
    LastShown,
    PassageStanding,
    WhyNot,
    WhyNotReply,
    WhyNotRequest,
)
from shared.treerules import SkipReason

T = TypeVar("T")


class Sight(Struct, frozen=True, kw_only=True):
    """What is known of the path before anything is searched."""

    disk: OnDisk
    document: KnownDocument | None = None
    passages: tuple[KnownPassage, ...] = ()


class Barrier(Struct, frozen=True, kw_only=True):
    """What keeps a file out of every answer to the question, whatever its words."""

    outcome: WhyNot
    why: tuple[str, ...]
    reason: str = ""
    rule: str = ""


class Examiner:
    """Answers why; idempotent, reads only."""

    def __init__(self, bus: Bus, readers: IndexReaders, lanes: Lanes, searcher: Searcher) -> None:
        self._bus = bus
        self._readers = readers
        self._lanes = lanes
        self._searcher = searcher
        self._threads = CapacityLimiter(2)

    async def why_not(self, request: WhyNotRequest) -> WhyNotReply:
        """Examine one path.

        Raises:
            KxError: as a search; BAD_REQUEST for a folder, PATH_OUTSIDE_ROOT for a path no tree can hold.
        """
        started = time.perf_counter()
        question = question_of(request.search)
        if not request.path or not can_name_an_entry(request.path):
            raise KxError(
                ErrorCode.PATH_OUTSIDE_ROOT,
                "the path {path} is not inside the project",
                hint="give a path below the project's root",
                path=request.path,
            )
        ground = await self._searcher.ground(request.search)
        sight = await self._blocking(partial(self._sight, ground, request.path))
        barrier = await self._barrier(request, ground, question, sight)
        if barrier is not None or ground.facts is None:
            told = barrier or Barrier(outcome="not_indexed", why=(ground.problem,))
            reply = WhyNotReply(path=request.path, line=request.line, outcome=told.outcome, why=told.why)
            return replace(reply, reason=told.reason, rule=told.rule, took_ms=_took_ms(started))
        ranking = await self._searcher.rank(request.search, question, ground.project, ground.facts)
        near = await self._near(ranking, request.path)
        reply = await self._blocking(partial(self._examined, request, ranking, near, sight))
        return replace(reply, took_ms=_took_ms(started))

    def _sight(self, ground: Ground, path: str) -> Sight:
        if not ground.project.is_root_there:
            return Sight(disk=OnDisk())
        disk = look(ground.project, path)
        if ground.facts is None:
            return Sight(disk=disk)
        with self._readers.snapshot(ground.project.index, ground.project.instance) as snapshot:
            document = known_document(snapshot, path)
            passages = () if document is None else tuple(known_passages(snapshot, document.document))
        return Sight(disk=disk, document=document, passages=passages)

    async def _barrier(
        self, request: WhyNotRequest, ground: Ground, question: Question, sight: Sight
    ) -> Barrier | None:
        if not ground.project.is_root_there:
            return Barrier(outcome="root_missing", why=(ground.problem,))
        kept_out = _kept_out(ground.project, request.path, sight)
        if kept_out is not None:
            return kept_out
        if sight.document is None:
            lag = await lag_of(self._bus, ground.project.instance)
            waiting = (f"{lag.text} paths changed on disk and are not yet in the index",) if lag.text else ()
            problem = ground.problem or "it may be indexed, and is not yet"
            return Barrier(outcome="not_indexed", why=(problem, *waiting, *((lag.note,) if lag.note else ())))
        return (
            _unread(sight.document) or _filtered(request, question, sight.document) or _without_passage(request, sight)
        )

    async def _near(self, ranking: Ranking, path: str) -> Outcomes:
        """Ask both lanes for this file alone: how it scores even where a hundred others are better."""
        only = PathGlob(pattern=re.compile(re.escape(unicodedata.normalize("NFC", path)), re.DOTALL))
        filters = Filters(glob=only, is_denied=ranking.project.is_denied)
        mode: Mode = "lexical" if ranking.outcomes.vector.question is None else "rrf"
        return await self._lanes.run(ranking.project, ranking.question, filters, ranking.facts, mode)

    def _examined(self, request: WhyNotRequest, ranking: Ranking, near: Outcomes, sight: Sight) -> WhyNotReply:
        search = request.search
        window = Window(offset=search.offset, top=search.top)
        standings = _standings(request.path, ranking, near, window)
        known = [one for one in sight.passages if not request.line or one.start_line <= request.line <= one.end_line]
        chunk_at = {(one.start_line, one.end_line): one for one in known}
        told = deciding([standing_of(_indexed(one), standings, window) for one in known])
        first = [self._with_missing_words(one, chunk_at, ranking, request.path) for one in told[:MAX_PASSAGES]]
        lanes = {"vector": ranking.outcomes.vector.report, "lexical": ranking.outcomes.lexical.report}
        return WhyNotReply(
            path=request.path,
            line=request.line,
            outcome=first[0].outcome,
            why=(*why_of(first[0], window, ranking.mode, lanes), *_changed_since(sight)),
            mode=ranking.mode,
            passages=tuple(first),
            more_passages=len(told) - len(first),
            last_shown=_last_shown(standings, window),
            total=len(ranking.results),
            lanes=lanes,
            notes=(*ranking.question.terms.notes, *((ranking.lag.note,) if ranking.lag.note else ())),
        )

    def _with_missing_words(
        self,
        standing: PassageStanding,
        chunk_at: dict[tuple[int, int], KnownPassage],
        ranking: Ranking,
        path: str,
    ) -> PassageStanding:
        project, asked = ranking.project, ranking.question.terms
        chunk = chunk_at[standing.start_line, standing.end_line].chunk
        with self._readers.snapshot(project.index, project.instance) as snapshot:
            having = set(terms(f"{searched_text(snapshot, chunk)}\n{path}"))
        missing = (word for word, stem in zip(asked.words, asked.stems, strict=True) if stem not in having)
        return replace(standing, missing_words=tuple(dict.fromkeys(missing)))

    async def _blocking(self, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, limiter=self._threads)


# --- what keeps a file out before any word counts ---------------------------------------------------------------------


def _kept_out(project: SearchProject, path: str, sight: Sight) -> Barrier | None:
    kept_out = sight.disk.kept_out
    if kept_out is not None:
        rule = _of_file(kept_out.detail, project.config_file)
        told = _told(kept_out.reason, rule)
        why = (
            f"its folder {kept_out.folder} is not indexed: {told}" if kept_out.folder else f"it is not indexed: {told}"
        )
        return Barrier(outcome="skipped", why=(why,), reason=kept_out.reason, rule=rule)
    if sight.disk.status is None:
        left = ("the index still has it, and forgets it at the next look at the tree",) if sight.document else ()
        return Barrier(outcome="not_on_disk", why=("there is no such file on disk", *left))
    if sight.disk.is_folder:
        raise no_file(path)
    return None


def _of_file(rule: str, config_file: str) -> str:
    """Name the file of a rule that stands in the project's configuration."""
    if not config_file:
        return rule
    if rule.endswith(" (indexing.deny)"):
        return f"{rule.removesuffix(')')} of {config_file})"
    return f"{config_file}, {rule}" if rule.startswith("ignoreFiles:") else rule


def _unread(document: KnownDocument) -> Barrier | None:
    state = document.state
    if state == DocumentState.INDEXED:
        return None
    told = _told(document.reason, document.detail)
    if state == DocumentState.FAILED:
        why = f"it could not be indexed: {told}"
        return Barrier(outcome="failed", why=(why,), reason=document.reason, rule=document.detail)
    why = f"it is not indexed: {told}"
    return Barrier(outcome="skipped", why=(why,), reason=document.reason or SkipReason.UNREADABLE, rule=document.detail)


def _told(reason: str, detail: str) -> str:
    return f"{reason} ({detail})" if detail else reason


def _filtered(request: WhyNotRequest, question: Question, document: KnownDocument) -> Barrier | None:
    if not question.is_searchable:
        return Barrier(outcome="no_words", why=question.terms.notes)
    kinds = request.search.kinds
    if kinds and document.kind not in kinds:
        why = f"it is {document.kind}, and only {', '.join(kinds)} was asked for"
        return Barrier(outcome="filtered_kind", why=(why,))
    if question.glob is not None and not question.glob.matches(request.path):
        why = f"its path does not match {request.search.path_glob}"
        return Barrier(outcome="filtered_path", why=(why,))
    return None


def _without_passage(request: WhyNotRequest, sight: Sight) -> Barrier | None:
    if not sight.passages:
        return Barrier(outcome="no_passage", why=("nothing of it can be searched",))
    line = request.line
    if line and not any(one.start_line <= line <= one.end_line for one in sight.passages):
        last = max(one.end_line for one in sight.passages)
        why = f"no passage holds line {line}; the last ends at line {last}"
        return Barrier(outcome="no_passage", why=(why,))
    return None


# --- where its passages stand -----------------------------------------------------------------------------------------


def _standings(path: str, ranking: Ranking, near: Outcomes, window: Window) -> Standings:
    outcomes, ranked = ranking.outcomes, ranking.ranked
    rule = replace(ranking.rule, mode="rrf", by_evidence=None)
    fused = rank(unite(outcomes.lexical.hits, outcomes.vector.hits), rule)
    own = [place for place, result in enumerate(ranking.results) if _concerns(result.path, path, ranking, place)]
    upto = max([window.offset + window.top, *(place + 1 for place in own)])
    proven = Prover(ranking.project.root).page(ranking.results[:upto], offset=0, top=upto)
    return Standings(
        path=path,
        lexical=_lane(outcomes.lexical, near.lexical),
        vector=_lane(outcomes.vector, near.vector),
        candidates={hit.passage.text_hash: number for number, hit in enumerate(fused, start=1)},
        ranked={hit.passage.text_hash: (number, hit) for number, hit in enumerate(ranked, start=1)},
        results=ranking.results,
        proven=proven.results,
    )


def _concerns(shown: str, path: str, ranking: Ranking, place: int) -> bool:
    result = ranking.results[place]
    return shown == path or any(
        at.path == path for hit in (result.best, *result.others) for at in hit.passage.elsewhere
    )


def _lane(asked: LaneOutcome, near: LaneOutcome) -> dict[TextHash, LaneStanding]:
    last = asked.hits[-1].score if asked.hits else 0.0
    beyond = {hit.passage.text_hash: LaneStanding(score=hit.score, last=last) for hit in near.hits}
    within = {
        hit.passage.text_hash: LaneStanding(rank=number, score=hit.score)
        for number, hit in enumerate(asked.hits, start=1)
    }
    return beyond | within


def _indexed(one: KnownPassage) -> Indexed:
    return Indexed(
        text_hash=one.text_hash,
        start_line=one.start_line,
        end_line=one.end_line,
        has_vector=one.has_vector,
        failure=one.failure,
    )


def _changed_since(sight: Sight) -> Sequence[str]:
    status, document = sight.disk.status, sight.document
    if status is None or document is None or document.is_as_indexed(status):
        return ()
    return ("it changed on disk since it was indexed; this is about the text that is indexed",)


def _last_shown(standings: Standings, window: Window) -> LastShown | None:
    page = standings.proven[window.offset : window.offset + window.top]
    if not page:
        return None
    best = page[-1].best
    at = best.passage.at
    return LastShown(
        result=window.offset + len(page),
        path=at.path,
        start_line=at.start_line,
        end_line=at.end_line,
        score=best.score,
        parts=best.parts,
    )


def _took_ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1e3, 3)
