"""The line a test prints for a row of figures: what was done, how often, and that it held."""

from __future__ import annotations

import sys

LINES: list[str] = []  # told since `tests.support.soak_rows` took them


def line_of(row: str, figures: dict[str, object], *, has_passed: bool = True) -> str:
    """Give a row's line, and keep it for the summary of `just soak`."""
    told = " ".join(f"{name}={value}" for name, value in figures.items())
    line = f"{row} {told} {'pass' if has_passed else 'fail'}"
    LINES.append(line)
    return line


def passed(row: str, **figures: object) -> None:
    """Print one line, seen with `pytest -s` or in a report; called last, when everything held."""
    sys.stdout.write(f"\n{line_of(row, figures)}\n")
