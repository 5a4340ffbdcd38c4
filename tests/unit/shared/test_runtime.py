"""The life of a service process."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
import pytest

from shared import logs
from shared.errors import ErrorCode, KxError
from shared.messages import ServiceStatusRequest
from shared.runtime import (
    EXIT_CRASHED,
    EXIT_REFUSED,
    EXIT_STOPPED,
    health_endpoint,
    process_status,
    run_service,
)

pytestmark = pytest.mark.anyio

Start = Callable[[], AbstractAsyncContextManager[None]]


def send_signal(number: int = signal.SIGTERM) -> None:
    os.kill(os.getpid(), number)


def service_of(*, enter: Callable[[], object] = lambda: None, log: list[str]) -> Start:
    @asynccontextmanager
    async def start() -> AsyncIterator[None]:
        async with resource("store", log), resource("intake", log):
            enter()
            yield

    return start


@asynccontextmanager
async def resource(name: str, log: list[str]) -> AsyncIterator[None]:
    log.append(f"open {name}")
    yield
    log.append(f"close {name}")


def fail(error: Exception) -> None:
    raise error


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_signal_leaves_the_service_in_order(number: int) -> None:
    """Row F15: intake closes before the store; the exit code says that it was asked for."""
    log: list[str] = []
    with anyio.fail_after(5):
        code = await run_service(service_of(log=log), name="x", on_ready=lambda: send_signal(number))
    assert code == EXIT_STOPPED
    assert log == ["open store", "open intake", "close intake", "close store"]


async def test_signal_while_starting_ends_at_once() -> None:
    """Row F15: a service that waits for something at its start can be stopped."""

    @asynccontextmanager
    async def start() -> AsyncIterator[None]:
        send_signal()
        await anyio.sleep_forever()
        yield

    with anyio.fail_after(5):
        assert await run_service(start, name="x") == EXIT_STOPPED


async def test_second_signal_cancels_what_does_not_end() -> None:
    """Row F15: whoever asks twice does not want to wait."""

    @asynccontextmanager
    async def start() -> AsyncIterator[None]:
        yield
        send_signal()
        await anyio.sleep_forever()

    with anyio.fail_after(2):
        assert await run_service(start, name="x", on_ready=send_signal) == EXIT_STOPPED


async def test_stop_that_takes_too_long_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row F15: the end comes, whatever hangs."""
    monkeypatch.setattr("shared.runtime.STOP_S", 0.05)

    @asynccontextmanager
    async def start() -> AsyncIterator[None]:
        yield
        await anyio.sleep_forever()

    with anyio.fail_after(5):
        assert await run_service(start, name="x", on_ready=send_signal) == EXIT_STOPPED


async def test_refusal_is_logged_with_code_and_hint(capsys: pytest.CaptureFixture[str]) -> None:
    """STYLE 18: whoever reads the log learns what to type."""
    logs.configure("warning")
    refusal = KxError(ErrorCode.MODEL_MISSING, "no model in {where}", hint="look in {where}", where="/m")
    assert await run_service(service_of(enter=lambda: fail(refusal), log=[]), name="x") == EXIT_REFUSED
    line = json.loads(capsys.readouterr().err)
    assert (line["error_code"], line["reason"], line["hint"]) == ("KX_MODEL_MISSING", "no model in /m", "look in /m")


async def test_crash_is_logged_without_its_message(capsys: pytest.CaptureFixture[str]) -> None:
    """Row A17: an exception's message may hold text of a document."""
    logs.configure("warning")
    assert await run_service(service_of(enter=lambda: fail(ValueError("secret")), log=[]), name="x") == EXIT_CRASHED
    written = capsys.readouterr().err
    assert "ValueError" in written
    assert "secret" not in written


async def test_crash_of_a_task_of_the_service_ends_it() -> None:
    """STYLE 24: every task is a child; none dies unseen."""

    @asynccontextmanager
    async def start() -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(crash)
            yield

    async def crash() -> None:
        raise ValueError

    with anyio.fail_after(5):
        assert await run_service(start, name="x") == EXIT_CRASHED


async def test_ready_is_told_once_everything_is_open() -> None:
    """Readiness is what a supervisor waits for."""
    log: list[str] = []

    def ready() -> None:
        log.append("ready")
        send_signal()

    await run_service(service_of(log=log), name="x", on_ready=ready)
    assert log.index("ready") == 2


def test_process_status_is_this_process() -> None:
    """Status tells memory in bytes, not in pages."""
    pid, rss_bytes = process_status()
    assert pid == os.getpid()
    assert 10 * 1024 * 1024 < rss_bytes < 8 * 1024 * 1024 * 1024


@pytest.mark.parametrize(("trouble", "state"), [("", "ready"), ("no model", "degraded")])
async def test_health_says_what_is_wrong(trouble: str, state: str) -> None:
    """Issue 3: status tells the truth about services."""
    status = await health_endpoint("query", lambda: trouble).handle(ServiceStatusRequest())
    assert (status.service, status.state, status.detail, status.pid) == ("query", state, trouble, os.getpid())
