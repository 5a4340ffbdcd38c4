"""Ctrl+C as an orderly end of long work."""

from __future__ import annotations

import os
import signal

import anyio
import pytest

from kx.interrupts import until_interrupted

pytestmark = pytest.mark.anyio


async def test_work_that_ends_by_itself_is_done():
    """No signal: the work ran to its end."""
    ended = []

    async def work() -> None:
        ended.append("work")

    with anyio.fail_after(5):
        assert await until_interrupted(work) is True
    assert ended == ["work"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl+C", "terminate"])
async def test_signal_cancels_the_work_and_lets_it_clean_up(number: signal.Signals):
    """What the work has to close is closed, and the caller learns that it was interrupted."""
    closed = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), number)
            await anyio.sleep_forever()
        finally:
            closed.append("work")

    with anyio.fail_after(5):
        assert await until_interrupted(work) is False
    assert closed == ["work"]


async def test_failure_of_the_work_reaches_the_caller():
    """An error is neither an end nor an interruption."""

    async def work() -> None:
        raise ValueError

    with anyio.fail_after(5), pytest.raises(BaseExceptionGroup) as failed:
        await until_interrupted(work)
    assert failed.group_contains(ValueError)
