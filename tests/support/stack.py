"""The services as separate processes on a real bus, as `Procfile` starts them."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from kx.processes import PROCESSES
from tests.support.command import Kx

READY_S = 60.0


@contextmanager
def running_stack(kx: Kx) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Start every process of the table; ready when each service answers; all end with the context."""
    log = kx.home.parent / "stack.log"  # shown when a test fails: pytest keeps the folder
    log.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as started:
        processes = {
            process.name: started.enter_context(kx.running("serve", process.name, log=log)) for process in PROCESSES
        }
        yield processes


def wait_until_ready(kx: Kx, project: object) -> None:
    """Return once every service answers over the bus."""
    deadline = time.monotonic() + READY_S
    while True:
        ran = kx("status", "--in", str(project), "--json", "--stack")
        if ran.code == 0 and all(found["state"] == "ready" for found in ran.json()["services"].values()):
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"the stack did not come up: {ran.out}{ran.err}")
