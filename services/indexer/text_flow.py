"""From touched paths to the text lane: live before bulk, many at once through reading processes.

What is read of a path later is written later, or not at all: a path that was gone for a moment in a checkout must not
be taken out of the index by whoever looked first and writes last. So nobody takes up a path that another has in hand,
but for live work, which waits for nobody: what bulk work has read of such a path is then read again.

Documents whose text a child process takes out have a queue of their own: nobody waits for a slow one.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future
from functools import partial
from itertools import islice
from typing import Literal

import anyio
import structlog
from anyio import to_thread
from structlog.typing import FilteringBoundLogger

from services.indexer.adapters.files import Unstable
from services.indexer.adapters.readers import BATCH_PATHS, ReadBatch, Readers, poisoned
from services.indexer.adapters.reading import Content, Outcome, Reader
from services.indexer.adapters.text_lane import BATCH_DOCUMENTS, Handled, TextLane
from services.indexer.core.backoff import retry_after_s
from services.indexer.writer import ROOM_LOOK_S, IndexWriter
from shared.document_kinds import is_extracted
from shared.errors import ErrorCode, KxError
from shared.messages import Urgency
from shared.pathgate import PathGate
from shared.treerules import TreeRules

# Paths waiting to be handled; beyond, the sender is told to come back (its dirty set is the real queue).
QUEUED_PATHS = 50_000
# From here on processes read ahead: starting them costs half a second, which 256 files do.
MANY_PATHS = 256
READ_LIMIT_S = 60.0  # a batch is read in half a second; who needs a minute hangs
BATCHES_AHEAD = 6  # three for each of two cores: neither a process nor the writer waits for the other

Queue = Literal["live", "bulk", "document"]
Reading = tuple[tuple[str, ...], Future[list[Outcome]]]

_log: FilteringBoundLogger = structlog.get_logger()


class TextFlow:
    """The queue of one tree and the loop that empties it."""

    def __init__(
        self,
        writer: IndexWriter,
        lane: TextLane,
        readers: Readers | None,
        root: str,
        *,
        documents: Sequence[Reader] = (),
    ) -> None:
        self.done = 0  # paths handled
        self.bytes_done = 0
        self._writer = writer
        self.lane = lane
        self._readers = readers
        self._root = root
        self._queues: dict[Queue, dict[str, None]] = {"live": {}, "bulk": {}, "document": {}}
        self._hands: dict[Queue, set[str]] = {queue: set() for queue in self._queues}  # between disk and database
        # In hand, and read again: live work took it meanwhile, or it was purged.
        self._stale: dict[Queue, set[str]] = {queue: set() for queue in self._queues}
        self._touched = {queue: anyio.Event() for queue in self._queues}
        self._documents = documents  # each reads one at a time
        self._edited: set[str] = set()  # documents touched live
        self._failures_in_a_row = 0

    @property
    def pending(self) -> int:
        """Paths waiting or in hand."""
        return sum(map(len, self._queues.values())) + self._in_hand

    @property
    def _in_hand(self) -> int:
        return sum(map(len, self._hands.values()))

    @property
    def is_bulk_waiting(self) -> bool:
        """Tell whether the text of a tree is still being read."""
        return bool(self._queues["bulk"]) or self._in_hand > 1

    def touch(self, paths: Sequence[str], urgency: Urgency) -> int:
        """Queue paths; a path already waiting is not queued twice, and a live touch overtakes a bulk one.

        Raises:
            KxError: INDEX_BUSY (retryable) when the queue is full; none of the paths was taken then.
        """
        if self.pending + len(paths) > QUEUED_PATHS:
            raise KxError(
                ErrorCode.INDEX_BUSY,
                "{count} paths are waiting to be indexed already",
                hint="announce these again in a moment",
                retryable=True,
                count=self.pending,
            )
        self.lane.touched_s = time.monotonic()
        queue, other = self._queues[urgency], self._queues["bulk" if urgency == "live" else "live"]
        documents = [path for path in paths if self._documents and is_extracted(path)]
        for path in paths:
            if path in documents:
                continue
            if urgency == "live":
                other.pop(path, None)
            if path not in other:
                queue[path] = None
        self._touched[urgency].set()
        self._touch_documents(documents, urgency)
        return self.pending

    def _touch_documents(self, paths: Sequence[str], urgency: Urgency) -> None:
        queue = self._queues["document"]
        if urgency == "live":
            self._edited.update(paths)
            _put_back(queue, paths)
        else:
            queue.update(dict.fromkeys(paths))
        if paths:
            self._touched["document"].set()

    async def run(self, written: Callable[[], None], drained: Callable[[], Awaitable[None]]) -> None:
        """Handle paths for ever; `written` is called after each commit, `drained` when nothing is left.

        Live and bulk are two loops over one writer, so that a save waits for one transaction of a bulk index at most.
        """

        async def bulk() -> None:
            if not await self._has_room():
                return
            if self._readers is not None and len(self._queues["bulk"]) >= MANY_PATHS:
                await self._handle_many(self._readers, written)
            else:
                await self._handle_some("bulk", written)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._repeat, "live", partial(self._handle_some, "live", written), drained)
            tasks.start_soon(self._repeat, "bulk", bulk, drained)
            for reader in self._documents:
                tasks.start_soon(self._repeat, "document", partial(self._handle_document, reader, written), drained)

    async def _repeat(
        self, queue: Queue, step: Callable[[], Awaitable[None]], drained: Callable[[], Awaitable[None]]
    ) -> None:
        while True:
            if self._touched[queue].is_set():  # two loops may wait for the same
                self._touched[queue] = anyio.Event()
            try:
                if self._can_take(queue):
                    await step()
                    continue
                if not self.pending:
                    await drained()
            except KxError as error:
                await self._pause_after(error)
                continue
            if not self._can_take(queue):
                await self._touched[queue].wait()

    async def _has_room(self) -> bool:
        """Tell whether bulk work may go on; if not, wait a moment."""
        if await self._writer.has_room():
            return True
        await anyio.sleep(ROOM_LOOK_S)
        return False

    async def _handle_some(self, urgency: Urgency, written: Callable[[], None]) -> None:
        queue = self._queues[urgency]
        paths = self._take(urgency, 1 if urgency == "live" else BATCH_DOCUMENTS)
        try:
            # Not on the writer's thread: a parser may take long to die, and who asks how far the work is must not wait.
            config, known = await self._writer.call(partial(self.lane.known, paths))
            outcomes = await to_thread.run_sync(partial(self.lane.read, paths, config, known, urgency))
            read = paths[: len(outcomes)]
            current = self._current(urgency, read, outcomes)
            handled = await self._writer.call(partial(self.lane.write, read, current, urgency))
        except BaseException:
            _put_back(queue, paths)
            raise
        finally:
            self._let_go(urgency, paths)
        _put_back(queue, paths[handled.paths :])
        await self._wrote(handled, queue, written)

    def _can_take(self, queue: Queue) -> bool:
        held = self._held_by_others(queue)
        return any(path not in held for path in self._queues[queue])

    def _take(self, queue: Queue, count: int) -> tuple[str, ...]:
        """Take up to `count` paths that nobody has in hand; live work also those of bulk work."""
        waiting, held = self._queues[queue], self._held_by_others(queue)
        paths = tuple(islice((path for path in waiting if path not in held), count))
        for path in paths:
            del waiting[path]
        self._hands[queue].update(paths)
        if queue == "live":
            self._stale["bulk"] |= self._hands["bulk"].intersection(paths)
        return paths

    def _held_by_others(self, queue: Queue) -> set[str]:
        return self._hands["live"] if queue == "live" else set().union(*self._hands.values())

    def _let_go(self, queue: Queue, paths: Sequence[str]) -> None:
        self._hands[queue].difference_update(paths)
        self._stale[queue].difference_update(paths)
        for waiting, touched in self._touched.items():
            if self._queues[waiting]:  # what was in hand may be taken up now
                touched.set()

    def _current(self, queue: Queue, paths: Sequence[str], outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Put aside what is older than what is in."""
        stale = self._stale[queue]
        return [Unstable() if path in stale else one for path, one in zip(paths, outcomes, strict=True)]

    def forget_hand(self) -> None:
        """Have everything read again that is in hand: the index is to lose paths, and may not get them back from there."""
        for queue, held in self._hands.items():
            self._stale[queue] |= held

    async def _handle_document(self, reader: Reader, written: Callable[[], None]) -> None:
        """Take the text out of one document, off the writer's thread; cancelling ends the child at once."""
        if not await self._has_room():
            return
        queue = self._queues["document"]
        paths = self._take("document", 1)  # none where another loop was faster
        urgency: Urgency = "live" if self._edited.intersection(paths) else "bulk"
        try:
            config, known = await self._writer.call(partial(self.lane.known, paths))
            gate, rules = await to_thread.run_sync(partial(reader.begin, paths, config, touched_s=self.lane.touched_s))
            outcomes = await to_thread.run_sync(partial(_read_all, reader, gate, rules, paths, known))
            current = self._current("document", paths, outcomes)
            handled = await self._writer.call(partial(self.lane.write, paths, current, urgency))
        except BaseException:
            _put_back(queue, paths)
            raise
        finally:
            self._let_go("document", paths)
        self._edited.difference_update(set(paths).difference(queue))
        await self._wrote(handled, queue, written)

    async def _handle_many(self, readers: Readers, written: Callable[[], None]) -> None:
        """Let processes read ahead while the writer writes."""
        queue = self._queues["bulk"]
        reading: deque[Reading] = deque()
        try:
            while reading or self._can_take("bulk"):
                while len(reading) < BATCHES_AHEAD and self._can_take("bulk"):
                    reading.append(await self._read_ahead(readers))
                if not await self._writer.has_room():
                    return
                paths, future = reading[0]
                outcomes = await self._read(readers, paths, future)
                current = self._current("bulk", paths, outcomes)
                handled = await self._writer.call(partial(self.lane.write, paths, current, "bulk"))
                reading.popleft()
                self._let_go("bulk", paths)
                await self._wrote(handled, queue, written)
        finally:
            for paths, _ in reading:
                queue.update(dict.fromkeys(paths))
                self._let_go("bulk", paths)

    async def _read_ahead(self, readers: Readers) -> Reading:
        paths = self._take("bulk", BATCH_PATHS)
        try:
            return paths, await self._submit(readers, paths)
        except BaseException:
            _put_back(self._queues["bulk"], paths)
            self._let_go("bulk", paths)
            raise

    async def _submit(
        self, readers: Readers, paths: tuple[str, ...], *, is_plain: bool = False
    ) -> Future[list[Outcome]]:
        config, known = await self._writer.call(partial(self.lane.known, paths))
        batch = ReadBatch(
            root=self._root, config=config, paths=paths, known=known, touched_s=self.lane.touched_s, is_plain=is_plain
        )
        return readers.submit(batch)

    async def _read(self, readers: Readers, paths: tuple[str, ...], future: Future[list[Outcome]]) -> list[Outcome]:
        outcomes = await self._outcomes(readers, future)
        if outcomes is not None:
            return outcomes
        found: list[Outcome] = []
        for path in paths:  # one by one, so that only the culprit loses anything
            found += await self._read_one(readers, path)
        return found

    async def _read_one(self, readers: Readers, path: str) -> list[Outcome]:
        """Read a path in whose company a process died: as usual, without a parser, not at all."""
        for is_plain in (False, False, True):  # twice as usual: it may be another tree's file that the process died of
            outcomes = await self._outcomes(readers, await self._submit(readers, (path,), is_plain=is_plain))
            if outcomes is not None:
                return outcomes
        return [poisoned(self._root, path)]

    async def _outcomes(self, readers: Readers, future: Future[list[Outcome]]) -> list[Outcome] | None:
        """Wait for what was read; None where its process died, another of its pool did, or it hangs."""
        try:
            return await to_thread.run_sync(future.result, READ_LIMIT_S, abandon_on_cancel=True)
        except (BrokenExecutor, CancelledError, TimeoutError):
            _log.warning("reader.died", instance=self._writer.instance)
            readers.close()
            return None

    async def _wrote(self, handled: Handled, queue: dict[str, None], written: Callable[[], None]) -> None:
        queue.update(dict.fromkeys(handled.unstable))
        self._writer.stalled, self._failures_in_a_row = None, 0
        self.done += handled.paths - len(handled.unstable)
        self.bytes_done += handled.source_bytes
        await self._writer.committed()
        written()

    async def _pause_after(self, error: KxError) -> None:
        _log.warning("text.stalled", instance=self._writer.instance, error_code=error.code, message=str(error))
        self._writer.stalled = error.details()
        self._failures_in_a_row += 1
        self._writer.tell()
        await anyio.sleep(retry_after_s(self._failures_in_a_row, error.code))


def _read_all(
    reader: Reader, gate: PathGate, rules: TreeRules, paths: Sequence[str], known: Sequence[Content | None]
) -> list[Outcome]:
    return [reader.read(gate, rules, path, content) for path, content in zip(paths, known, strict=True)]


def _put_back(queue: dict[str, None], paths: Sequence[str]) -> None:
    """Put paths in front again."""
    if paths:
        waiting = dict(queue)
        queue.clear()
        queue.update(dict.fromkeys(paths))
        queue.update(waiting)
