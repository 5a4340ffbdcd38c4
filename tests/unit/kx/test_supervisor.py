"""Processes are started in order, started again when they die, and none is left."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from kx.processes import Process
from kx.supervisor import Supervisor, delay_after
from shared.child import EXIT_ORPHANED

pytestmark = pytest.mark.anyio

STEP_S = 20
TABLE = (Process(name="bus", hosts=(), needs_bus=False), Process(name="one", hosts=()), Process(name="two", hosts=()))
QUIET = "trap 'echo {name} >> {ends}; exit 0' TERM; echo; while :; do sleep 0.02; done"
DEAF = "trap '' TERM; echo; while :; do sleep 0.02; done"


class Starts:
    """Starts shell scripts instead of services, and remembers them."""

    def __init__(self, ends: Path, scripts: dict[str, str] | None = None) -> None:
        self.ends = ends
        self.scripts = scripts or {}
        self.started: list[tuple[str, int]] = []
        self.changed = anyio.Event()
        self.fails_once: set[str] = set()

    async def __call__(self, process: Process) -> anyio.abc.Process:
        """Start one."""
        if process.name in self.fails_once:
            self.fails_once.remove(process.name)
            raise BlockingIOError(11, "no process to be had")
        script = self.scripts.get(process.name, QUIET).format(name=process.name, ends=self.ends)
        ready, told = os.pipe()
        try:
            child = await anyio.open_process(
                ["/bin/sh", "-c", script], stdin=subprocess.DEVNULL, stdout=told, stderr=None
            )
            await anyio.wait_readable(ready)  # its trap is set
        finally:
            os.close(told)
            os.close(ready)
        self.started.append((process.name, child.pid))
        self.changed.set()
        self.changed = anyio.Event()
        return child

    async def until(self, count: int) -> None:
        """Return once so many processes were started."""
        with anyio.fail_after(STEP_S):
            while len(self.started) < count:
                await self.changed.wait()

    def names(self) -> list[str]:
        """Say what was started, in order."""
        return [name for name, _ in self.started]

    def alive(self) -> list[int]:
        """Say which of the processes still run."""
        return [pid for _, pid in self.started if Path(f"/proc/{pid}").exists()]


async def run(starts: Starts, steps: Callable[[Supervisor], Awaitable[None]]) -> None:
    supervisor = Supervisor(starts, TABLE)

    async def beside() -> None:
        await steps(supervisor)
        supervisor.stop()

    with anyio.fail_after(STEP_S):
        await supervisor.run(beside)


async def test_what_dies_is_started_again_and_nothing_is_left(tmp_path: Path) -> None:
    """Row F2: a killed process comes back, the others stay; stopping asks each, the bus last."""
    starts = Starts(tmp_path / "ends")

    async def kill_one(_: Supervisor) -> None:
        os.kill(dict(starts.started)["one"], signal.SIGKILL)
        await starts.until(4)

    await run(starts, kill_one)
    assert starts.names() == ["bus", "one", "two", "one"]
    assert starts.alive() == []
    *first, last = starts.ends.read_text().split()
    assert sorted(first) == ["one", "two"]
    assert last == "bus"


async def test_process_that_cannot_be_started_is_tried_again(tmp_path: Path) -> None:
    """A machine without a free process for a moment costs a moment."""
    starts = Starts(tmp_path / "ends")
    starts.fails_once = {"two"}

    async def wait(_: Supervisor) -> None:
        await starts.until(3)

    await run(starts, wait)
    assert starts.names() == ["bus", "one", "two"]


async def test_deaf_process_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row F15: who does not end by itself is ended."""
    monkeypatch.setattr("kx.supervisor.STOP_S", 0.2)
    starts = Starts(tmp_path / "ends", {"two": DEAF})

    async def wait(_: Supervisor) -> None:
        await starts.until(3)

    await run(starts, wait)
    assert starts.alive() == []


async def test_asked_twice_it_waits_for_nobody(tmp_path: Path) -> None:
    """Ctrl+C twice ends also those who do not listen."""
    starts = Starts(tmp_path / "ends", {"two": DEAF})

    async def hurry(supervisor: Supervisor) -> None:
        await starts.until(3)
        supervisor.stop()  # `run` says it again

    with anyio.fail_after(3):  # asked once it takes the whole grace of five seconds
        await run(starts, hurry)
    assert starts.alive() == []


@pytest.mark.parametrize(
    ("alive_s", "delay_s", "expected"),
    [(1, 0.2, 0.2), (1, 3.2, 3.2), (29, 12.8, 10.0), (30, 10.0, 0.2)],
    ids=["first", "doubled", "at most", "healthy"],
)
def test_back_off_grows_until_a_process_stayed(alive_s: float, delay_s: float, expected: float) -> None:
    """A process that crashes at once does not use up the machine."""
    assert delay_after(alive_s, delay_s) == expected


GRANDCHILD = "from shared.child import end_with_parent; import os, time; end_with_parent(os.getppid()); print(os.getpid(), flush=True); time.sleep(60)"
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {GRANDCHILD!r}])"


def test_child_ends_with_its_killed_parent() -> None:
    """Row F15: a supervisor that is killed leaves nobody."""
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline().strip().isdigit()
        parent.kill()
        ended, _, _ = select.select([parent.stdout], [], [], STEP_S)
        assert ended, "the child still holds the other end of the pipe"
        assert parent.stdout.read() == b""


def test_child_of_a_parent_that_is_gone_already_ends() -> None:
    """Between the start and the promise of the kernel the parent may die."""
    code = "from shared.child import end_with_parent; end_with_parent(1 << 22)"
    ran = subprocess.run([sys.executable, "-c", code], check=False)
    assert ran.returncode == EXIT_ORPHANED
