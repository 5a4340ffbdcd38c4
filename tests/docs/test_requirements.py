"""docs/requirements.md and the tests hold each other to their word."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.support.repository import files, syntax_of, text_of

ROW = re.compile(r"^\| (R-[A-Z]+-\d+) \| (.+) \| (`.+`) \|$", re.MULTILINE)


def docstrings_by_test() -> dict[str, str]:
    """The docstring of every test function of the repository, by its name."""
    modules = [path for path in files() if path.parts[0] == "tests" and path.name.startswith("test_")]
    functions = [
        node
        for path in modules
        for node in ast.walk(syntax_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    ]
    return {node.name: ast.get_docstring(node) or "" for node in functions}


def promises() -> dict[str, list[str]]:
    """The tests named by each promise."""
    rows = ROW.findall(text_of(Path("docs/requirements.md")))
    assert len({row[0] for row in rows}) == len(rows), "an id is used twice"
    return {row[0]: re.findall(r"`(\w+)`", row[2]) for row in rows}


def test_every_row_is_a_promise_with_a_test():
    """A row of another form would be skipped by the tests below."""
    rows = [line for line in text_of(Path("docs/requirements.md")).splitlines() if line.startswith("| R-")]
    assert len(rows) == len(promises()) > 0
    assert all(promises().values())


def test_every_promise_is_proved_by_tests_that_exist():
    """A renamed or deleted test takes its promise with it."""
    tests = docstrings_by_test()
    missing = [f"{promise}: {name}" for promise, names in promises().items() for name in names if name not in tests]
    assert missing == []


def test_test_that_names_a_promise_is_named_by_it():
    """The id in a docstring and the row of that id point at each other."""
    named = {
        (promise, name)
        for name, doc in docstrings_by_test().items()
        for promise in re.findall(r"\bR-[A-Z]+-\d+\b", doc)
    }
    listed = {(promise, name) for promise, names in promises().items() for name in names}
    assert named <= listed
