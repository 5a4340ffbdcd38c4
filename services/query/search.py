"""Answer one question: lanes, fusion, priors, dedup, groups, proof, hits.

Each step is a function of its own with its own tests; here they stand in their order, with the deadlines and threads
between them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import anyio
import anyio.to_thread
from anyio import CapacityLimiter
from msgspec import Struct
from msgspec.structs import replace

from services.query.adapters.evidence import Judge
from services.query.adapters.facts import FactsCache, IndexFacts
from services.query.adapters.lag import Lag, lag_of
from services.query.adapters.lanes import Lanes, Outcomes, off
from services.query.adapters.lexical_lane import lexical_hits
from services.query.adapters.passages import Filters
from services.query.adapters.projects import Projects, SearchProject
from services.query.adapters.ranking_memory import RankingMemory, asked_of
from services.query.adapters.reader import IndexReaders
from services.query.core.dedup import fold_equal_texts
from services.query.core.fusion import Scorer, unite
from services.query.core.grouping import group
from services.query.core.question import Question, has_counterparts, question_of, with_counterparts, with_synonyms
from services.query.core.ranking import RankingRule, effective_mode, rank
from services.query.core.recency import DAY_NS, recency_for
from services.query.page import Page, Ranking, page_of
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.messages import (
    CandidatesRequest,
    CandidateTexts,
    LaneReport,
    Mode,
    Pending,
    ProjectState,
    SearchReply,
    SearchRequest,
)

MAX_CANDIDATE_DEPTH = 1_000
_MISSING_OF = """
SELECT m.text_hash FROM missing{e} m LEFT JOIN failure f ON f.subject = m.text_hash AND f.next_try_ns = 0
WHERE f.subject IS NULL AND m.text_hash IN (SELECT unhex(value) FROM json_each(?))
"""

T = TypeVar("T")


class Ground(Struct, frozen=True, kw_only=True):
    """What a question stands on: the project, and its index as far as it is there."""

    project: SearchProject
    facts: IndexFacts | None = None  # None: nothing was ever indexed
    problem: str = ""  # why there is nothing to search
    state: ProjectState = "ready"


class Searcher:
    """Answers questions of any project; belongs to one event loop."""

    def __init__(  # noqa: PLR0913  # wiring
        self,
        bus: Bus,
        projects: Projects,
        readers: IndexReaders,
        facts: FactsCache,
        lanes: Lanes,
        *,
        on_changed: Callable[[InstanceId, Sequence[str]], None] = lambda _, __: None,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._bus = bus
        self._projects = projects
        self._readers = readers
        self._facts = facts
        self._lanes = lanes
        self._judge = Judge(readers)
        self._rankings = RankingMemory[Ranking]()
        self._now_ns = now_ns
        self._on_changed = on_changed
        self._threads = CapacityLimiter(8)

    async def search(self, request: SearchRequest) -> SearchReply:
        """Answer a question; idempotent, reads only.

        Raises:
            KxError: BAD_REQUEST, PROJECT_UNKNOWN, CONFIG_*, and INDEX_FOREIGN, INDEX_NEWER or INDEX_DAMAGED: what a
                person has to act on. A lane that fails, a missing index or root are fields of the reply.
        """
        started = time.perf_counter()
        question = question_of(request)
        ground = await self.ground(request)
        if ground.facts is None or not question.is_searchable:
            return _without_results(request, ground, question, started)
        ranking = await self.rank(request, question, ground.project, ground.facts)
        page = await self._blocking(partial(page_of, self._readers, ranking, request))
        self._on_changed(request.instance, page.changed)
        total = len(ranking.results) - page.gone
        shown_to = request.offset + len(page.hits)
        return SearchReply(
            query=request.query,
            mode=request.mode,
            project=ground.project.name,
            results=page.hits,
            lanes={"vector": ranking.outcomes.vector.report, "lexical": ranking.outcomes.lexical.report},
            pending=Pending(text=max(ranking.lag.text, page.left_out), vectors=ground.facts.pending),
            total=total,
            took_ms=_took_ms(started),
            notes=(*question.terms.notes, *_notes(request, ranking, page)),
            state=_state(ground.facts, ranking.lag),
            next_offset=shown_to if page.hits and shown_to < total else None,
        )

    async def ground(self, request: SearchRequest | CandidatesRequest) -> Ground:
        """Find the project and its index; raises as `search` does."""
        return await self._blocking(partial(self._ground, request))

    async def rank(
        self, request: SearchRequest, question: Question, project: SearchProject, facts: IndexFacts
    ) -> Ranking:
        """Find and order everything there is for a question that can be searched."""
        asked = asked_of(request, facts, project, self._now_ns() // DAY_NS)
        make = partial(self._ranking, request, question, project, facts)
        ranking, is_own = await self._rankings.ranking(asked, make)
        return ranking if is_own else replace(ranking, lag=await lag_of(self._bus, request.instance))

    def forget(self, instance: InstanceId) -> None:
        """Forget rankings of an index that was committed to."""
        self._rankings.forget(instance)

    def drop_idle(self) -> None:
        """Forget the last rankings when nobody asked for a while."""
        self._rankings.drop_idle()

    async def _ranking(
        self, request: SearchRequest, question: Question, project: SearchProject, facts: IndexFacts
    ) -> Ranking:
        filters = Filters(kinds=request.kinds, glob=question.glob, is_denied=project.is_denied)
        question = await self._in_words_of_the_index(with_synonyms(question, project.synonyms), project)
        outcomes, lag = await self._ask(request, project, question, filters, facts)
        return await self._blocking(partial(self._ranked, request, question, project, facts, outcomes, lag))

    def _ranked(
        self,
        request: SearchRequest,
        question: Question,
        project: SearchProject,
        facts: IndexFacts,
        outcomes: Outcomes,
        lag: Lag,
    ) -> Ranking:
        mode = _mode(request.mode, outcomes)
        candidates = unite(outcomes.lexical.hits, outcomes.vector.hits)
        by_evidence = None
        if mode == "auto":
            by_evidence = self._judge.scorer(project, question, candidates, facts, outcomes)
            mode = mode if by_evidence is not None or not candidates else "rrf"
        rule = self._rule(request, mode, project, facts, by_evidence)
        ranked = rank(candidates, rule)
        return Ranking(
            project=project,
            question=question,
            facts=facts,
            outcomes=outcomes,
            lag=lag,
            mode=mode,
            rule=rule,
            ranked=ranked,
            results=group(fold_equal_texts(ranked), request.group),
            is_whole=mode == request.mode and _is_answered(outcomes, mode),
        )

    async def candidates(self, request: CandidatesRequest) -> CandidateTexts:
        """Name the texts without a vector that the lexical lane would show, best first, each once."""
        question = question_of(SearchRequest(instance=request.instance, query=request.query))
        return await self._blocking(partial(self._candidates, request, question))

    def _candidates(self, request: CandidatesRequest, question: Question) -> CandidateTexts:
        ground = self._ground(request)
        if ground.facts is None or not question.is_searchable:
            return CandidateTexts(text_hashes=())
        project, depth = ground.project, max(1, min(request.depth, MAX_CANDIDATE_DEPTH))
        filters = Filters(kinds=request.kinds, is_denied=project.is_denied)
        with self._readers.snapshot(project.index, project.instance) as snapshot:
            asked_too = with_counterparts(question, snapshot.chunks_with).lexical
            texts = [hit.passage.text_hash for hit in lexical_hits(snapshot, asked_too, filters, depth)]
            asked = json.dumps([text.hex() for text in texts])
            missing = {bytes(row[0]) for row in snapshot.all(_MISSING_OF, (asked,))}  # type: ignore[arg-type]
        return CandidateTexts(text_hashes=tuple(text for text in texts if text in missing))

    def _ground(self, request: SearchRequest | CandidatesRequest) -> Ground:
        project = self._projects.get(request.instance)
        if not project.is_root_there:
            problem = f"the folder {project.shown_root} is not there; nothing is shown until it is back"
            return Ground(project=project, problem=problem, state="root_missing")
        nothing = "nothing is indexed yet; make the index: kx index"
        try:
            with self._readers.snapshot(project.index, project.instance) as snapshot:
                facts = self._facts.of(project.instance, snapshot)
        except KxError as error:
            if error.code != ErrorCode.INDEX_MISSING:
                raise
            return Ground(project=project, problem=nothing, state="not_indexed")
        if facts.epoch == 0:
            return Ground(project=project, problem=nothing, state="not_indexed")
        return Ground(project=project, facts=facts, state=_state(facts, Lag(text=0)))

    async def _in_words_of_the_index(self, question: Question, project: SearchProject) -> Question:
        def look() -> Question:
            with self._readers.snapshot(project.index, project.instance) as snapshot:
                return with_counterparts(question, snapshot.chunks_with)

        return await self._blocking(look) if has_counterparts(question) else question

    async def _ask(
        self,
        request: SearchRequest,
        project: SearchProject,
        question: Question,
        filters: Filters,
        facts: IndexFacts,
    ) -> tuple[Outcomes, Lag]:
        lags: list[Lag] = []

        async def ask_lag() -> None:
            lags.append(await lag_of(self._bus, request.instance))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask_lag)
            outcomes = await self._lanes.run(project, question, filters, facts, request.mode)
        return outcomes, lags[0]

    def _rule(
        self,
        request: SearchRequest,
        mode: Mode,
        project: SearchProject,
        facts: IndexFacts,
        by_evidence: Scorer | None,
    ) -> RankingRule:
        return RankingRule(
            mode=mode,
            recency=recency_for(
                project.recency, now_ns=self._now_ns(), oldest_ns=facts.oldest_ns, newest_ns=facts.newest_ns
            ),
            weight_of=project.weight_of,
            k=request.k,
            alpha=request.alpha,
            by_evidence=by_evidence,
        )

    async def _blocking(self, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, limiter=self._threads)


def _mode(asked: Mode, outcomes: Outcomes) -> Mode:
    return effective_mode(
        asked, has_vector=_answered(outcomes.vector.report), has_lexical=_answered(outcomes.lexical.report)
    )


def _answered(report: LaneReport) -> bool:
    return report.state in {"ok", "partial"}


def _is_answered(outcomes: Outcomes, mode: Mode) -> bool:
    return _answered(outcomes.lexical.report) and (mode == "lexical" or _answered(outcomes.vector.report))


def _state(facts: IndexFacts, lag: Lag) -> ProjectState:
    if facts.building:
        return "rebuilding"
    return "indexing" if facts.pending or lag.text else "ready"


def _notes(request: SearchRequest, ranking: Ranking, page: Page) -> list[str]:
    asked, outcomes, lag = request.mode, ranking.outcomes, ranking.lag
    notes = []
    if not _answered(outcomes.vector.report) and not _answered(outcomes.lexical.report):
        notes.append("neither lane could answer; see the reason of each")
    elif ranking.mode != asked:
        missing = "evidence that could not be gathered" if asked == "auto" else "a lane that did not answer"
        notes.append(f"mode {asked} needs {missing}: ranked as {ranking.mode}")
    if page.left_out:
        notes.append(f"{page.left_out} passages changed on disk and were left out")
    if page.shortened:
        notes.append(
            f"{page.shortened} excerpts were shortened to keep to the tokens asked for"
            if page.shortened != 1
            else "1 excerpt was shortened to keep to the tokens asked for"
        )
    if page.cut:
        notes.append(f"{page.cut} results did not fit the answer; ask for them with an offset")
    if lag.note:
        notes.append(lag.note)
    return notes


def _without_results(request: SearchRequest, ground: Ground, question: Question, started: float) -> SearchReply:
    reason = ground.problem or "the query has no word that can be searched"
    lane = off(reason).report
    notes = (*question.terms.notes, *((ground.problem,) if ground.problem else ()))
    return SearchReply(
        query=request.query,
        mode=request.mode,
        project=ground.project.name,
        results=(),
        lanes={"vector": lane, "lexical": lane},
        pending=Pending(text=0, vectors=ground.facts.pending if ground.facts is not None else 0),
        total=0,
        took_ms=_took_ms(started),
        notes=notes,
        state=ground.state,
    )


def _took_ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1e3, 3)
