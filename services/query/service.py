"""Answer questions from the read side of every index (never writes).

SEARCH        SearchRequest      → lanes in parallel, fuse, rank, prove on disk    → SearchReply
SPACE_SEARCH  SearchRequest      → the same, of a tree that `knowledge` writes     → SearchReply
WHY_NOT       WhyNotRequest      → rules, disk and index, then as SEARCH            → WhyNotReply
CANDIDATES    CandidatesRequest  → lexical lane, texts without a vector            → CandidateTexts
STATUS        StatusRequest      → counts of the answering epoch, how far behind   → StatusReply
LISTING       ListingRequest     → a page of documents, skipped or failed entries  → ListingPage
MANIFEST      ManifestRequest    → a page of the known paths, for the watcher      → ManifestPage
health        ServiceStatusRequest                                                 → ServiceStatus
COMMITTED     IndexCommitted     → forget its counts and rankings                 → –
(out)         TOUCHED to the indexer: files that an answer found changed
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

import anyio

from services.query.adapters.evidence import read_ahead
from services.query.adapters.facts import FactsCache
from services.query.adapters.lanes import Lanes
from services.query.adapters.mirror_lane import MirrorLane
from services.query.adapters.projects import Projects
from services.query.adapters.question_encoder import QueryEncoder, QuestionEncoder
from services.query.adapters.reader import IDLE_S, IndexReaders
from services.query.adapters.requeue import Requeue
from services.query.adapters.vector_lane import ExactVectorLane
from services.query.adapters.word_memory import WORDS
from services.query.core.keywords import forget_passages
from services.query.inventory import Inventory
from services.query.search import Searcher
from services.query.why_not import Examiner
from shared.bus import Bus, Endpoint, Listener, ServiceContract
from shared.messages import IndexCommitted
from shared.model import locate_model
from shared.runtime import health_endpoint
from shared.settings import Settings
from shared.subjects import CANDIDATES, INDEX_COMMITTED, LISTING, MANIFEST, QUERY, SEARCH, SPACE_SEARCH, STATUS, WHY_NOT

SEARCHES_AT_ONCE = 3
"""Two cores answer: eight callers at eight at once cost a fifth more processor time, and each waits longer."""


@asynccontextmanager
async def service(bus: Bus, settings: Settings, *, encoder: QueryEncoder | None = None) -> AsyncIterator[None]:
    """Answer while the context is entered; ready when entered.

    The model is opened at the first question; `encoder` stands in for it in tests and where one is at hand already.
    """
    readers, facts, projects = IndexReaders(), FactsCache(), Projects(settings)
    spaces, all_trees = Projects(settings, trees="spaces"), Projects(settings, trees="all")
    questions = QuestionEncoder(partial(open_encoder, settings) if encoder is None else lambda: encoder)
    vectors = MirrorLane(readers, ExactVectorLane())
    lanes = Lanes(readers, questions, vectors, read_ahead=read_ahead)
    requeue = Requeue(bus)
    searcher = Searcher(bus, projects, readers, facts, lanes, on_changed=requeue.put)
    space_searcher = Searcher(bus, spaces, readers, facts, lanes, on_changed=requeue.put)
    examiner = Examiner(bus, readers, lanes, searcher)
    inventory = Inventory(bus, projects, readers, facts)
    manifests = Inventory(bus, all_trees, readers, facts)

    async def forget(event: IndexCommitted) -> None:
        facts.drop(event.instance)
        searcher.forget(event.instance)
        space_searcher.forget(event.instance)

    contract = ServiceContract(
        name=QUERY,
        description="searches the index of a project and tells what it holds",
        endpoints=_endpoints(searcher, space_searcher, examiner=examiner, inventory=inventory, manifests=manifests),
        listeners=(Listener(route=INDEX_COMMITTED, handle=forget),),
    )
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_close_idle, readers, vectors, (searcher, space_searcher))
            tasks.start_soon(requeue.run)
            async with bus.serve(contract):
                yield
            tasks.cancel_scope.cancel()
    finally:
        vectors.close()
        readers.close()


def _endpoints(
    searcher: Searcher, space_searcher: Searcher, *, examiner: Examiner, inventory: Inventory, manifests: Inventory
) -> tuple[Endpoint, ...]:
    return (
        Endpoint(route=SEARCH, handle=searcher.search, at_once=SEARCHES_AT_ONCE),
        Endpoint(route=SPACE_SEARCH, handle=space_searcher.search, at_once=SEARCHES_AT_ONCE),
        Endpoint(route=WHY_NOT, handle=examiner.why_not),
        Endpoint(route=CANDIDATES, handle=searcher.candidates, at_once=SEARCHES_AT_ONCE),
        Endpoint(route=STATUS, handle=inventory.status),
        Endpoint(route=LISTING, handle=inventory.listing),
        Endpoint(route=MANIFEST, handle=manifests.manifest),
        health_endpoint(QUERY),
    )


def open_encoder(settings: Settings) -> QueryEncoder:
    """Open the model for questions: one thread that never spins, because it shares the machine with bulk work.

    Raises:
        KxError: MODEL_MISSING, MODEL_ALTERED, MODEL_WIDTH.
    """
    from shared.encoder import QUERY_THREADS, OnnxEncoder

    files = locate_model(settings.model_dir)
    return OnnxEncoder.open(files, cache_dir=settings.cache_dir, threads=QUERY_THREADS, spinning=False)


async def _close_idle(readers: IndexReaders, vectors: MirrorLane, searchers: Sequence[Searcher]) -> None:
    while True:
        await anyio.sleep(IDLE_S)
        readers.close_idle()
        vectors.drop_idle()
        for searcher in searchers:
            searcher.drop_idle()
        forget_passages()
        WORDS.drop_idle()
