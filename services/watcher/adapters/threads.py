"""Blocking work that can be told to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import checkpoint_if_cancelled

from shared.tasks import task_group

T = TypeVar("T")


class StopFlag:
    """Asked by blocking work; `on_first_ask` is called, in the worker's thread, when it is asked for the first time."""

    def __init__(self, on_first_ask: Callable[[], None] = lambda: None) -> None:
        self._on_first_ask = on_first_ask
        self._was_asked = False
        self._stop = threading.Event()

    def is_set(self) -> bool:
        """Tell whether to stop."""
        if not self._was_asked:
            self._was_asked = True
            self._on_first_ask()
        return self._stop.is_set()

    def set(self) -> None:
        """Ask to stop."""
        self._stop.set()


async def run_stoppable(work: Callable[[], T], stop: StopFlag, *, limiter: CapacityLimiter) -> T:
    """Run `work` in a thread; cancelling sets `stop`, and returns once the work has ended."""

    async def stop_when_cancelled() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            stop.set()

    async with task_group() as tasks:
        # anyio shields the wait for a thread, so another task has to notice the cancellation.
        tasks.start_soon(stop_when_cancelled)
        result = await to_thread.run_sync(work, limiter=limiter)
        tasks.cancel_scope.cancel()
    await checkpoint_if_cancelled()  # then the result is of work that was cut short
    return result
