"""From a ranking to the page that an answer shows: proof on disk, excerpts, hits, within the size of a message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from services.query.adapters.facts import IndexFacts
from services.query.adapters.lag import Lag
from services.query.adapters.lanes import Outcomes
from services.query.adapters.projects import SearchProject
from services.query.adapters.prover import Prover
from services.query.adapters.reader import IndexReaders
from services.query.adapters.word_worth import word_worth
from services.query.core.answer import (
    UNLIMITED,
    beside_text,
    hits_of,
    limits_of,
    with_excerpts,
    with_few_places,
    within_budget,
)
from services.query.core.excerpts import Source
from services.query.core.grouping import Result
from services.query.core.packing import Wanted, excerpts
from services.query.core.passages import Ranked
from services.query.core.question import Question
from services.query.core.ranking import RankingRule
from shared.messages import Hit, Mode, SearchRequest


class Ranking(Struct, frozen=True, kw_only=True):
    """All that was found for a question, in order; nothing of it is proven on disk yet."""

    project: SearchProject
    question: Question
    facts: IndexFacts
    outcomes: Outcomes
    lag: Lag
    mode: Mode  # as it was carried out
    rule: RankingRule
    ranked: list[Ranked]  # every candidate the mode looks at
    results: list[Result]  # equal texts folded, grouped
    is_whole: bool = False  # nothing failed or fell back: until the next commit the same question is ranked the same


class Page(Struct, frozen=True, kw_only=True):
    """What of the ranked results is shown."""

    hits: tuple[Hit, ...]
    left_out: int  # passages that changed on disk
    gone: int  # results of which nothing stands any more
    cut: int  # results that fit neither the message nor the budget
    changed: tuple[str, ...]  # paths of files that are not as they were indexed
    shortened: int  # excerpts that the budget made shorter


def page_of(readers: IndexReaders, ranking: Ranking, request: SearchRequest) -> Page:
    """Prove the results of a page, choose what is shown of each and write them as hits; blocks."""
    project = ranking.project
    prover = Prover(project.root)
    proven = prover.page(ranking.results, offset=request.offset, top=request.top)
    hits = hits_of(proven.results, ignored_keywords=project.ignore_keywords, explain=request.explain)
    if request.budget is not None:
        hits = with_few_places(hits)
    worth = word_worth(readers, project, ranking.question, ranking.facts.chunks)
    wanted = _wanted(prover, proven.results, hits, limits_of(request, project.snippets))
    packed = excerpts(list(wanted), worth, request.budget)
    kept = tuple(within_budget(with_excerpts(hits, packed, has_budget=request.budget is not None)))
    cut = len(hits) - len(kept)
    return Page(
        hits=kept,
        left_out=proven.left_out,
        gone=proven.gone,
        cut=cut,
        shortened=packed.shortened,
        changed=proven.changed,
    )


def _wanted(
    prover: Prover, results: Sequence[Result], hits: Sequence[Hit], limits: tuple[int, int]
) -> Iterator[Wanted]:
    """Say of each hit what it may show: lines of its passage, of the whole file where that is small."""
    most_lines, most_results = limits
    for number, (result, hit) in enumerate(zip(results, hits, strict=True)):
        source, most = Source(hit.text, hit.start_line), most_lines if number < most_results else 0
        if 0 < most < UNLIMITED:
            whole = prover.small_file(result.best.passage.at, hit.text, most)
            source = source if whole is None else Source(whole)
        yield Wanted(source=source, most=most, beside=beside_text(hit))
