"""Bring files into a base, a few at once; a file that fails stops no other."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import anyio
from anyio import to_thread

from kx.context import Context
from kx.knowledge import outcomes
from kx.knowledge.asking import ASK_S, ME
from kx.knowledge.front_matter import EXPORTED
from kx.knowledge.front_matter import read as read_front_matter
from kx.knowledge.outcomes import Imported
from kx.knowledge.restoring import Exported, Restore
from kx.knowledge.sources import Source, read_source
from shared import spool
from shared.bus import Bus
from shared.errors import KxError
from shared.knowledge_messages import BaseRow, ImportItem
from shared.knowledge_upkeep_messages import KnowledgeLimits
from shared.subjects import ITEM_IMPORT

AT_ONCE = 4  # as many as the service reads at once; each holds its file


class Meter(Protocol):
    """Who shows the progress."""

    def files(self, done: int, total: int) -> None:
        """Show files done of all."""
        ...


class Import:
    """One run: files of folders, files given by name, and exported items among them."""

    def __init__(self, context: Context, bus: Bus, base: BaseRow, limits: KnowledgeLimits, *, publish: bool) -> None:
        self._context = context
        self._bus = bus
        self._base = base
        self._limits = limits
        self._publish = publish

    async def run(self, found: list[Source], meter: Meter) -> list[Imported]:
        """Import all; gives what became of each file, by path."""
        told = [outcomes.refused(source) for source in found if source.refusal is not None]
        wanted = [source for source in found if source.refusal is None]
        exported: list[Exported] = []
        left, done = iter(wanted), 0

        async def work() -> None:
            nonlocal done
            for source in left:  # each takes the next one
                taken = await self._taken(source)
                if isinstance(taken, Exported):
                    exported.append(taken)
                else:
                    told.append(taken)
                done += 1
                meter.files(done, len(wanted))

        async with anyio.create_task_group() as tasks:
            for _ in range(AT_ONCE):
                tasks.start_soon(work)
        if exported:
            restore = Restore(self._context, self._bus, self._base, publish=self._publish)
            told += await restore.run(sorted(exported, key=lambda one: one.source.path))
        return sorted(told, key=lambda one: one.path)

    async def _taken(self, source: Source) -> Imported | Exported:
        try:
            data = await to_thread.run_sync(read_source, source.path, self._limits)
            page = read_front_matter(data) if source.path.suffix == EXPORTED else None
            return await self._one(source, data) if page is None else Exported(source, page)
        except KxError as error:
            return outcomes.failed(source, error)

    async def _one(self, source: Source, data: bytes) -> Imported:
        name = await to_thread.run_sync(spool.put, self._context.settings, data)
        message = ImportItem(
            caller=ME,
            base=self._base.id,
            file_name=source.path.name,
            spool=name,
            locator=locator_of(source.path, self._context.settings.user_home),
            publish=self._publish,
        )
        written = await self._bus.request(ITEM_IMPORT, message, timeout_s=ASK_S)
        item = written.item
        return outcomes.done(source, written, is_new=item.number <= 1 and item.created == item.updated)


def locator_of(path: Path, user_home: Path) -> str:
    """Say where a file comes from: its whole path, so that equal names in two folders are two items.

    >>> locator_of(Path("/home/ana/docs/restart.md"), Path("/home/ana"))
    '~/docs/restart.md'
    """
    return f"~/{path.relative_to(user_home)}" if path.is_relative_to(user_home) else str(path)
