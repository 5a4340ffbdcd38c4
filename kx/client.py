"""Reach the services: those of a running stack, or an embedded one made for this command."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec import Struct

from kx.embedded import embedded_bus
from shared.bus import Bus
from shared.bus_address import load_bus_address, read_bus_file
from shared.errors import ErrorCode, KxError
from shared.messages import ServiceStatus, ServiceStatusRequest
from shared.settings import Settings
from shared.subjects import COMMAND, SERVICES, service_status

STACK_ANSWERS_S = 0.5  # loopback answers in a millisecond; a bus that does not is gone or stuck
HEALTH_S = 1.0


class Reach(Struct, frozen=True):
    """A bus, and where its services run."""

    bus: Bus
    is_stack: bool


@asynccontextmanager
async def services(settings: Settings, *, writes: bool, mode: str, stack: bool | None = None) -> AsyncIterator[Reach]:
    """Enter a running stack, else embed the services; `stack` False never looks for one, True demands it.

    Raises:
        KxError: BUS_UNAVAILABLE when a stack was demanded and none answers.
    """
    async with AsyncExitStack() as entered:
        bus = None if stack is False else await _stack_bus(entered, settings, demanded=bool(stack))
        if bus is not None:
            yield Reach(bus, is_stack=True)
        else:
            yield Reach(
                await entered.enter_async_context(embedded_bus(settings, writes=writes, mode=mode)), is_stack=False
            )


async def _stack_bus(entered: AsyncExitStack, settings: Settings, *, demanded: bool) -> Bus | None:
    if read_bus_file(settings.run_dir) is None and not demanded:
        return None
    from shared.bus_nats import NatsBus

    try:
        return await entered.enter_async_context(
            NatsBus.connect(lambda: load_bus_address(settings.run_dir, COMMAND), name="kx", wait_s=STACK_ANSWERS_S)
        )
    except KxError as error:
        if error.code is ErrorCode.BUS_UNAVAILABLE and not demanded:
            return None
        raise


async def health(bus: Bus) -> dict[str, ServiceStatus | None]:
    """Ask every service how it is; None for one that does not answer."""
    found: dict[str, ServiceStatus | None] = {}
    for name in SERVICES:
        try:
            found[name] = await bus.request(service_status(name), ServiceStatusRequest(), timeout_s=HEALTH_S)
        except KxError:
            found[name] = None
    return found
