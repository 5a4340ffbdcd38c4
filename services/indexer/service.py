"""Own the write side of every index: facts about files become rows, missing vectors become requests.

TOUCHED         PathsTouched     → queue of its tree; handled: lstat, read, chunk → one transaction   → TouchAccepted
REBUILD         RebuildIndex     → a new epoch beside the one that answers                            → RebuildStarted
FINISH_REBUILD  FinishRebuild    → the epoch answers once it is complete                              → Accepted
PRIORITISE      PrioritiseTexts  → these texts are embedded next                                      → Accepted
RETRY_FAILED    RetryFailed      → what was set aside is tried again                                  → Accepted
PURGE           PurgePaths       → rows are removed, then every trace of them                         → PathsPurged
COMPACT         CompactIndex     → merge, trim, give space back                                       → Accepted
PROGRESS        ProgressRequest  → wait, count                                                        → IndexProgress
(out)           EmbedTexts to the embedder; IndexCommitted after each commit; IndexerStarted when up, and again when a
                damaged index was set aside: every tree is to be reconciled
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

import anyio
import structlog
from anyio import to_thread
from anyio.abc import TaskGroup
from structlog.typing import FilteringBoundLogger

from services.indexer.adapters.mending import open_store
from services.indexer.adapters.parsers import ParsingProcess
from services.indexer.adapters.readers import Readers, processes_for
from services.indexer.adapters.reading import Reader
from services.indexer.adapters.store import IndexStore
from services.indexer.adapters.text_lane import TextLane
from services.indexer.core.chunking import CHUNKER_VERSION
from services.indexer.core.versions import EpochVersions
from services.indexer.embed_flow import EmbedFlow
from services.indexer.pipeline import ProjectPipeline
from services.indexer.text_flow import TextFlow
from services.indexer.upkeep_flow import UpkeepFlow
from services.indexer.writer import IndexWriter
from shared.analyzer import ANALYZER_VERSION
from shared.bus import Bus, Endpoint, ServiceContract
from shared.config_watch import ConfigWatch
from shared.errors import ErrorCode, KxError
from shared.extraction import AT_ONCE, extract_from_thread
from shared.identity import InstanceId
from shared.index_open import index_lock
from shared.messages import (
    Accepted,
    FinishRebuild,
    IndexerStarted,
    IndexProgress,
    PathsTouched,
    PrioritiseTexts,
    ProgressRequest,
    RebuildIndex,
    RebuildStarted,
    RetryFailed,
    TouchAccepted,
)
from shared.model import ModelFiles, locate_model, verify_file
from shared.registry import Project, Registry
from shared.runtime import health_endpoint
from shared.settings import Settings
from shared.subjects import (
    COMPACT,
    FINISH_REBUILD,
    INDEXER,
    INDEXER_STARTED,
    PRIORITISE,
    PROGRESS,
    PURGE,
    REBUILD,
    RETRY_FAILED,
    TOUCHED,
)
from shared.tokens import TokenCounter
from shared.upkeep_messages import CompactIndex, PathsPurged, PurgePaths

BELIEVED_FAILURES = 1  # damage met in use that a look at the file did not show: the second time the file is at fault

T = TypeVar("T")

_log: FilteringBoundLogger = structlog.get_logger()


@asynccontextmanager
async def service(
    bus: Bus, settings: Settings, *, mode: str = "stack", embeds_when_asked: bool = False
) -> AsyncIterator[None]:
    """Serve while entered; every index it opened is closed, and its lock released, on leaving.

    `mode` names who holds the lock. With `embeds_when_asked` nothing is embedded before somebody waits for vectors or
    names texts: a command that stops after the words never loads the model.
    """
    async with AsyncExitStack() as locks, AsyncExitStack() as stores, anyio.create_task_group() as tasks:
        indexer = Indexer(bus, settings, locks, stores, tasks, mode=mode, embeds_when_asked=embeds_when_asked)
        async with bus.serve(indexer.contract()):
            await bus.publish(INDEXER_STARTED, IndexerStarted())
            yield
        tasks.cancel_scope.cancel()


class Indexer:
    """One pipeline per tree, opened at the first message about it."""

    def __init__(  # noqa: PLR0913  # wiring
        self,
        bus: Bus,
        settings: Settings,
        locks: AsyncExitStack,
        stores: AsyncExitStack,
        tasks: TaskGroup,
        *,
        mode: str,
        embeds_when_asked: bool,
    ) -> None:
        self._bus = bus
        self._settings = settings
        self._registry = Registry(settings)
        self._locks = locks
        self._tasks = tasks
        self._mode = mode
        self._embeds_when_asked = embeds_when_asked
        self._pipelines: dict[InstanceId, ProjectPipeline] = {}
        self._locked: dict[InstanceId, bool] = {}  # instances whose lock is held; whether the last holder ended well
        self._aside: dict[InstanceId, Path] = {}  # damaged files set aside by this process
        self._failed_in_use: dict[InstanceId, int] = {}
        self._opening = anyio.Lock()
        self._stores: set[IndexStore] = set()
        stores.callback(self.close_stores)
        self._model = cache(lambda: locate_model(settings.model_dir))
        self._count = _lazy_counter(self._model)
        self._parsing = ParsingProcess()
        stores.callback(self._parsing.close)
        self._readers: Readers | None = None
        if processes_for(settings.worker_threads):
            self._readers = Readers(processes_for(settings.worker_threads), self._model())
            stores.callback(self._readers.close)

    def contract(self) -> ServiceContract:
        """Name what this service answers."""
        return ServiceContract(
            name=INDEXER,
            description="the single writer of every index",
            endpoints=(
                Endpoint(route=TOUCHED, handle=self.touched),
                Endpoint(route=REBUILD, handle=self.rebuild),
                Endpoint(route=FINISH_REBUILD, handle=self.finish_rebuild),
                Endpoint(route=PRIORITISE, handle=self.prioritise),
                Endpoint(route=RETRY_FAILED, handle=self.retry_failed),
                Endpoint(route=PURGE, handle=self.purge),
                Endpoint(route=COMPACT, handle=self.compact),
                Endpoint(route=PROGRESS, handle=self.progress),
                health_endpoint(INDEXER),
            ),
        )

    async def touched(self, message: PathsTouched) -> TouchAccepted:
        """Queue the paths; the reply means "in the queue", not "on disk". Idempotent by path."""
        pipeline = await self._pipeline(message.instance)
        return TouchAccepted(queued=pipeline.touch(message.paths, message.urgency))

    async def rebuild(self, message: RebuildIndex) -> RebuildStarted:
        """Start a new epoch, or go on with the one under way."""
        return RebuildStarted(epoch=await self._do(message.instance, ProjectPipeline.begin_rebuild))

    async def finish_rebuild(self, message: FinishRebuild) -> Accepted:
        """Let the built epoch answer as soon as it is complete; ignored when that epoch is not being built."""
        await self._do(message.instance, lambda pipeline: pipeline.finish_rebuild(message.epoch))
        return Accepted()

    async def prioritise(self, message: PrioritiseTexts) -> Accepted:
        """Put texts first; a later call replaces the wish."""
        await self._do(message.instance, lambda pipeline: pipeline.prioritise(message.text_hashes))
        return Accepted()

    async def retry_failed(self, message: RetryFailed) -> Accepted:
        """Forget failures."""
        await self._do(message.instance, ProjectPipeline.retry_failed)
        return Accepted()

    async def purge(self, message: PurgePaths) -> PathsPurged:
        """Remove paths without looking at the disk; idempotent. Progress says when every trace is gone."""
        purged = await self._do(message.instance, lambda pipeline: pipeline.purge(message.paths))
        return PathsPurged(documents=purged.documents)

    async def compact(self, message: CompactIndex) -> Accepted:
        """Give space back; progress says when it is done."""
        (await self._pipeline(message.instance)).compact()
        return Accepted()

    async def progress(self, message: ProgressRequest) -> IndexProgress:
        """Answer when the work is done or the time is over, whichever comes first."""
        return await self._do(message.instance, lambda pipeline: pipeline.progress(message.until, message.wait_ms))

    async def _do(self, instance: InstanceId, work: Callable[[ProjectPipeline], Awaitable[T]]) -> T:
        """Do `work` with the pipeline of a tree, once more if its index proved to be damaged and was replaced."""
        pipeline = await self._pipeline(instance)
        try:
            return await work(pipeline)
        except KxError as error:
            if error.code is not ErrorCode.INDEX_DAMAGED:
                raise
        await pipeline.ended.wait()
        return await work(await self._pipeline(instance))

    async def _pipeline(self, instance: InstanceId) -> ProjectPipeline:
        async with self._opening:
            if instance not in self._pipelines:
                self._pipelines[instance] = await self._open(instance)
            return self._pipelines[instance]

    async def _open(self, instance: InstanceId) -> ProjectPipeline:
        project = await to_thread.run_sync(self._registry.tree, instance)
        model_id = self._model().model_id
        store = await self._open_store(project, model_id)
        return self._begin(project, model_id, store)

    def _begin(self, project: Project, model_id: str, store: IndexStore) -> ProjectPipeline:
        instance = project.instance
        config = ConfigWatch(Path(project.root), self._settings)
        lane = TextLane(
            Path(project.root),
            store,
            rules=lambda: config.current().config.rules(),  # noqa: PLW0108  # asked anew for every batch
            reader=partial(Reader, Path(project.root), self._count, self._parsing.outline),
        )
        writer = IndexWriter(instance, store, self._bus)
        documents = [Reader(Path(project.root), self._count, extract=extract_from_thread) for _ in range(AT_ONCE)]
        text = TextFlow(writer, lane, self._readers, project.root, documents=documents)
        embed = EmbedFlow(
            writer,
            self._bus,
            model_id=model_id,
            wall_clock_ns=time.time_ns,
            is_text_first=lambda: text.is_bulk_waiting,
            waits_to_be_asked=self._embeds_when_asked,
        )
        upkeep = UpkeepFlow(writer, wall_clock_ns=time.time_ns, is_busy=lambda: bool(text.pending))
        pipeline = ProjectPipeline(writer, text, embed, upkeep, aside=self._aside.get(instance))
        self._tasks.start_soon(self._run, instance, pipeline, store)
        return pipeline

    async def _run(self, instance: InstanceId, pipeline: ProjectPipeline, store: IndexStore) -> None:
        """Run a pipeline until cancelled; one whose index is damaged is dropped, the next message opens it anew."""
        error = await pipeline.run()
        _log.warning("index.damaged", instance=instance, reason=str(error))
        async with self._opening:
            del self._pipelines[instance]
            self._stores.discard(store)
            self._failed_in_use[instance] = self._failed_in_use.get(instance, 0) + 1
            self._locked[instance] = False  # whatever is found there now is doubtful
        pipeline.ended.set()
        with suppress(KxError):  # busy, full: the next message tries again
            await self._pipeline(instance)
        await self._bus.publish(INDEXER_STARTED, IndexerStarted())

    async def _open_store(self, project: Project, model_id: str) -> IndexStore:
        instance = project.instance
        if instance not in self._locked:
            since = datetime.now(UTC).isoformat(timespec="seconds")
            lock = index_lock(project.index_path, mode=self._mode, since=since)
            self._locked[instance] = self._locks.enter_context(lock)
        versions = EpochVersions(chunker=CHUNKER_VERSION, analyzer=ANALYZER_VERSION, model_id=model_id)
        opened = await to_thread.run_sync(
            partial(
                open_store,
                project,
                versions,
                ended_well=self._locked[instance],
                has_failed=self._failed_in_use.get(instance, 0) > BELIEVED_FAILURES,
            )
        )
        if opened.aside is not None:
            self._aside[instance] = opened.aside
            self._failed_in_use[instance] = 0
        self._stores.add(opened.store)
        return opened.store

    def close_stores(self) -> None:
        """Close every index; a log that cannot be written back now is read by whoever opens it next."""
        for store in self._stores:
            with suppress(KxError):
                store.close()


def _lazy_counter(model: Callable[[], ModelFiles]) -> Callable[[str], int]:
    loaded: list[TokenCounter] = []

    def count(text: str) -> int:
        # A run with nothing changed counts nothing, and loading the vocabulary would be most of its time.
        if not loaded:
            files = model()
            verify_file(files.vocabulary)
            loaded.append(TokenCounter.load(files.tokenizer))
        return loaded[0].count(text)

    return count
