"""A query service whose answers take a moment, as a process: `python -m tests.support.slow_service RUN_DIR`."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import structlog
from msgspec import Struct
from structlog.typing import FilteringBoundLogger

from shared import logs
from shared.bus import Bus
from shared.messages import SearchReply, SearchRequest
from shared.runtime import serve_main
from tests.support.buses import make_reply, query_contract

ANSWER_TAKES_S = 0.3

log: FilteringBoundLogger = structlog.get_logger()


class ServiceSettings(Struct, frozen=True, kw_only=True):
    """The little that a service process needs."""

    run_dir: Path
    log_level: logs.Level = "info"


async def answer(request: SearchRequest) -> SearchReply:
    """Say that an answer is in hand, and give it later."""
    log.info("answer.begun")
    await anyio.sleep(ANSWER_TAKES_S)
    return make_reply(request.query)


@asynccontextmanager
async def service(bus: Bus, _: ServiceSettings) -> AsyncIterator[None]:
    """Serve while entered."""
    async with bus.serve(query_contract(answer)):
        yield


if __name__ == "__main__":
    sys.exit(serve_main("query", service, ServiceSettings(run_dir=Path(sys.argv[1]))))
