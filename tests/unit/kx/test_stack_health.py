"""A stack that was started on the side ends when nobody uses it, and not before."""

from __future__ import annotations

import anyio
import pytest

from kx import stack_health
from kx.stack_health import end_when_idle
from shared.messages import ServiceStatus
from shared.settings import load_settings
from shared.subjects import GATEWAY

pytestmark = pytest.mark.anyio

LINGER_S = 0.1
USED = 8  # answers with a client, over several times as long as the stack lingers


def gateway(detail: str) -> ServiceStatus:
    return ServiceStatus(service=GATEWAY, state="ready", pid=1, rss_bytes=1, detail=detail)


async def asked_until_the_end(monkeypatch: pytest.MonkeyPatch, answers: list[ServiceStatus | None]) -> int:
    """Say how often the gateway was asked before the end was called; the last answer goes on for ever."""
    asked = 0

    async def answer(_: object) -> dict[str, ServiceStatus | None]:
        nonlocal asked
        asked += 1
        return {GATEWAY: answers[min(asked, len(answers)) - 1]}

    ended = anyio.Event()
    monkeypatch.setattr(stack_health, "_asked", answer)
    monkeypatch.setattr(stack_health, "LINGER_S", 3 * LINGER_S)
    with anyio.fail_after(10):
        await end_when_idle(load_settings({"home": "/nowhere"}, {"HOME": "/nowhere"}), LINGER_S, ended.set)
    assert ended.is_set()
    return asked


async def test_stack_stays_while_a_client_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """DESIGN 4: the time counts from the last client's leaving."""
    answers = [gateway("clients=2")] * USED + [gateway("clients=0")]
    assert await asked_until_the_end(monkeypatch, answers) > USED


async def test_gateway_that_dies_for_a_moment_is_no_reason_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row F2: one unanswered question between two clients."""
    answers = [gateway("clients=1"), None] * (USED // 2) + [gateway("clients=0")]
    assert await asked_until_the_end(monkeypatch, answers) > USED


async def test_stack_whose_gateway_never_comes_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets the longer time of a cold start, not for ever."""
    assert await asked_until_the_end(monkeypatch, [None]) > 2
