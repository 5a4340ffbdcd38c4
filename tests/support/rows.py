"""The line a test prints for a row of figures: what was done, how often, and that it held."""

from __future__ import annotations

import sys


def passed(row: str, **figures: object) -> None:
    """Print one line, seen with `pytest -s` or in a report; called last, when everything held."""
    told = " ".join(f"{name}={value}" for name, value in figures.items())
    sys.stdout.write(f"\n{row} {told} pass\n")
