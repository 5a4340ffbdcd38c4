"""What this machine has: the launcher of kx, agents, and who starts things at login."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from kx.setup.agents import AGENTS, Agent
from shared.settings import Settings

System = Literal["linux", "macos", "other"]
Run = Callable[[Sequence[str]], "Ended"]
RUN_S = 60.0  # `systemctl enable --now` waits until a service is started
_MANAGED = {"running", "degraded", "starting", "initializing", "maintenance"}
_KERNEL = Path("/proc/sys/kernel/osrelease")


class Ended(Struct, frozen=True, kw_only=True):
    """How a command ended; a program that is not there ends with 127."""

    code: int
    out: str = ""


class Machine(Struct, frozen=True, kw_only=True):
    """The facts that decide what is written."""

    system: System
    is_root: bool
    is_wsl: bool
    uid: int
    launcher: tuple[str, ...]  # absolute
    agent_command: tuple[str, ...]  # `kx` where that is the launcher


def this_machine() -> Machine:
    """Look at this machine."""
    launcher = installed_launcher()
    on_path = shutil.which("kx")
    is_on_path = on_path is not None and os.path.realpath(on_path) == os.path.realpath(launcher[0])
    if is_on_path and on_path is not None and Path(on_path).is_absolute():
        launcher = (on_path,)  # the link of pipx or uv outlives a new version of kx
    return Machine(
        system="linux" if sys.platform == "linux" else "macos" if sys.platform == "darwin" else "other",
        is_root=os.geteuid() == 0,
        is_wsl=_is_wsl(),
        uid=os.geteuid(),
        launcher=launcher,
        agent_command=("kx",) if is_on_path else launcher,
    )


def installed_launcher() -> tuple[str, ...]:
    """Give the command line of the installed kx; of the interpreter where there is no launcher."""
    script = Path(sysconfig.get_path("scripts")) / "kx"
    return (str(script),) if script.is_file() else (sys.executable, "-I", "-m", "kx")


def present_agents(settings: Settings, root: Path) -> tuple[Agent, ...]:
    """Give the agents that are used here: their folder or file exists, or their program is on the PATH."""
    home = settings.user_home
    signs = {
        "claude": (home / ".claude", home / ".claude.json", root / ".claude", root / ".mcp.json"),
        "codex": (codex_home(settings),),
        "cursor": (home / ".cursor", root / ".cursor"),
    }
    return tuple(one for one in AGENTS if any(path.exists() for path in signs[one]) or shutil.which(one) is not None)


def codex_home(settings: Settings) -> Path:
    """Give the folder of Codex."""
    return settings.codex_home or settings.user_home / ".codex"


def environment_for(settings: Settings) -> dict[str, str]:
    """Give the variables a kx that somebody else starts needs to find this home."""
    return {} if settings.home == settings.user_home / ".kx" else {"KX_HOME": os.fsdecode(settings.home)}


def run_program(command: Sequence[str]) -> Ended:
    """Run a program to its end."""
    program = shutil.which(command[0])
    if program is None:
        return Ended(code=127)
    try:
        ran = subprocess.run(  # noqa: S603 - a fixed program and our own words
            [program, *command[1:]], stdin=subprocess.DEVNULL, capture_output=True, timeout=RUN_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Ended(code=124)
    return Ended(code=ran.returncode, out=(ran.stdout + ran.stderr).decode(errors="replace").strip())


def has_user_manager(run: Run) -> bool:
    """Tell whether systemd serves this user."""
    words = run(("systemctl", "--user", "is-system-running")).out.split()
    return bool(words) and words[0] in _MANAGED


def _is_wsl() -> bool:
    try:
        return "microsoft" in _KERNEL.read_text().casefold()
    except OSError:
        return False
