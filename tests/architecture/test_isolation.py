"""kx in a hostile folder runs nothing of that folder: from the wheel, from the source tree, through the launcher."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from kx.isolation import service_command
from tests.support.hostile import HostileFolder, make_hostile_folder
from tests.support.repository import ROOT, files

PROBE = "import kx.isolation as i; import services, shared; print(i.strangers(), services.__file__, shared.__file__)"


@pytest.fixture
def hostile(tmp_path: Path) -> HostileFolder:
    return make_hostile_folder(tmp_path / "hostile")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as a user gets it; built from a copy, because building leaves traces in the tree."""
    source = tmp_path_factory.mktemp("source")
    for path in files():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, source / path)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", source / "dist", source], check=True, cwd=source)
    return next((source / "dist").glob("*.whl"))


def make_environment(folder: Path, *paths: Path) -> Path:
    """A virtual environment that sees our requirements and `paths`; gives its folder of scripts."""
    venv.create(folder, with_pip=False, symlinks=True)
    purelib = sysconfig.get_path("purelib", "venv", {"base": str(folder)})
    requirements = sysconfig.get_path("purelib")
    (Path(purelib) / "paths.pth").write_text("".join(f"{path}\n" for path in (*paths, requirements)))
    return folder / "bin"


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel installed; its folder of scripts."""
    scripts = make_environment(tmp_path_factory.mktemp("installed"))
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        scripts / "python3",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
    ]
    subprocess.run([*pip, wheel], check=True)
    return scripts


@pytest.fixture(scope="module")
def editable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that sees the source tree as an editable install does; its folder of scripts."""
    return make_environment(tmp_path_factory.mktemp("editable"), ROOT)


def run(*command: str | Path, hostile: HostileFolder) -> subprocess.CompletedProcess[str]:
    environment = hostile.environment()
    return subprocess.run(command, cwd=hostile.path, env=environment, capture_output=True, text=True, check=False)


def test_hostile_folder_does_attack(hostile: HostileFolder):
    """The guard of the tests below: an ordinary interpreter runs what the folder holds."""
    run(sys.executable, "-c", "import services", hostile=hostile)
    assert {"sitecustomize", "services/__init__"} <= set(hostile.executed())


@pytest.mark.parametrize("install", ["installed", "editable"])
def test_isolated_interpreter_runs_nothing_of_a_hostile_folder(
    install: str, hostile: HostileFolder, request: pytest.FixtureRequest
):
    """What starts our processes finds our packages and no others (DESIGN 2), from wheel and source."""
    scripts = request.getfixturevalue(install)
    result = run(scripts / "python3", "-I", "-c", PROBE, hostile=hostile)
    assert result.stdout.startswith("{} "), result.stderr
    assert str(hostile.path) not in result.stdout
    assert hostile.executed() == []


@pytest.mark.parametrize("install", ["installed", "editable"])
def test_service_process_runs_nothing_of_a_hostile_folder(
    install: str, hostile: HostileFolder, request: pytest.FixtureRequest
):
    """The command line of a service, ended by its help before it needs a bus."""
    scripts = request.getfixturevalue(install)
    _, *arguments = service_command("query")
    result = run(scripts / "python3", *arguments, "--help", hostile=hostile)
    assert result.returncode == 0, result.stderr
    assert hostile.executed() == []


def test_installed_command_runs_nothing_of_a_hostile_folder(installed: Path, hostile: HostileFolder):
    """What a user types, with the folder also on PYTHONPATH."""
    result = run(installed / "kx", "--version", hostile=hostile)
    assert result.returncode == 0, result.stderr
    assert hostile.executed() == []


def test_wheel_holds_the_three_packages_and_their_data(wheel: Path):
    """kx, services and shared as they lie, with data and licence; no tests."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    shipped = {str(path) for path in files() if path.parts[0] in {"kx", "services", "shared"}}
    assert shipped <= names
    extra = {name for name in names - shipped if ".dist-info/" not in name and ".data/" not in name}
    assert extra == set()
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert any(name.endswith("licenses/shared/data/NOTICE") for name in names)
