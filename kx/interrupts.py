"""Ctrl+C as an orderly end of long work."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable

import anyio

from kx.exits import Exit


async def until_interrupted(work: Callable[[], Awaitable[object]]) -> bool:
    """Run `work` to its end or to the first SIGINT or SIGTERM, which cancels it; True when it ended by itself.

    A second signal ends the process at once: what is committed is on disk either way.
    """
    is_done = False

    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                watching.set()
                async for _ in signals:
                    if tasks.cancel_scope.cancel_called:
                        os._exit(Exit.INTERRUPTED)
                    tasks.cancel_scope.cancel()

        watching = anyio.Event()
        tasks.start_soon(watch)
        await watching.wait()
        await work()
        is_done = True
        tasks.cancel_scope.cancel()
    return is_done
