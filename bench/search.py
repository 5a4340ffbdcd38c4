"""How long an answer takes and where the time goes, on indexes of several sizes.

    python -m bench.search [--chunks 5000 75000] [--queries 60] [--callers 8] [--keep FOLDER] [--project FOLDER]

Without `--project` an index of each size is made of this machine's texts (see `synthetic_index`), below `--keep` when
it is given, so that the next run finds it there. Processor time is what to compare on a busy machine: it is of the
whole process, divided by the questions, while wall times wait for the neighbours, too.

- stages: one question after the other on one thread, without the bus; the sum is less than an answer takes.
- one caller: over the in-memory bus, distinct questions, then the same again (their vectors are remembered).
- several callers at once: distinct questions, then every second one repeated.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import anyio
from msgspec import Struct

from bench.synthetic_index import Ground, ground, questions_about
from services.query.adapters.evidence import SampleCache, evidence_of, read_ahead
from services.query.adapters.facts import FactsCache
from services.query.adapters.lag import Lag
from services.query.adapters.lanes import EVIDENCE_DEPTH, Outcomes, off
from services.query.adapters.lexical_lane import lexical_hits
from services.query.adapters.mirror_lane import MirrorLane
from services.query.adapters.passages import Filters
from services.query.adapters.projects import Projects
from services.query.adapters.reader import IndexReaders
from services.query.adapters.vector_lane import ExactVectorLane
from services.query.adapters.word_memory import WORDS
from services.query.core.dedup import fold_equal_texts
from services.query.core.evidence.score import score
from services.query.core.fusion import unite
from services.query.core.grouping import group
from services.query.core.question import question_of
from services.query.core.ranking import RankingRule, rank
from services.query.core.recency import Recency
from services.query.page import Ranking, page_of
from services.query.service import open_encoder, service
from shared import logs
from shared.bus import Bus
from shared.bus_memory import MemoryBus
from shared.messages import SearchRequest
from shared.project_config import load_project_config
from shared.registry import Registry
from shared.settings import load_settings
from shared.subjects import SEARCH
from shared.vectors import vector_to_bytes

WARM_UP = 5


class Times(Struct):
    """Milliseconds of one kind of work, wall and processor."""

    wall: list[float] = []
    cpu: list[float] = []

    def line(self, name: str) -> str:
        """One row of the table."""
        centiles = statistics.quantiles(self.wall, n=20)
        cpu = statistics.mean(self.cpu)
        return f"  {name:36}{cpu:10.2f}{statistics.median(self.wall):10.2f}{centiles[18]:10.2f}"


class Clock:
    """Collects the times of named stages, of this thread."""

    def __init__(self) -> None:
        self.stages: dict[str, Times] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a block."""
        wall, cpu = time.perf_counter(), time.thread_time()
        yield
        times = self.stages.setdefault(name, Times())
        times.wall.append((time.perf_counter() - wall) * 1e3)
        times.cpu.append((time.thread_time() - cpu) * 1e3)


def stages(found: Ground, questions: Sequence[str]) -> Clock:
    """Ask each question step by step."""
    readers, facts_cache, samples = IndexReaders(), FactsCache(), SampleCache()
    vectors = MirrorLane(readers, ExactVectorLane())
    project = Projects(found.settings).get(found.project.instance)
    encoder = open_encoder(found.settings)
    clock = Clock()
    for number, text in enumerate((*questions[:WARM_UP], *questions)):
        if number == WARM_UP:
            vectors.settle()
            WORDS.settle()
            clock = Clock()
        request = SearchRequest(instance=project.instance, query=text)
        filters = Filters(is_denied=project.is_denied)
        with clock.stage("analyse"):
            question = question_of(request)
        with clock.stage("embed the question"):
            vector = vector_to_bytes(encoder.encode([text])[0])
        with readers.snapshot(project.index, project.instance, limit_s=60.0) as snapshot:
            facts = facts_cache.of(project.instance, snapshot)
            sample = samples.of(project.instance, snapshot, facts.chunks)
            WORDS.follow(readers, snapshot, facts.chunks)
            with clock.stage("lexical lane"):
                lexical = lexical_hits(snapshot, question.lexical, filters, EVIDENCE_DEPTH)
            with clock.stage("vector lane"):
                nearest = vectors.nearest(snapshot, vector, filters, EVIDENCE_DEPTH)
            with clock.stage("read ahead, beside the vector lane"):
                read_ahead(hit.passage for hit in lexical)
            with clock.stage("unite, evidence"):
                candidates = unite(lexical, nearest)
                measured = evidence_of(snapshot, candidates, question, facts=facts, sample=sample, vector=vector)
                parts = dict(zip((c.passage.text_hash for c in candidates), score(measured), strict=True))
        with clock.stage("rank, group"):
            rule = RankingRule(
                mode="auto",
                recency=Recency(epsilon=0.03, reference_ns=0),
                by_evidence=lambda candidate, parts=parts: parts[candidate.passage.text_hash],  # type: ignore[misc]
            )
            ranked = rank(candidates, rule)
            results = group(fold_equal_texts(ranked), "file")
        with clock.stage("proof, excerpts, hits"):
            ranking = Ranking(
                project=project,
                question=question,
                facts=facts,
                outcomes=Outcomes(lexical=off(""), vector=off("")),
                lag=Lag(text=0),
                mode="auto",
                rule=rule,
                ranked=ranked,
                results=results,
            )
            page_of(readers, ranking, request)
    readers.close()
    vectors.close()
    return clock


async def asked(bus: Bus, found: Ground, questions: Sequence[str], *, callers: int) -> tuple[Times, float]:
    """Ask all questions, `callers` at once; give the times of each and how many were answered a second."""
    times = Times()
    left = list(reversed(questions))

    async def call() -> None:
        while left:
            request = SearchRequest(instance=found.project.instance, query=left.pop())
            started = time.perf_counter()
            await bus.request(SEARCH, request)
            times.wall.append((time.perf_counter() - started) * 1e3)

    wall, cpu = time.perf_counter(), time.process_time()
    async with anyio.create_task_group() as tasks:
        for _ in range(callers):
            tasks.start_soon(call)
    times.cpu.append((time.process_time() - cpu) / len(questions) * 1e3)
    return times, len(questions) / (time.perf_counter() - wall)


async def over_the_bus(found: Ground, questions: Sequence[str], callers: int) -> None:
    """Print how long whole answers take."""
    half = len(questions) // 2
    async with MemoryBus() as bus, service(bus, found.settings):
        await asked(bus, found, [f"{text} once" for text in questions[:WARM_UP]], callers=1)
        await anyio.sleep(2.0)  # the mirror is made in the background
        await anyio.to_thread.run_sync(WORDS.settle)
        ask = partial(asked, bus, found)
        _print("one caller, distinct", await ask(questions, callers=1))
        _print("one caller, remembered", await ask(questions, callers=1))
        _print(f"{callers} callers, distinct", await ask([f"{text} again" for text in questions], callers=callers))
        twice = [f"{text} {turn}" for text in questions[:half] for turn in ("more", "more")]
        _print(f"{callers} callers, each twice", await ask(twice, callers=callers))


def _print(name: str, measured: tuple[Times, float]) -> None:
    times, rate = measured
    print(f"{times.line(name)}{rate:10.1f}/s")


def measure(found: Ground, queries: int, callers: int) -> None:
    """Print the table of one index."""
    questions = questions_about(found, queries)
    print(
        f"\n{found.chunks} chunks, {queries} questions\n  {'':36}{'cpu ms':>10}{'p50 ms':>10}{'p95 ms':>10}{'rate':>12}"
    )
    clock = stages(found, questions)
    for name, times in clock.stages.items():
        print(times.line(name))
    print(f"  {'sum':36}{sum(statistics.mean(times.cpu) for times in clock.stages.values()):10.2f}")
    anyio.run(over_the_bus, found, questions, callers)


def of_project(root: Path) -> Ground:
    """Take an index that is there."""
    settings = load_settings()
    project = Registry(settings).find(root, load_project_config(root, settings))
    if project is None:
        raise SystemExit(f"{root} has no index; make it: kx index")
    return Ground(settings, project, chunks=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, nargs="+", default=[5_000], help="sizes to make and measure")
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--callers", type=int, default=8)
    parser.add_argument("--keep", type=Path, help="folder of indexes to use again")
    parser.add_argument("--project", type=Path, help="measure the index of this tree instead")
    options = parser.parse_args()
    logs.configure("warning")
    run: Callable[[Ground], None] = partial(measure, queries=options.queries, callers=options.callers)
    if options.project is not None:
        run(of_project(options.project.resolve()))
        return
    with tempfile.TemporaryDirectory() as temporary:
        for size in options.chunks:
            run(ground((options.keep or Path(temporary)) / f"i{size}", size))


if __name__ == "__main__":
    main()
