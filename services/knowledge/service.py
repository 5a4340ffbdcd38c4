"""Keep spaces, bases, items and their immutable revisions, and tell who may see which (owns `knowledge.sqlite`).

LIMITS           LimitsRequest      → how large what may be         → KnowledgeLimits
health           ServiceStatusRequest                               → ServiceStatus
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from services.knowledge.core.limits import limits
from shared.bus import Bus, Endpoint, ServiceContract
from shared.knowledge_messages import KnowledgeLimits, LimitsRequest
from shared.runtime import health_endpoint
from shared.settings import Settings
from shared.subjects import KNOWLEDGE, LIMITS


def _utc_now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def service(bus: Bus, settings: Settings, *, now: Callable[[], datetime] = _utc_now) -> AsyncIterator[None]:
    """Answer while the context is entered; ready when entered. `now` is the clock, in UTC."""
    contract = ServiceContract(
        name=KNOWLEDGE,
        description="knowledge bases: spaces, items, immutable revisions",
        endpoints=(Endpoint(route=LIMITS, handle=_limits), health_endpoint(KNOWLEDGE)),
    )
    async with bus.serve(contract):
        yield


async def _limits(_: LimitsRequest) -> KnowledgeLimits:
    return limits(documents_available=False)
