"""Run the real command as a user would: a process of its own, an empty home, output read back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

RUN_S = 100.0


class Ran(Struct, frozen=True):
    """What one run of the command gave."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Parse stdout."""
        return json.loads(self.out)


class Kx:
    """The command with one home."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def __call__(self, *arguments: str | Path, cwd: Path | None = None, lang: str = "en") -> Ran:
        """Run to the end."""
        ran = subprocess.run(
            self._line(arguments), cwd=cwd, env=self._environ(lang), capture_output=True, timeout=RUN_S, check=False
        )
        return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())

    def by_shell(self, script: str, *arguments: str | Path) -> Ran:
        """Run to the end what a shell makes of `script`, in which `"$@"` is the command."""
        ran = subprocess.run(
            ["sh", "-c", script, "sh", *self._line(arguments)],
            env=self._environ("en"),
            capture_output=True,
            timeout=RUN_S,
            check=False,
        )
        return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())

    @contextmanager
    def running(self, *arguments: str | Path, log: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
        """Start, and be sure that it ends with the context; with `log`, its output goes there."""
        with ExitStack() as files:
            out = files.enter_context(log.open("ab")) if log is not None else subprocess.PIPE
            process = subprocess.Popen(
                self._line(arguments), env=self._environ("en"), stdout=out, stderr=out, start_new_session=True
            )
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGKILL)
                process.communicate()

    def _line(self, arguments: tuple[str | Path, ...]) -> list[str]:
        return [sys.executable, "-I", "-m", "kx", *map(str, arguments)]

    def _environ(self, lang: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("KX_")}
        return kept | {"KX_HOME": str(self.home), "KX_LANG": lang, "HOME": str(self.home.parent)}
