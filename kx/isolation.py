"""Keep the code of a strange repository out of the interpreter that runs kx.

kx works inside other people's trees, which may hold their own `kx/`, `services/` or `shared/`. Every interpreter of
ours is therefore isolated (`python -I`: no working directory, PYTHONPATH, user site or PYTHON* variable), and the
imported packages must lie side by side. Uses the standard library only, because it judges whether `shared` is ours.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

OTHER_PACKAGES = ("services", "shared")  # what lies beside `kx` in a wheel and in the source tree alike
EXIT_SHADOWED = 78  # EX_CONFIG of sysexits.h: the installation is wrong, not the request


def service_command(name: str) -> tuple[str, ...]:
    """Give the command line of one process of a stack; safe in any working directory and environment."""
    return (sys.executable, "-I", "-m", "kx", "serve", name)


def ensure_isolated(arguments: Sequence[str]) -> None:
    """Replace this process by an isolated one that gets the same `arguments`; return if it is isolated already.

    The installed `kx` is isolated from its first instruction; this is for `python -m kx`, and costs one start of the
    interpreter. What a hostile `sitecustomize` did before this line it cannot undo.
    """
    if not sys.flags.isolated:
        os.execv(sys.executable, [sys.executable, "-I", "-m", "kx", *arguments])  # noqa: S606 - no shell is wanted


def strangers() -> dict[str, str]:
    """Name the packages that would be imported from elsewhere than `kx` itself, each with the place it lies in.

    Nothing is imported to find out, so that a stranger's code does not run.
    """
    ours = Path(__file__).resolve().parent.parent
    found = {name: _home_of(name) for name in OTHER_PACKAGES}
    return {name: str(home or "nowhere") for name, home in found.items() if home != ours}


def ensure_unshadowed() -> None:
    """End the process with KX_ENVIRONMENT_SHADOWED if a package of ours is hidden by another distribution's.

    Must be called before anything of `shared` or `services` is imported. That is also why it is no KxError: `shared`
    may be the stranger.
    """
    hidden = strangers()
    if not hidden:
        return
    places = "; ".join(f"{name} lies in {home}" for name, home in hidden.items())
    sys.stderr.write(
        f"KX_ENVIRONMENT_SHADOWED: another distribution hides packages of kx: {places}\n"
        "Install kx in an environment of its own, for example with pipx or uv tool.\n"
    )
    raise SystemExit(EXIT_SHADOWED)


def _home_of(package: str) -> Path | None:
    spec = find_spec(package)
    if spec is None or not spec.origin:
        return None
    return Path(spec.origin).resolve().parent.parent
