"""How much of each row is run, and its result line (RELIABILITY.md)."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import pytest

from tests.support.rows import line_of

IS_SOAK = bool(os.environ.get("KX_SOAK"))

Report = Callable[..., None]


@pytest.fixture
def amount() -> Callable[[int], int]:
    """Give how many to run of a CI column's number: all with KX_SOAK=1, else a twentieth, at least 3."""
    return lambda column: column if IS_SOAK else max(3, column // 20)


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Report:
    """Print a row's line, then fail where it failed."""
    started = time.monotonic()

    def tell(row: str, problems: list[str], **figures: object) -> None:
        seconds = f"{time.monotonic() - started:.1f}"
        line = line_of(row, figures | {"seconds": seconds}, has_passed=not problems)
        with capsys.disabled():
            sys.stdout.write(f"\n{line}\n")
        assert problems == []

    return tell
