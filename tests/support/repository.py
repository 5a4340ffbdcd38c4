"""What tests about the repository itself look at: its files, its modules, its project table."""

from __future__ import annotations

import ast
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import cast

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("kx", "services", "shared")


@cache
def files() -> tuple[Path, ...]:
    """Every file that is or could be committed, relative to the root."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return tuple(Path(name) for name in sorted(set(names.split("\0"))) if name and (ROOT / name).is_file())


def modules() -> tuple[Path, ...]:
    """Every Python module that is shipped, relative to the root."""
    return tuple(path for path in files() if path.suffix == ".py" and path.parts[0] in PACKAGES)


@cache
def text_of(path: Path) -> str:
    """The text of a file of the repository; bytes that are no text are replaced."""
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


@cache
def syntax_of(path: Path) -> ast.Module:
    """The parsed module at `path`."""
    return ast.parse(text_of(path))


def names_in(folder: Path) -> frozenset[str]:
    """Every name and attribute used by the modules of a folder, at any depth; for one file, by that file."""
    inside = (path for path in modules() if path == folder or folder in path.parents)
    return frozenset(name for path in inside for name in _names(syntax_of(path)))


def pyproject() -> dict[str, dict[str, object]]:
    """The parsed pyproject.toml."""
    return tomllib.loads(text_of(Path("pyproject.toml")))


def contracts() -> list[dict[str, object]]:
    """The import contracts, as import-linter reads them."""
    linter = cast("dict[str, object]", pyproject()["tool"]["importlinter"])
    return cast("list[dict[str, object]]", linter["contracts"])


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
