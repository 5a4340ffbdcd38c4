"""Megabrain over a real vault, with a stand-in for the indexer: what its tests ask."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from services.megabrain.service import service
from shared.bus import Bus, Endpoint, ServiceContract
from shared.bus_memory import MemoryBus
from shared.identity import InstanceId
from shared.megabrain_messages import ActivityRow, AddActivity, UpdateActivity, UpdateKind
from shared.messages import Message, PathsTouched, TouchAccepted
from shared.project_config import load_project_config
from shared.registry import Registry
from shared.settings import Settings, ensure_home
from shared.subjects import ACTIVITY_ADD, ACTIVITY_UPDATE, INDEXER, TOUCHED, RequestRoute
from tests.support.configs import make_root, make_settings

R = TypeVar("R", bound=Message)


class Clock:
    """A clock that a test sets; each look at it is a second later."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 30, 10, 0, 0)  # noqa: DTZ001 - the local time of nobody

    def __call__(self) -> datetime:
        """Look at it."""
        self.time += timedelta(seconds=1)
        return self.time


class Bench:
    """One project with a vault, and who keeps it."""

    def __init__(self, home: Path, config: object = None) -> None:
        self.settings: Settings = make_settings(home)
        ensure_home(self.settings)
        self.root = make_root(home, "proj", {"project": "proj", "squads": ["PDV Core"]} if config is None else config)
        self.clock = Clock()
        self.touched: list[PathsTouched] = []
        self.instance = self._enrolled()

    @property
    def vault(self) -> Path:
        """Its vault."""
        return self.root / ".vault"

    def note(self, slug: str) -> Path:
        """The note of an activity."""
        return self.vault / "megabrain" / f"{slug}.md"

    @asynccontextmanager
    async def serving(self, *, has_indexer: bool = True) -> AsyncIterator[Asker]:
        """Run it on a bus of its own."""
        async with MemoryBus() as bus, service(bus, self.settings, now=self.clock):
            if not has_indexer:
                yield Asker(bus, self.instance)
                return
            async with bus.serve(self._indexer()):
                yield Asker(bus, self.instance)

    def _indexer(self) -> ServiceContract:
        async def accept(message: PathsTouched) -> TouchAccepted:
            self.touched.append(message)
            return TouchAccepted(queued=len(message.paths))

        return ServiceContract(name=INDEXER, description="hears", endpoints=(Endpoint(route=TOUCHED, handle=accept),))

    def _enrolled(self) -> InstanceId:
        return Registry(self.settings).enrol(self.root, load_project_config(self.root, self.settings)).instance


class Asker:
    """Asks about one instance."""

    def __init__(self, bus: Bus, instance: InstanceId) -> None:
        self.bus = bus
        self.instance = instance

    async def add(self, title: str, **fields: object) -> ActivityRow:
        """Begin an activity."""
        message = AddActivity(instance=self.instance, title=title, **fields)  # type: ignore[arg-type]
        return (await self.bus.request(ACTIVITY_ADD, message)).activity

    async def update(self, ref: str, text: str, kind: UpdateKind = "progress", session: str = "") -> ActivityRow:
        """Record something."""
        message = UpdateActivity(instance=self.instance, ref=ref, kind=kind, text=text, session=session)
        return (await self.bus.request(ACTIVITY_UPDATE, message)).activity

    async def ask(self, route: RequestRoute[Message, R], kind: type[Message], **fields: object) -> R:
        """Ask anything else."""
        return await self.bus.request(route, kind(instance=self.instance, **fields))
