"""Fixtures and options of the whole suite."""

from __future__ import annotations

from collections.abc import Iterator

import hypothesis
import pytest
from blockbuster import BlockBuster, blockbuster_ctx

from shared import logs


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the golden files under tests/ from what the code says now"
    )


def pytest_configure() -> None:
    # No test asserts a time: a busy machine makes any example slow.
    hypothesis.settings.register_profile("kx", deadline=None)
    hypothesis.settings.load_profile("kx")
    logs.configure("warning")  # structlog's own default is stdout


@pytest.fixture
def anyio_backend() -> str:
    """nats-py is plain asyncio, so that is the one backend kx runs on."""
    return "asyncio"


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def blocking_is_an_error() -> Iterator[BlockBuster]:
    """Fail a test in which code of kx blocks the event loop (STYLE 30)."""
    with blockbuster_ctx(["kx", "services", "shared"]) as guard:
        # The kernel answers from memory; a thread would cost more than it.
        guard.functions["io.BufferedReader.read"].can_block_in("shared/runtime.py", "process_status")
        yield guard
