"""The import contracts hold, and each of them would notice."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repository import ROOT, contracts, modules, syntax_of

CORE = "core does no input or output"
PURE = "the pure modules of shared do no input or output"
LINT_IMPORTS = Path(sys.executable).parent / "lint-imports"

BREACHES = {
    "everything stands on shared, nothing on its neighbour": ("shared/errors.py", "import services.query"),
    "services never import one another": ("services/watcher/adapters/__init__.py", "import services.query.core"),
    "inside a service: entrance > wiring > input and output > core": (
        "services/watcher/core/__init__.py",
        "import services.watcher.adapters",
    ),
    CORE: ("services/query/core/__init__.py", "import sqlite3"),
    PURE: ("shared/relpath.py", "import subprocess"),
    "inside shared: the bus": ("shared/codec.py", "import shared.bus"),
    "inside shared: settings, the tree and the index": ("shared/index_format.py", "import shared.index_open"),
}


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([LINT_IMPORTS, "--no-cache"], cwd=root, capture_output=True, text=True, check=False)


def names_of(key: str, contract: str) -> set[str]:
    found = next(one for one in contracts() if one["name"] == contract)
    return {name.removeprefix("shared.") for name in found[key] if name.startswith("shared.")}


def test_imports_keep_every_contract():
    """Nothing in the tree imports what it must not."""
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout


def test_every_contract_has_a_breach_to_prove_it():
    """A contract that nobody saw broken proves nothing."""
    assert [one["name"] for one in contracts()] == list(BREACHES)


@pytest.mark.parametrize("contract", BREACHES)
def test_breach_is_caught(contract: str, tmp_path: Path):
    """One forbidden import, put into a copy of the tree, breaks the contract that forbids it."""
    for path in (*modules(), Path("pyproject.toml")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, tmp_path / path)
    module, breach = BREACHES[contract]
    with (tmp_path / module).open("a", encoding="utf-8") as file:
        file.write(f"\n{breach}\n")
    result = lint(tmp_path)
    assert result.returncode == 1
    assert f"{contract} BROKEN" in " ".join(result.stdout.split())


@pytest.mark.parametrize("contract", [CORE, PURE])
def test_every_module_of_shared_is_pure_or_kept_from_the_pure(contract: str):
    """A module whose docstring says (pure) is held to it; whatever is not held to it is forbidden to pure code.

    A package of shared is one of them, by its name.
    """
    opening = {
        Path(path.parts[1]).stem: (ast.get_docstring(syntax_of(path)) or "").split("\n\n")[0]
        for path in modules()
        if path.parts[0] == "shared" and (len(path.parts) == 2) != (path.stem == "__init__")
    }
    pure = names_of("source_modules", PURE)
    assert {name for name, words in opening.items() if "(pure" in words} <= pure
    assert names_of("forbidden_modules", contract) == set(opening) - pure
