"""Laws of the source that no linter rule covers."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pip._internal.configuration import Configuration
from pip._internal.models.index import PyPI

from tests.support.repository import ROOT, files, modules, pyproject, syntax_of, text_of

MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 40
PINS = ["requirements.txt", "requirements-dev.txt"]


def index_hosts() -> set[str]:
    """The hosts this machine's pip may ask, whatever they are."""
    configuration = Configuration(isolated=False)
    configuration.load()
    words = " ".join(str(value) for _, value in configuration.items()).split()
    hosts = {urlsplit(word).hostname for word in words if "://" in word}
    return {host for host in (*hosts, PyPI.netloc, PyPI.file_storage_domain) if host and host != "localhost"}


def pinned(name: str) -> set[str]:
    return normal(re.findall(r"^([a-z0-9-]+==\S+)", text_of(Path(name)), re.MULTILINE))


def normal(requirements: Iterable[str]) -> set[str]:
    """Requirements with their names in the one spelling an index knows them by."""
    parts = (one.partition("==") for one in requirements)
    return {f"{re.sub(r'[-_.]+', '-', name).lower()}=={version}" for name, _, version in parts}


@pytest.mark.parametrize("path", modules(), ids=str)
def test_module_can_be_read_in_one_sitting(path: Path):
    """A docstring says what a module is responsible for; 400 lines and 40 lines a function are the ceilings."""
    tree = syntax_of(path)
    assert ast.get_docstring(tree)
    assert len(text_of(path).splitlines()) <= MAX_MODULE_LINES
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert [node.name for node in functions if body_lines(node) > MAX_FUNCTION_LINES] == []


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from the signature to the end, without the docstring."""
    first = function.body[0]
    documented = ast.get_docstring(function) is not None
    doc = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return (function.end_lineno or 0) - function.lineno + 1 - doc


def test_environment_is_read_in_one_module():
    """Settings are loaded once and passed as a value."""
    reading = re.compile(r"os\.(environ|getenv)(?!\[\"\w+\"\] = )")  # telling a library is no reading
    readers = [str(path) for path in modules() if reading.search(text_of(path))]
    assert readers == [
        "shared/ignorelists.py",
        "shared/settings.py",
    ]  # the first: a variable of git, whose verdicts we give


def test_no_committed_file_names_a_machine_or_an_index():
    """A clone works anywhere: no home folder, no path of the machine it was written on, no package index."""
    places = {str(ROOT), str(Path.home()) + "/", sys.base_prefix}
    pattern = re.compile(
        "|".join([re.escape(word) for word in sorted(places | index_hosts()) if len(word) > 1])
        + r"|(?<![\w./~-])/(?:work|root)/"
    )
    named = [f"{path}: {found[0]}" for path in files() if (found := pattern.search(text_of(path)))]
    assert named == []


@pytest.mark.parametrize("name", PINS)
def test_pins_carry_versions_and_hashes_and_no_address(name: str):
    """What is installed is exactly what was tested, from whichever index the machine uses."""
    text = text_of(Path(name))
    assert "://" not in text
    entries = re.split(r"\n(?=\S)", text.strip())
    assert all("==" in entry and "--hash=sha256:" in entry for entry in entries)


@pytest.mark.parametrize("name", PINS)
def test_pins_agree_with_the_project_table(name: str):
    """`just lock` was run after the last change of a requirement."""
    table = pyproject()
    wanted = [*table["project"]["dependencies"], *table["build-system"]["requires"]]
    if name == "requirements-dev.txt":
        wanted += table["dependency-groups"]["dev"]
    assert normal(wanted) <= pinned(name)
