"""Keep the processes of a stack running: start in order, start again what dies, stop in reverse order.

Only processes are looked after here; what the services do they arrange themselves, in any order of starts. A child
ends with this process, however this one ends (`shared.child`).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from subprocess import DEVNULL

import anyio
import structlog
from anyio.abc import Process as Child
from structlog.typing import FilteringBoundLogger

from kx.isolation import service_command
from kx.processes import BUS, PROCESSES, Process
from kx.stack_start import open_log
from shared.bus import GRACE_S
from shared.settings import Settings, child_environ

FIRST_DELAY_S, MAX_DELAY_S = 0.2, 10.0  # before a process that ended is started again, doubling
HEALTHY_S = 30.0  # who ran as long starts again at once
STOP_S = GRACE_S + 2.0  # from the request to stop to SIGKILL; a service takes GRACE_S + 1 at most
BUS_STOP_S = 2.0  # it has nothing to finish

_log: FilteringBoundLogger = structlog.get_logger()

Start = Callable[[Process], Awaitable[Child]]


class Supervisor:
    """One run of a stack."""

    def __init__(self, start: Start, processes: Sequence[Process] = PROCESSES) -> None:
        self._start = start
        self._processes = tuple(processes)
        self._running: dict[str, Child] = {}
        self._stopping = anyio.Event()
        self._hurrying = anyio.Event()

    def stop(self) -> None:
        """End everything in order; said twice, at once."""
        if self._stopping.is_set():
            self._hurrying.set()
        self._stopping.set()

    async def run(self, *beside: Callable[[], Coroutine[object, object, None]]) -> None:
        """Keep every process running until `stop`; none of them runs when this returns. `beside` runs meanwhile."""
        try:
            async with anyio.create_task_group() as tasks:
                for process in self._processes:
                    if not process.starts_after_s:
                        await self._launch(process)
                    tasks.start_soon(self._keep, process)
                for task in beside:
                    tasks.start_soon(task)
                await self._stopping.wait()
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await self._stop_all()

    async def _launch(self, process: Process) -> None:
        with anyio.CancelScope(shield=True):  # a child that was started is one that will be stopped
            try:
                child = self._running[process.name] = await self._start(process)
            except OSError as error:  # no process to be had, or no file: the next try may find one
                self._running.pop(process.name, None)
                _log.warning("process.not_started", process=process.name, reason=error.strerror)
            else:
                _log.info("process.started", process=process.name, pid=child.pid)

    async def _keep(self, process: Process) -> None:
        delay_s = FIRST_DELAY_S
        if process.starts_after_s:
            await anyio.sleep(process.starts_after_s)
            await self._launch(process)
        while True:
            began = anyio.current_time()
            child = self._running.get(process.name)
            code = await child.wait() if child is not None else None
            alive_s = anyio.current_time() - began
            delay_s = delay_after(alive_s, delay_s)
            _log.warning(
                "process.ended", process=process.name, code=code, alive_s=round(alive_s, 1), again_in_s=delay_s
            )
            await anyio.sleep(delay_s)
            await self._launch(process)
            delay_s *= 2

    async def _stop_all(self) -> None:
        bus = [child for name, child in self._running.items() if name == BUS]
        # Last started, first asked; all at once, because each may take its whole grace.
        await self._end([child for name, child in reversed(self._running.items()) if name != BUS], STOP_S)
        await self._end(bus, BUS_STOP_S)

    async def _end(self, children: Sequence[Child], limit_s: float) -> None:
        _signal(children, signal.SIGTERM)
        with anyio.move_on_after(limit_s):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_cancel_after, self._hurrying, tasks.cancel_scope)
                for child in children:
                    await child.wait()
                tasks.cancel_scope.cancel()
        _signal(children, signal.SIGKILL)
        for child in children:
            await child.wait()


def delay_after(alive_s: float, delay_s: float) -> float:
    """Say how long to wait before a process that ended is started again.

    >>> [delay_after(1, 0.4), delay_after(1, 25.6), delay_after(45, 10)]
    [0.4, 10.0, 0.2]
    """
    return FIRST_DELAY_S if alive_s >= HEALTHY_S else min(delay_s, MAX_DELAY_S)


def starter(settings: Settings, *, logs_to_files: bool) -> Start:
    """Make what starts the processes of the table as children of this one."""
    environ = child_environ(settings)

    async def start(process: Process) -> Child:
        log = open_log(settings.run_dir, process.name) if logs_to_files else None
        try:
            return await anyio.open_process(
                (*service_command(process.name), "--parent", str(os.getpid())),
                stdin=DEVNULL,
                stdout=log,
                stderr=log,
                env=environ,
                cwd=settings.home,
                start_new_session=True,  # Ctrl+C is for the supervisor alone: it knows the order
            )
        finally:
            if log is not None:
                os.close(log)

    return start


async def supervise(supervisor: Supervisor, *beside: Callable[[], Coroutine[object, object, None]]) -> None:
    """Run until SIGTERM, SIGINT or SIGHUP asks for the end; a second one hurries."""

    async def watch_signals() -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            watching.set()
            async for _ in signals:
                supervisor.stop()

    watching = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch_signals)
        await watching.wait()
        await supervisor.run(*beside)
        tasks.cancel_scope.cancel()


def _signal(children: Sequence[Child], number: signal.Signals) -> None:
    for child in children:
        with suppress(ProcessLookupError):
            child.send_signal(number)


async def _cancel_after(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()
