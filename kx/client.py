"""Reach the services: those of a running stack, or an embedded one made for this command."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
from msgspec import Struct

from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.messages import ServiceStatus, ServiceStatusRequest
from shared.settings import Settings
from shared.stack_file import running_stack
from shared.subjects import SERVICES, service_status

HEALTH_S = 1.0


class Reach(Struct, frozen=True):
    """A bus, and where its services run."""

    bus: Bus
    is_stack: bool


@asynccontextmanager
async def services(  # each is a choice of the command
    settings: Settings,
    *,
    writes: bool,
    mode: str,
    stack: bool | None = None,
    notes: bool = False,
    knowledge: bool = False,
) -> AsyncIterator[Reach]:
    """Enter a running stack, else embed the services; `stack` False never looks for one, True demands it.

    `writes`, `notes` and `knowledge` say which services are embedded: those that change an index; the one that keeps
    activities, in the place of those that search; the one that keeps knowledge bases and memory, beside them.

    Raises:
        KxError: BUS_UNAVAILABLE when a stack was demanded and none runs; STACK_UNREACHABLE or STACK_OUTDATED when one
            lives that cannot be used: embedding a second writer beside it would be worse.
    """
    async with AsyncExitStack() as entered:
        bus = None if stack is False else await _stack_bus(entered, settings, demanded=bool(stack))
        if bus is not None:
            yield Reach(bus, is_stack=True)
            return
        from kx.embedded import embedded_bus

        embedded = await entered.enter_async_context(
            embedded_bus(settings, writes=writes, mode=mode, notes=notes, knowledge=knowledge)
        )
        yield Reach(embedded, is_stack=False)


async def _stack_bus(entered: AsyncExitStack, settings: Settings, *, demanded: bool) -> Bus | None:
    found = running_stack(settings.run_dir)
    if found is not None:
        from kx.socket_bus import SocketBus

        bus: Bus = await entered.enter_async_context(SocketBus.connect(found))
        return bus
    if demanded:
        raise KxError(
            ErrorCode.BUS_UNAVAILABLE,
            "no stack of {home} is running",
            hint="start one with: kx up -d",
            home=settings.home,
        )
    return None


async def health(bus: Bus) -> dict[str, ServiceStatus | None]:
    """Ask every service how it is, all at once; None for one that does not answer."""
    found: dict[str, ServiceStatus | None] = dict.fromkeys(SERVICES)

    async def ask(name: str) -> None:
        try:
            found[name] = await bus.request(service_status(name), ServiceStatusRequest(), timeout_s=HEALTH_S)
        except KxError:
            found[name] = None

    async with anyio.create_task_group() as tasks:
        for name in SERVICES:
            tasks.start_soon(ask, name)
    return found
