"""A folder that attacks whoever runs Python in it: modules named like ours, each leaving a mark when executed."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

NAMES = (
    "kx/__init__", "kx/__main__", "kx/isolation", "services/__init__", "services/query/__init__", "shared/__init__",
    "shared/errors", "sitecustomize", "usercustomize", "click", "msgspec", "json", "typing",
)  # fmt: skip


class HostileFolder(Struct, frozen=True):
    """The folder and the file its modules write to."""

    path: Path
    mark: Path

    def executed(self) -> list[str]:
        """Give the names of the modules that ran."""
        return self.mark.read_text().split() if self.mark.exists() else []

    def environment(self) -> dict[str, str]:
        """Give an environment that leads Python here in every way it knows."""
        inherited = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {
            **inherited,
            "HOME": str(self.path),
            "KX_HOME": str(self.path / "home"),
            "PYTHONPATH": f"{os.pathsep}{self.path}",  # the empty entry is the working directory
            "PYTHONUSERBASE": str(self.path / "base"),
            "PYTHONSTARTUP": str(self.path / "sitecustomize.py"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }


def make_hostile_folder(path: Path, names: tuple[str, ...] = NAMES) -> HostileFolder:
    """Fill `path` with the attacking modules `names`."""
    mark = path.parent / "executed"
    for name in names:
        module = path / f"{name}.py"
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(f"with open({str(mark)!r}, 'a') as mark:\n    mark.write({name!r} + '\\n')\n")
    return HostileFolder(path=path, mark=mark)
