"""Fixtures of the gateway's tests."""

from pathlib import Path

import pytest

from shared.settings import Settings
from tests.support.gateway_bench import make_project, make_settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return make_settings(tmp_path)


@pytest.fixture
def gated(tmp_path: Path) -> Path:
    """A project that wants to be named."""
    return make_project(tmp_path / "shop")


@pytest.fixture
def open_project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "open", project_id=None)
