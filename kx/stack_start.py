"""Start a stack in the background, or find out that one runs. Blocking, and light: `kx mcp` waits for it.

Any number of processes may try at once: the lock is taken before anything is started, and goes to the supervisor with
its open file.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from kx.bus_server import bus_is_running, find_nats_server
from kx.stack_lock import already_running, holder, try_hold
from shared.errors import ErrorCode, KxError
from shared.settings import Settings, child_environ, ensure_home
from shared.stack_file import ANSWER_S, running_stack

LINGER_S = 60.0  # how long a stack that was started on the side outlives its last client
ANSWERS_WITHIN_S = 30.0  # a cold start on a busy machine; an idle one needs two
LOG_BYTES = 5 * 1024 * 1024  # of one log file when a process starts; what is older moves to `.1`
POLL_S = 0.05
DYING_S = 1.0  # the bus of a supervisor that was killed a moment ago
STARTS = 2  # the second, because the stack that was there may have been about to end


def ensure_stack(settings: Settings, linger_s: float = LINGER_S) -> None:
    """Return once the gateway of a stack takes connections; one is started when none runs.

    Raises:
        KxError: `KX_STACK_UNREACHABLE` when a stack does not come up; it names the log.
    """
    ensure_home(settings)
    give_up = time.monotonic() + ANSWERS_WITHIN_S
    starts = 0
    while not _gateway_answers(settings):
        held = try_hold(settings.run_dir)
        if held is not None and bus_is_running(settings.run_dir):
            os.close(held)  # started one by one, by honcho perhaps: their gateway is on its way
        elif held is not None:
            if starts == STARTS:
                os.close(held)
                raise unreachable(settings, "it ended at once")
            _start(settings, held, linger_s)
            starts += 1
        if time.monotonic() > give_up:
            raise unreachable(settings, f"it did not answer within {ANSWERS_WITHIN_S:.0f} s")
        time.sleep(POLL_S)


def start_detached(settings: Settings) -> None:
    """Start a supervisor in the background; it may not have started anything yet.

    Raises:
        KxError: `KX_ALREADY_RUNNING`.
    """
    ensure_home(settings)
    held = try_hold(settings.run_dir)
    if held is None:
        raise already_running(settings.run_dir)
    try:
        refuse_second_bus(settings)
    except KxError:
        os.close(held)
        raise
    _start(settings, held)
    if holder(settings.run_dir) is None:
        raise unreachable(settings, "it ended at once")


def refuse_second_bus(settings: Settings) -> None:
    """Refuse to start a stack beside processes that somebody started one by one.

    Raises:
        KxError: `KX_ALREADY_RUNNING`.
    """
    give_up = time.monotonic() + DYING_S
    while bus_is_running(settings.run_dir):
        if time.monotonic() > give_up:
            raise KxError(
                ErrorCode.ALREADY_RUNNING,
                "processes of a stack of {home} run already, started one by one",
                hint="end them where they were started (honcho, systemd, compose), then try again",
                home=settings.home,
            )
        time.sleep(POLL_S)


def open_log(run_dir: Path, name: str) -> int:
    """Open the log of one process for appending; the caller closes it. A long one begins anew."""
    folder = run_dir / "logs"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{name}.log"
    with suppress(FileNotFoundError):
        if path.stat().st_size > LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)


def unreachable(settings: Settings, problem: str) -> KxError:
    """Make the error for a stack that was started and cannot be used."""
    return KxError(
        ErrorCode.STACK_UNREACHABLE,
        "the stack of {home} cannot be used: {problem}",
        hint="its logs are in {logs}; end it with: kx down",
        retryable=True,
        home=settings.home,
        logs=settings.run_dir / "logs",
        problem=problem,
    )


def _start(settings: Settings, held: int, linger_s: float | None = None) -> None:
    """Run `kx up`, which forks away from the terminal and from us; closes `held`."""
    try:
        find_nats_server()  # said here, where somebody reads it
        log = open_log(settings.run_dir, "up")
    except BaseException:
        os.close(held)
        raise
    lingering = () if linger_s is None else ("--linger", str(linger_s))
    try:
        subprocess.run(  # noqa: S603 - our own interpreter
            (sys.executable, "-I", "-m", "kx", "up", "--held", str(held), *lingering),
            pass_fds=(held,),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=settings.home,  # the folder of the caller may be unmounted or removed one day
            env=child_environ(settings),
            check=False,
        )
    finally:
        os.close(log)
        os.close(held)


def _gateway_answers(settings: Settings) -> bool:
    stack = running_stack(settings.run_dir)
    if stack is None:
        return False
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(ANSWER_S)
        try:
            probe.connect(stack.socket)
        except OSError:
            return False
    return True
