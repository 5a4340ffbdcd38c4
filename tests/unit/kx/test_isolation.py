"""The launcher and the guards of kx/isolation.py, each in an interpreter of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kx.isolation import EXIT_SHADOWED, service_command, strangers
from tests.support.hostile import make_hostile_folder
from tests.support.repository import ROOT


def run(*command: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], **variables}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def make_scripts(folder: Path) -> Path:
    """A folder like the one an installer fills: the launcher, and an interpreter that shows how it was started."""
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "kx" / "launcher.sh", folder / "kx")
    (folder / "python3").write_text('#!/bin/sh\nfor word in "$0" "$@"; do echo "$word"; done\n')
    (folder / "python3").chmod(0o755)
    return folder


def test_service_is_started_isolated():
    """Every child process of ours ignores working directory and environment."""
    assert service_command("query") == (sys.executable, "-I", "-m", "kx", "serve", "query")


def test_our_packages_lie_side_by_side():
    """In a sound environment nothing is shadowed."""
    assert strangers() == {}


def test_another_services_package_is_refused_unseen(tmp_path: Path):
    """KX_ENVIRONMENT_SHADOWED, without running a line of the other distribution."""
    hostile = make_hostile_folder(tmp_path / "other", ("services/__init__",))
    for package in ("kx", "shared"):
        shutil.copytree(ROOT / package, tmp_path / "ours" / package, ignore=shutil.ignore_patterns("data"))
    paths = [str(hostile.path), str(tmp_path / "ours")]
    script = f"import sys; sys.path[:0] = {paths}; import kx.isolation as i; i.ensure_unshadowed(); print('went on')"
    result = run(sys.executable, "-I", "-c", script, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (EXIT_SHADOWED, "")
    assert "KX_ENVIRONMENT_SHADOWED" in result.stderr
    assert hostile.executed() == []


def test_process_that_is_not_isolated_starts_again(tmp_path: Path):
    """`python -m kx` hands its arguments to an isolated interpreter; an isolated one goes on."""
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import kx.isolation as i; i.ensure_isolated(['--help'])"
    fresh = run(sys.executable, "-c", f"import os; os.execv = print; {script}", cwd=tmp_path)
    assert fresh.stdout.split(maxsplit=1)[1].strip() == str([sys.executable, "-I", "-m", "kx", "--help"])
    isolated = run(sys.executable, "-I", "-c", f"import os; os.execv = print; {script}", cwd=tmp_path)
    assert isolated.stdout == ""


@pytest.mark.parametrize("linked", [False, True], ids=["called", "linked"])
def test_launcher_takes_the_interpreter_beside_it(linked: bool, tmp_path: Path):
    """Also through a link, as pipx and uv make one; arguments arrive unchanged."""
    scripts = make_scripts(tmp_path / "a b" / "bin")
    command = scripts / "kx"
    if linked:
        command = tmp_path / "kx"
        command.symlink_to(scripts / "kx")
    result = run(command, "search", "two words", "", cwd=tmp_path)
    assert result.stdout.split("\n") == [str(scripts / "python3"), "-I", "-m", "kx", "search", "two words", "", ""]


def test_launcher_without_an_interpreter_says_how_to_install(tmp_path: Path):
    """An install without an environment of its own cannot be isolated."""
    scripts = make_scripts(tmp_path / "bin")
    (scripts / "python3").unlink()
    result = run(scripts / "kx", cwd=tmp_path)
    assert result.returncode == EXIT_SHADOWED
    assert "environment of its own" in result.stderr
