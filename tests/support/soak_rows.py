"""`just soak`: the tests that carry rows of figures, each row's lines as they come, and all of them at the end.

A pytest plugin. A test carries the rows that its docstring names ("Row F5: ...", "Rows A2 to A4 and case 40"), or else
its own name (`test_f2_...`), or else its module's docstring. A row that was asked for by name and printed no line has
failed: a figure that nobody saw is no figure.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable

import pytest

from tests.support.rows import LINES

_NAMED = re.compile(r"\b[Rr]ows? ((?:[LFBA]\d+\b(?: \([^)]*\))?(?:, | and | to |-)?)+)")
_ROW = re.compile(r"([LFBA])(\d+)")
_PROPERTY = "row line"


def rows_named(text: str) -> list[str]:
    """Give the rows that a text names.

    >>> rows_named("Rows F2, F3 and F15, case 35: each process"), rows_named("Rows A2 to A4 and case 40")
    (['F2', 'F3', 'F15'], ['A2', 'A3', 'A4'])
    """
    found: list[str] = []
    for match in _NAMED.finditer(text):
        for part in re.split(r", | and ", match[1]):
            ends = _ROW.findall(part)
            numbers = [int(number) for _, number in ends]
            found += [f"{ends[0][0]}{number}" for number in range(numbers[0], numbers[-1] + 1)] if ends else []
    return found


def rows_of(item: pytest.Item) -> list[str]:
    """Give the rows that a test carries."""
    function: object = getattr(item, "function", None)
    in_name = re.match(r"test_([lfba]\d+)_", item.name)
    module = getattr(item, "module", None)
    texts = [function.__doc__ or "", f"row {in_name[1].upper()}" if in_name else ""] if function else []
    if not any(map(rows_named, texts)) and "report" in getattr(item, "fixturenames", ()):
        texts = [getattr(module, "__doc__", None) or ""]
    return list(dict.fromkeys(row for text in texts for row in rows_named(text)))


class SoakRows:
    """Chooses the tests, gathers the lines, sums up."""

    def __init__(self, asked: Iterable[str]) -> None:
        self._asked = [row.upper() for row in asked]
        self._lines: list[str] = []
        self._failed: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out what carries none of the rows."""
        carried = {item: rows_of(item) for item in items}
        unknown = set(self._asked).difference(*carried.values())
        if unknown:
            raise pytest.UsageError(f"no test carries {', '.join(sorted(unknown))}")
        wanted = [item for item in items if (set(carried[item]) & set(self._asked) if self._asked else carried[item])]
        config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
        items[:] = wanted

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Give the lines the way that reports have."""
        report = yield
        report.user_properties.extend((_PROPERTY, line) for line in LINES)
        LINES.clear()
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gather."""
        self._lines += [str(value) for name, value in report.user_properties if name == _PROPERTY]
        if report.failed:
            self._failed.append(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail for a row without a line."""
        if self._silent() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print every line once more, in the order of the rows."""
        terminalreporter.section("rows")
        for line in sorted(self._lines, key=_place):
            terminalreporter.write_line(line)
        for row in self._silent():
            terminalreporter.write_line(f"{row} no line fail")
        for test in self._failed:
            terminalreporter.write_line(f"failed: {test}")
        passed = sum(line.endswith(" pass") for line in self._lines)
        terminalreporter.write_line(f"{passed} lines pass, {len(self._lines) - passed + len(self._silent())} fail")

    def _silent(self) -> list[str]:
        told = {line.split()[0] for line in self._lines}
        return [row for row in self._asked if row not in told]


def _place(line: str) -> tuple[str, int]:
    found = _ROW.match(line)
    return (found[1], int(found[2])) if found else ("", 0)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the rows."""
    parser.addoption("--row", action="append", default=[], help="a row to run; all without")


def pytest_configure(config: pytest.Config) -> None:
    """Begin."""
    config.pluginmanager.register(SoakRows(config.getoption("--row")))
