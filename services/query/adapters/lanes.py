"""Run the lanes of one question: each on its own connection and thread, each allowed to fail alone."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import anyio
import anyio.to_thread
import structlog
from anyio import CapacityLimiter
from msgspec import Struct
from msgspec.structs import replace
from structlog.typing import FilteringBoundLogger

from services.query.adapters.facts import IndexFacts
from services.query.adapters.lexical_lane import lexical_hits
from services.query.adapters.passages import Filters
from services.query.adapters.projects import SearchProject
from services.query.adapters.question_encoder import QuestionEncoder, QuestionVector
from services.query.adapters.reader import IndexReaders
from services.query.adapters.vector_lane import VectorLane
from services.query.core.passages import LaneHit, Passage
from services.query.core.question import Question
from shared.analyzer import ANALYZER_VERSION
from shared.errors import ErrorCode, KxError
from shared.messages import LaneReport, LaneState, Mode

LANE_DEPTH = 100
"""Candidates of each lane: what fusion can see. Above 200 only noise comes in; it is the same for every page of an
answer, so that pages fit together."""

EVIDENCE_DEPTH = 60
"""The same where every candidate is weighed by evidence, which is what costs. With 100 the mean NDCG is .001 better, no
set more than .005 better or worse; below 50 good passages are missed."""

MAX_EPOCH_SWAPS = 3

_log: FilteringBoundLogger = structlog.get_logger()


class LaneOutcome(Struct, frozen=True, kw_only=True):
    """What one lane brought, in rank order."""

    hits: tuple[LaneHit, ...] = ()
    epoch: int = 0  # the epoch it read; 0 when it read nothing
    question: bytes | None = None  # the question's vector, from the vector lane
    report: LaneReport


class Outcomes(Struct, frozen=True, kw_only=True):
    """Both lanes of one question, of one epoch."""

    lexical: LaneOutcome
    vector: LaneOutcome


class Lanes:
    """Both lanes; belongs to one event loop."""

    def __init__(
        self,
        readers: IndexReaders,
        encoder: QuestionEncoder,
        vectors: VectorLane,
        *,
        read_ahead: Callable[[Sequence[Passage]], None] = lambda _: None,
    ) -> None:
        """`read_ahead` is given what the lexical lane found while the vector lane still looks; it never raises."""
        self._readers = readers
        self._encoder = encoder
        self._vectors = vectors
        self._read_ahead = read_ahead
        # One question has two lanes; beyond a handful at once they only wait for the processor.
        self._threads = {"lexical": CapacityLimiter(4), "vector": CapacityLimiter(4)}

    async def run(
        self, project: SearchProject, question: Question, filters: Filters, facts: IndexFacts, mode: Mode
    ) -> Outcomes:
        """Ask the lanes of a mode at the same time; again when a rebuild was swapped in between the two."""
        for _ in range(MAX_EPOCH_SWAPS):
            found = await self._once(project, question, filters, facts, mode)
            if len({found.lexical.epoch, found.vector.epoch} - {0}) < 2:
                return found
        return Outcomes(lexical=found.lexical, vector=off("the index was rebuilt meanwhile"))

    async def _once(
        self, project: SearchProject, question: Question, filters: Filters, facts: IndexFacts, mode: Mode
    ) -> Outcomes:
        with_vectors = mode != "lexical"
        depth = depth_of(mode)
        found: dict[str, LaneOutcome] = {}

        async def ask(name: str, lane: Callable[[], Awaitable[LaneOutcome]]) -> None:
            found[name] = await _guarded(name, lane)

        async def ask_words() -> None:
            await ask("lexical", partial(self._lexical, project, question, filters, depth))
            if "vector" not in found and with_vectors:  # there is something to wait for
                passages = [hit.passage for hit in found["lexical"].hits]
                await anyio.to_thread.run_sync(self._read_ahead, passages, limiter=self._threads["lexical"])

        async with anyio.create_task_group() as lanes:
            lanes.start_soon(ask_words)
            if with_vectors:
                lanes.start_soon(ask, "vector", partial(self._vector, project, question, filters, facts, depth))
            else:
                found["vector"] = off("the mode asks for words only")
        return Outcomes(lexical=found["lexical"], vector=found["vector"])

    async def _lexical(self, project: SearchProject, question: Question, filters: Filters, depth: int) -> LaneOutcome:
        def look() -> LaneOutcome:
            with self._readers.snapshot(project.index, project.instance) as snapshot:
                if snapshot.analyzer != ANALYZER_VERSION:
                    return off("the index was made by another version of kx; run: kx index --full")
                hits = lexical_hits(snapshot, question.lexical, filters, depth)
                return _outcome(hits, snapshot.epoch, state="ok", coverage=1.0)

        return await anyio.to_thread.run_sync(look, limiter=self._threads["lexical"])

    async def _vector(
        self, project: SearchProject, question: Question, filters: Filters, facts: IndexFacts, depth: int
    ) -> LaneOutcome:
        if facts.chunks and facts.chunks_without_vector == facts.chunks:
            return off("no text has a vector yet")
        asked = await self._encoder.vector(question.text)

        def look(asked: QuestionVector = asked) -> LaneOutcome:
            with self._readers.snapshot(project.index, project.instance) as snapshot:
                if snapshot.model_id != asked.model_id:
                    return off(f"the index holds vectors of {snapshot.model_id}, the model here is {asked.model_id}")
                hits = self._vectors.nearest(snapshot, asked.vector, filters, depth)
                is_whole = facts.chunks_without_vector == 0
                reason = "" if is_whole else f"{facts.missing} texts have no vector yet"
                state: LaneState = "ok" if is_whole else "partial"
                found = _outcome(hits, snapshot.epoch, state=state, coverage=facts.coverage, reason=reason)
                return replace(found, question=asked.vector)

        return await anyio.to_thread.run_sync(look, limiter=self._threads["vector"])


def depth_of(mode: Mode) -> int:
    """Give how many candidates each lane brings in a mode."""
    return EVIDENCE_DEPTH if mode == "auto" else LANE_DEPTH


def off(reason: str, *, state: LaneState = "off") -> LaneOutcome:
    """Make the outcome of a lane that brought nothing, and say why."""
    return LaneOutcome(report=LaneReport(state=state, coverage=0.0, took_ms=0.0, reason=reason))


async def _guarded(name: str, lane: Callable[[], Awaitable[LaneOutcome]]) -> LaneOutcome:
    """Run a lane and turn whatever goes wrong into its outcome: one lane's failure is not the answer's."""
    started = time.perf_counter()
    try:
        outcome = await lane()
    except KxError as error:
        outcome = off(f"{error.code}: {error}", state="failed")
    except Exception as error:  # noqa: BLE001 - a lane is a door: a failing lane never kills the answer
        _log.exception("lane.failed", lane=name, error_code=ErrorCode.INTERNAL)
        outcome = off(f"{ErrorCode.INTERNAL}: {type(error).__name__}", state="failed")
    took_ms = round((time.perf_counter() - started) * 1e3, 3)
    return replace(outcome, report=_timed(outcome.report, took_ms))


def _timed(report: LaneReport, took_ms: float) -> LaneReport:
    return LaneReport(
        state=report.state,
        coverage=report.coverage,
        took_ms=took_ms,
        considered=report.considered,
        reason=report.reason,
    )


def _outcome(hits: list[LaneHit], epoch: int, *, state: LaneState, coverage: float, reason: str = "") -> LaneOutcome:
    report = LaneReport(state=state, coverage=round(coverage, 4), took_ms=0.0, considered=len(hits), reason=reason)
    return LaneOutcome(hits=tuple(hits), epoch=epoch, report=report)
