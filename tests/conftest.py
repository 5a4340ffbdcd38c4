"""Fixtures and options of the whole suite."""

from __future__ import annotations

import pytest

from shared import logs


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the golden files under tests/ from what the code says now"
    )


def pytest_configure() -> None:
    logs.configure("warning")  # structlog's own default is stdout


@pytest.fixture
def anyio_backend() -> str:
    """nats-py is plain asyncio, so that is the one backend kx runs on."""
    return "asyncio"


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))
