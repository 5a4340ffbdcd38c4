"""The indexer of one tree: its text flow and its embed flow over one writer, and how far both are.

The flows meet only in the database: a committed text is a missing vector, a stored vector ends it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import anyio

from services.indexer.adapters.store import IndexCounts
from services.indexer.adapters.text_lane import Purged
from services.indexer.embed_flow import EmbedFlow
from services.indexer.text_flow import TextFlow
from services.indexer.upkeep_flow import UpkeepFlow
from services.indexer.writer import IndexWriter
from shared.errors import KxError
from shared.identity import TextHash
from shared.messages import IndexProgress, Upto, Urgency

COUNTS_KEPT_S = 0.2  # progress is asked several times a second; counting distinct texts costs milliseconds


class ProjectPipeline:
    """`run` it in a task group, feed it with `touch`; the caller closes the store afterwards."""

    def __init__(
        self, writer: IndexWriter, text: TextFlow, embed: EmbedFlow, upkeep: UpkeepFlow, *, aside: Path | None = None
    ) -> None:
        self.ended = anyio.Event()  # set by who drops it; another stands in its place then
        self._upkeep = upkeep
        self._aside = aside
        self._writer = writer
        self._store = writer.store
        self._text = text
        self._embed = embed
        self._counts: IndexCounts | None = None
        self._counted_at = -math.inf
        self._counted_for = (-1, -1)  # commits told and paths handled: a text is in before its commit is told

    async def run(self) -> KxError:
        """Work until cancelled, or until the index proves to be damaged: then let go of it and give that error."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._text.run, self._embed.wake, self._drained)
            tasks.start_soon(self._embed.run, self._stored)
            tasks.start_soon(self._upkeep.run)
            error = await self._writer.damage()
            tasks.cancel_scope.cancel()
        await self._writer.abandon()
        return error

    def touch(self, paths: Sequence[str], urgency: Urgency) -> int:
        """Queue paths; see `TextFlow.touch`."""
        return self._text.touch(paths, urgency)

    async def progress(self, until: Upto | None, wait_ms: int) -> IndexProgress:
        """Say how far the work is, once `until` is reached or `wait_ms` are over."""
        if until == "vectors":
            self._embed.ask()
        with anyio.move_on_after(wait_ms / 1000):
            while until is not None and not await self._reached(until):
                await self._writer.changed()
        return await self._progress()

    async def begin_rebuild(self) -> int:
        """Build a new epoch beside the one that answers."""
        epoch = await self._writer.write(self._store.begin_rebuild)
        await self._writer.committed()
        return epoch

    async def finish_rebuild(self, epoch: int) -> None:
        """Take note that the whole tree has been announced to `epoch`."""
        await self._writer.write(lambda: self._store.mark_announced(epoch))
        await self._swap_when_complete()

    async def prioritise(self, texts: Sequence[TextHash]) -> None:
        """Embed these texts next."""
        await self._writer.write(lambda: self._store.prioritise(texts))
        self._embed.ask()
        self._look_again()

    async def purge(self, paths: Sequence[str]) -> Purged:
        """Remove paths from the index; progress says when their traces are gone too."""
        self._text.forget_hand()
        purged = await self._writer.call(lambda: self._text.lane.purge(paths))
        self._upkeep.expect("erasing")
        self._counts = None
        await self._writer.committed()
        return purged

    def compact(self) -> None:
        """Give space back; progress says when it is done."""
        self._upkeep.expect("compacting")

    async def retry_failed(self) -> None:
        """Try everything again that was set aside."""
        await self._writer.write(lambda: self._store.embeddings(self._store.epoch).forget_failures())
        self._look_again()

    def _look_again(self) -> None:
        self._counts = None
        self._embed.wake()

    async def _stored(self) -> None:
        await self._writer.committed()
        await self._swap_when_complete()

    async def _drained(self) -> None:
        await self._swap_when_complete()
        self._upkeep.wake()

    async def _swap_when_complete(self) -> None:
        if self._text.pending:
            return
        building = await self._writer.call(lambda: self._store.building)
        if building and await self._writer.write(self._store.swap_if_complete):
            self._counts = None
            await self._writer.committed()

    async def _reached(self, until: Upto) -> bool:
        if self._text.pending:
            return False
        counts = await self._count()
        building = await self._writer.call(lambda: self._store.building)
        return not building and (until == "text" or counts.missing <= counts.failed)

    async def _progress(self) -> IndexProgress:
        pending = self._text.pending  # before the counts, which then hold all that is no longer pending
        counts = await self._count()
        building = await self._writer.call(lambda: self._store.building)
        is_erasing = await self._writer.call(lambda: self._store.upkeep.is_erasure_wanted)
        asked = await self._writer.call(self._store.asked_left)
        return IndexProgress(
            text_pending=pending,
            documents=counts.documents,
            chunks=counts.chunks,
            vectors_ready=counts.texts - counts.missing,
            vectors_missing=counts.missing,
            texts_failed=counts.failed,
            text_done=self._text.done,
            bytes_done=self._text.bytes_done,
            embedded=self._embed.embedded,
            rebuilding=bool(building),
            priority_missing=asked,
            stalled=self._writer.stalled,
            upkeep=self._upkeep.work or ("erasing" if is_erasing else ""),
            set_aside=str(self._aside or ""),
        )

    async def _count(self) -> IndexCounts:
        now, state, counts = anyio.current_time(), (self._writer.commits, self._text.done), self._counts
        is_new = state == self._counted_for or (self._text.pending and now - self._counted_at < COUNTS_KEPT_S)
        if counts is None or not is_new:
            counts = await self._writer.call(lambda: self._store.counts(self._store.building or self._store.epoch))
            self._counts, self._counted_at, self._counted_for = counts, now, state
        return counts
