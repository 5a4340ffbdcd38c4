"""The whole product in this process, as `kx index` and `kx search` compose it: every service on the in-memory bus."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import anyio

from kx.embedded import embedded_bus
from kx.indexing import index_text
from shared.bus import Bus
from shared.index_format import for_epoch
from shared.index_open import open_reader
from shared.messages import (
    Hit,
    IndexProgress,
    Listing,
    ListingRequest,
    ListingRow,
    SearchReply,
    SearchRequest,
    StatusReply,
    StatusRequest,
    TreeReconciled,
)
from shared.project_config import load_project_config
from shared.registry import Project, Registry
from shared.settings import load_settings
from shared.subjects import LISTING, SEARCH, STATUS

T = TypeVar("T")

_TEXTS = """
SELECT d.path, c.start_line, c.end_line, c.heading, c.text FROM chunk{e} c JOIN document{e} d ON d.id = c.document
"""


class Quiet:
    """A meter that shows nothing."""

    def text(self, progress: IndexProgress) -> None:
        """Show nothing."""

    def vectors(self, progress: IndexProgress) -> None:
        """Show nothing."""


class Product:
    """One project."""

    def __init__(self, bus: Bus, project: Project) -> None:
        self.bus = bus
        self.project = project

    async def index(self, *, full: bool = False) -> TreeReconciled:
        """Bring the words up to date, as `kx index --wait text` does."""
        return (await index_text(self.bus, self.project.instance, Quiet(), full=full)).tree

    async def search(self, query: str, top: int = 10) -> SearchReply:
        """Ask the lexical lane: no model is loaded."""
        message = SearchRequest(instance=self.project.instance, query=query, top=top, mode="lexical")
        return await self.bus.request(SEARCH, message, timeout_s=30)

    async def hits(self, query: str) -> list[Hit]:
        """Give what is found."""
        return list((await self.search(query)).results)

    async def found(self, query: str) -> list[str]:
        """Give the paths that are found, best first."""
        return [hit.path for hit in await self.hits(query)]

    async def status(self) -> StatusReply:
        """Ask what `kx status` shows."""
        return await self.bus.request(STATUS, StatusRequest(instance=self.project.instance), timeout_s=30)

    async def listing(self, listing: Listing) -> dict[str, ListingRow]:
        """Give every row of a listing by path."""
        rows: dict[str, ListingRow] = {}
        while True:
            after = next(reversed(rows), "")
            message = ListingRequest(instance=self.project.instance, listing=listing, after=after)
            page = await self.bus.request(LISTING, message, timeout_s=30)
            rows.update((row.path, row) for row in page.rows)
            if page.complete:
                return rows

    async def reasons(self) -> dict[str, str]:
        """Give why each skipped entry was skipped."""
        return {path: row.reason for path, row in (await self.listing("skipped")).items()}

    def passages(self) -> list[tuple[str, int, int, str, str]]:
        """Read every passage from the file: path, first and last line, heading, text."""
        connection = open_reader(self.project.index_path, self.project.instance)
        try:
            epoch = int(connection.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()[0])  # type: ignore[index]
            rows = connection.execute(for_epoch(_TEXTS, epoch))
            return [(str(a), int(b), int(c), str(d), str(e)) for a, b, c, d, e in rows]
        finally:
            connection.close()


@asynccontextmanager
async def product(root: Path, user_home: Path) -> AsyncIterator[Product]:
    """Serve a registered root; `user_home` holds `.kx`."""
    settings = load_settings(environ={"HOME": str(user_home), "KX_HOME": str(user_home / ".kx")})
    project = Registry(settings).enrol(root, load_project_config(root, settings))
    async with embedded_bus(settings, writes=True, mode="test") as bus:
        yield Product(bus, project)


def with_product(root: Path, user_home: Path, use: Callable[[Product], Awaitable[T]]) -> T:
    """Run `use` with the product, from a test that is no coroutine."""

    async def run() -> T:
        async with product(root, user_home) as served:
            return await use(served)

    return anyio.run(run)
