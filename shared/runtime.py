"""The life of a service process: signals, readiness, the stop in two steps, the exit code.

A service is an async context manager: entered, it is ready; left, it has stopped taking in and finished what was in
hand. Its resources nest inside it, so that leaving them is the order of the shutdown.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import anyio
import structlog
from anyio.abc import TaskStatus
from structlog.typing import FilteringBoundLogger

from shared import logs
from shared.bus import GRACE_S, Bus, Endpoint
from shared.bus_address import load_bus_address
from shared.errors import KxError, fill
from shared.messages import ServiceStatus, ServiceStatusRequest
from shared.subjects import service_status

EXIT_STOPPED = 0  # a signal asked for it
EXIT_REFUSED = 1  # a KxError: the log says what to do
EXIT_CRASHED = 2
STOP_S = GRACE_S + 1.0  # from the signal to the end, with what closes after the work in hand; supervisors wait 5 s

_log: FilteringBoundLogger = structlog.get_logger()


class ProcessSettings(Protocol):
    """What this module needs of the settings."""

    @property
    def run_dir(self) -> Path:
        """Where the bus left its address."""
        ...

    @property
    def log_level(self) -> logs.Level:
        """From which level log lines are written."""
        ...


S = TypeVar("S", bound=ProcessSettings)
Service = Callable[[Bus, S], AbstractAsyncContextManager[None]]


def serve_main(name: str, service: Service[S], settings: S, *, beside: Mapping[str, Service[S]] | None = None) -> int:
    """Run `service` on the bus of this home until a signal ends it; the exit code.

    The bus may come up within ten seconds of this. The services `beside` it, by name, answer from the same process
    and are ready before it; each has a connection of its own, because rights on the bus are those of one service.
    """
    logs.configure(settings.log_level)
    services = {**(beside or {}), name: service}
    return anyio.run(partial(run_service, partial(_on_bus, services, settings), name=name))


async def run_service(
    start: Callable[[], AbstractAsyncContextManager[None]], *, name: str, on_ready: Callable[[], None] = lambda: None
) -> int:
    """Enter what `start` makes, keep it until SIGTERM or SIGINT, leave it; the exit code.

    The first signal leaves it in order, within `STOP_S`; a signal before it is ready, or a second one, cancels.
    """
    life = _Life()
    try:
        with life.scope:
            async with anyio.create_task_group() as tasks:
                await tasks.start(_watch_signals, life)
                async with start():
                    life.is_ready = True
                    _log.info("service.ready", service=name, pid=os.getpid())
                    on_ready()
                    await life.stopping.wait()
                tasks.cancel_scope.cancel()
    except Exception as error:  # noqa: BLE001 - the process's own door: why it ended is logged, the code says it
        return _exit_code(name, error)
    _log.info("service.stopped", service=name, in_order=not life.scope.cancelled_caught)
    return EXIT_STOPPED


def process_status() -> tuple[int, int]:
    """Tell this process's id and its resident memory in bytes (where there is no /proc: the highest it had)."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
    except (OSError, ValueError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return os.getpid(), peak if sys.platform == "darwin" else peak * 1024
    return os.getpid(), pages * resource.getpagesize()


def health_endpoint(name: str, trouble: Callable[[], str] = lambda: "") -> Endpoint:
    """Make the endpoint every service has: how it is; `trouble` says why it is degraded, or nothing."""

    async def handle(_: ServiceStatusRequest) -> ServiceStatus:
        pid, rss_bytes = process_status()
        detail = trouble()
        return ServiceStatus(
            service=name, state="degraded" if detail else "ready", pid=pid, rss_bytes=rss_bytes, detail=detail
        )

    return Endpoint(route=service_status(name), handle=handle)


class _Life:
    """Where one run of a service stands."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.stopping = anyio.Event()
        self.is_ready = False

    def stop(self) -> None:
        """Take one signal."""
        if not self.is_ready or self.stopping.is_set():
            self.scope.cancel()
        self.stopping.set()
        self.scope.deadline = anyio.current_time() + STOP_S


async def _watch_signals(life: _Life, *, task_status: TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            life.stop()


@asynccontextmanager
async def _on_bus(services: Mapping[str, Service[S]], settings: S) -> AsyncIterator[None]:
    from shared.bus_nats import NatsBus  # the embedded mode uses this module and has no NATS

    async with AsyncExitStack() as entered:
        for name, service in services.items():
            find = partial(load_bus_address, settings.run_dir, name)
            bus = await entered.enter_async_context(NatsBus.connect(find, name=name))
            await entered.enter_async_context(service(bus, settings))
        yield


def _exit_code(name: str, error: Exception) -> int:
    """Log why a service ended by itself."""
    code = EXIT_REFUSED
    for cause in _causes(error):
        if isinstance(cause, KxError):
            hint = fill(cause.hint, cause.params)
            _log.error("service.refused", service=name, error_code=cause.code.value, reason=str(cause), hint=hint)
        else:
            code = EXIT_CRASHED
            _log.error("service.crashed", service=name, **logs.error_fields(cause))
    return code


def _causes(error: Exception) -> list[Exception]:
    if isinstance(error, ExceptionGroup):
        return [cause for inner in error.exceptions for cause in _causes(inner)]
    return [error]
