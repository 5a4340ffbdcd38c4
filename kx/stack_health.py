"""Whether the services of a stack answer, and whether anybody uses it."""

from __future__ import annotations

import re
from collections.abc import Callable

import anyio

from kx.client import health, services
from kx.stack_lock import holder
from kx.stack_start import LINGER_S, unreachable
from shared.errors import KxError
from shared.messages import ServiceStatus
from shared.settings import Settings
from shared.subjects import GATEWAY, SERVICES

READY_S = 60.0  # for every service to answer; an idle machine needs three
POLL_S = 0.2
IDLE_POLL_S = 5.0


async def wait_until_ready(settings: Settings, *, limit_s: float | None = READY_S) -> None:
    """Return once every service answers; None waits for as long as it takes.

    Raises:
        KxError: `KX_STACK_UNREACHABLE` when the supervisor ended, or some do not answer in time (they are named).
    """
    silent: tuple[str, ...] = SERVICES
    with anyio.move_on_after(limit_s):
        while True:
            silent = tuple(name for name, found in (await _asked(settings)).items() if found is None)
            if not silent:
                return
            if holder(settings.run_dir) is None:
                raise unreachable(settings, "it ended")
            await anyio.sleep(POLL_S)
    raise unreachable(settings, f"no answer within {limit_s} s from {', '.join(silent)}")


async def end_when_idle(settings: Settings, linger_s: float, end: Callable[[], None]) -> None:
    """Call `end` once the gateway has had no client for `linger_s`; a gateway that does not answer has none.

    Until it answered for the first time it has `LINGER_S` at least: a cold start takes its time.
    """
    patience_s = max(linger_s, LINGER_S)
    used = anyio.current_time()
    while anyio.current_time() - used < patience_s:
        await anyio.sleep(min(IDLE_POLL_S, linger_s / 2))
        status = (await _asked(settings)).get(GATEWAY)
        if status is not None:
            patience_s = linger_s
            if clients_of(status):
                used = anyio.current_time()
    end()


def clients_of(status: ServiceStatus) -> int:
    """Read how many clients a gateway has from what it says about itself.

    >>> clients_of(ServiceStatus(service="mcp_gateway", state="ready", pid=1, rss_bytes=1, detail="clients=3"))
    3
    """
    found = re.search(r"\bclients=(\d+)", status.detail)
    return int(found[1]) if found else 0


async def _asked(settings: Settings) -> dict[str, ServiceStatus | None]:
    try:
        async with services(settings, writes=False, mode="kx up", stack=True) as reach:
            return await health(reach.bus)
    except KxError:
        return dict.fromkeys(SERVICES)
