"""Keep the project's memory of its work: Markdown notes in its vault (owns the vault; the index is told what changed).

ACTIVITY_ADD     AddActivity        → a new note, the map           → ActivityWritten
ACTIVITY_UPDATE  UpdateActivity     → the note, the map             → ActivityWritten
ACTIVITIES       ActivitiesRequest  → every note, read              → Activities
ACTIVITY         ActivityRequest    → a part of a note              → ActivityText
ARTIFACT_ADD     AddArtifact        → the store, its page, the note → ArtifactWritten
ARTIFACT_LINK    LinkArtifact       → the store, its page, the note → ArtifactWritten
ARTIFACTS        ArtifactsRequest   → the store, read               → Artifacts
health           ServiceStatusRequest                               → ServiceStatus
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, TypeVar

import structlog
from anyio import CapacityLimiter, to_thread
from structlog.typing import FilteringBoundLogger

from services.megabrain import activities, artifacts
from services.megabrain.adapters.projects import Projects, VaultProject
from services.megabrain.shelf import Notes
from shared.bus import Bus, Endpoint, ServiceContract
from shared.errors import KxError
from shared.identity import InstanceId
from shared.messages import InstanceMessage, Message, PathsTouched
from shared.runtime import health_endpoint
from shared.settings import Settings
from shared.subjects import (
    ACTIVITIES,
    ACTIVITY,
    ACTIVITY_ADD,
    ACTIVITY_UPDATE,
    ARTIFACT_ADD,
    ARTIFACT_LINK,
    ARTIFACTS,
    MEGABRAIN,
    TOUCHED,
)

THREADS = 4  # each does small reads and writes; writers of one vault wait for each other
TOUCHED_S = 2.0  # the watcher sees the same files a moment later

M = TypeVar("M", bound=InstanceMessage)
Write = Callable[[Notes, VaultProject, M, datetime], activities.Written | artifacts.Written]
Read = Callable[[Notes, VaultProject, M], Message]

_log: FilteringBoundLogger = structlog.get_logger()


@asynccontextmanager
async def service(bus: Bus, settings: Settings, *, now: Callable[[], datetime] = datetime.now) -> AsyncIterator[None]:
    """Answer while the context is entered; ready when entered. `now` is the local clock."""
    megabrain = Megabrain(bus, settings, now)
    contract = ServiceContract(
        name=MEGABRAIN,
        description="activities and artifacts of a project, as notes in its vault",
        endpoints=(
            Endpoint(route=ACTIVITY_ADD, handle=megabrain.writing(activities.add)),
            Endpoint(route=ACTIVITY_UPDATE, handle=megabrain.writing(activities.update)),
            Endpoint(route=ACTIVITIES, handle=megabrain.reading(activities.status)),
            Endpoint(route=ACTIVITY, handle=megabrain.reading(activities.get)),
            Endpoint(route=ARTIFACT_ADD, handle=megabrain.writing(artifacts.add)),
            Endpoint(route=ARTIFACT_LINK, handle=megabrain.writing(artifacts.link)),
            Endpoint(route=ARTIFACTS, handle=megabrain.reading(artifacts.listed)),
            health_endpoint(MEGABRAIN),
        ),
    )
    async with bus.serve(contract):
        yield


class Megabrain:
    """Carries the operations to threads, and tells the indexer what they wrote."""

    def __init__(self, bus: Bus, settings: Settings, now: Callable[[], datetime]) -> None:
        self._bus = bus
        self._projects = Projects(settings)
        self._notes = Notes()
        self._now = now
        self._threads = CapacityLimiter(THREADS)

    def writing(self, operation: Write[Any]) -> Callable[[InstanceMessage], Any]:
        """Make the handler of an operation that writes; the reply comes when it is on disk."""

        async def handle(message: InstanceMessage) -> Message:
            def run() -> activities.Written | artifacts.Written:
                return operation(self._notes, self._projects.for_writing(message.instance), message, self._now())

            written = await to_thread.run_sync(run, limiter=self._threads)
            await self._tell(message.instance, written.paths)
            return written.reply

        return handle

    def reading(self, operation: Read[Any]) -> Callable[[InstanceMessage], Any]:
        """Make the handler of an operation that reads."""

        async def handle(message: InstanceMessage) -> Message:
            def run() -> Message:
                return operation(self._notes, self._projects.get(message.instance), message)

            return await to_thread.run_sync(run, limiter=self._threads)

        return handle

    async def _tell(self, instance: InstanceId, paths: tuple[str, ...]) -> None:
        """Have what was written searchable at once; without an indexer the watcher or the next walk finds it."""
        if not paths:
            return
        touched = PathsTouched(instance=instance, paths=paths, urgency="live", reason="megabrain")
        try:
            await self._bus.request(TOUCHED, touched, timeout_s=TOUCHED_S)
        except KxError as error:
            _log.debug("indexer.untold", instance=instance, error_code=error.code.value)
