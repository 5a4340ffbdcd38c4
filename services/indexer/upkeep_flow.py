"""When the index is tidied: erasure as soon as nothing waits to be read, the cache and the log in quiet moments."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Literal

import anyio
import structlog
from structlog.typing import FilteringBoundLogger

from services.indexer.core.backoff import retry_after_s
from services.indexer.writer import IndexWriter
from shared.bus import GRACE_S
from shared.errors import KxError
from shared.index_files import is_suspect

LOOK_S = 5.0  # between two looks at what nobody announces: the log's length, a sign of damage
TRIM_EVERY_S = 3_600.0
FIRST_TRIM_S = 60.0  # a command that runs once is over by then
HELD_S = 0.5  # a reader holds the log

Work = Literal["", "erasing", "compacting"]

_log: FilteringBoundLogger = structlog.get_logger()


class UpkeepFlow:
    """The loop that tidies one index."""

    def __init__(self, writer: IndexWriter, *, wall_clock_ns: Callable[[], int], is_busy: Callable[[], bool]) -> None:
        self.work: Work = ""
        self._writer = writer
        self._upkeep = writer.store.upkeep
        self._wall_clock_ns = wall_clock_ns
        self._is_busy = is_busy
        self._wanted = anyio.Event()
        self._is_compaction_wanted = False
        self._next_trim = anyio.current_time() + FIRST_TRIM_S

    def wake(self) -> None:
        """Look now."""
        self._wanted.set()

    def expect(self, work: Work) -> None:
        """Begin to say that `work` is being done: it is as good as begun."""
        self._is_compaction_wanted |= work == "compacting"
        self.work = work
        self.wake()

    async def run(self) -> None:
        """Tidy for ever."""
        failures = 0
        while True:
            self._wanted = anyio.Event()
            try:
                await self._tidy()
                failures = 0
            except KxError as error:
                failures += 1
                self._writer.stalled = error.details()
                self._writer.tell()
                _log.warning("upkeep.stalled", instance=self._writer.instance, error_code=error.code)
                await anyio.sleep(retry_after_s(failures, error.code))
                continue
            with anyio.move_on_after(LOOK_S):
                await self._wanted.wait()

    async def _tidy(self) -> None:
        if is_suspect(self._writer.store.path):
            await self._writer.look_at_damage()
        if self._is_busy():
            return
        while await self._writer.call(lambda: self._upkeep.is_erasure_wanted):
            self.work = "erasing"
            await self._do(self._upkeep.erase())
        if self._is_compaction_wanted:
            self.work = "compacting"
            await self._do(self._upkeep.trim_cache(now_ns=self._wall_clock_ns()))
            await self._do(self._upkeep.compact())
            self._is_compaction_wanted = False
        if self.work:
            self.work = ""
            self._writer.tell()
        if anyio.current_time() > self._next_trim:
            self._next_trim = anyio.current_time() + TRIM_EVERY_S
            await self._do(self._upkeep.trim_cache(now_ns=self._wall_clock_ns()))
        await self._writer.call(self._upkeep.tidy_log)

    async def _do(self, steps: Generator[bool]) -> None:
        """Go through `steps`, each on the writer's thread: whatever is more urgent gets in between."""
        is_over = False
        try:
            while not is_over:
                step = await self._writer.call(partial(next, steps, None))
                is_over = step is None
                if step is False:
                    await anyio.sleep(HELD_S)
        finally:
            # Cut off between two steps, they put the connection in order while it is there.
            with anyio.move_on_after(GRACE_S, shield=True):
                await self._writer.finish(steps.close)
