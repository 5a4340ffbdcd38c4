"""Which process a number means: a pid is used again, pid and start time of one boot are not.

Whoever leaves a pid in a file writes the identity beside it; whoever reads the file asks here before trusting it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from msgspec import Struct

_ASK_S = 5  # of `ps` and `sysctl`, where there is no /proc


class ProcessIdentity(Struct, frozen=True, kw_only=True):
    """One process of one boot."""

    pid: int
    boot_id: str
    start_ticks: int  # when it started, in a unit of the system's own; only compared


def own_identity() -> ProcessIdentity:
    """Give the identity of this process."""
    pid = os.getpid()
    return ProcessIdentity(pid=pid, boot_id=_boot_id(), start_ticks=_start_ticks(pid) or 0)


def identity_of(pid: int) -> ProcessIdentity | None:
    """Give the identity of a process; None when there is none, or it only waits to be collected by its parent."""
    ticks = _start_ticks(pid)
    return None if ticks is None else ProcessIdentity(pid=pid, boot_id=_boot_id(), start_ticks=ticks)


def is_running(identity: ProcessIdentity) -> bool:
    """Tell whether exactly that process still runs."""
    return identity_of(identity.pid) == identity


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return _asked("/usr/sbin/sysctl", "-n", "kern.bootsessionuuid") if sys.platform == "darwin" else ""


def _start_ticks(pid: int) -> int | None:
    if sys.platform == "darwin":
        started = _asked("/bin/ps", "-o", "lstart=", "-p", str(pid))
        return int(time.mktime(time.strptime(started))) if started else None
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (OSError, ValueError):
        return None
    state, *fields = stat.rpartition(b") ")[2].split()  # the name before it may hold anything
    return None if state in {b"Z", b"X"} else int(fields[18])


def _asked(*command: str) -> str:
    ran = subprocess.run(command, capture_output=True, timeout=_ASK_S, check=False, env={"LC_ALL": "C"})  # noqa: S603
    return ran.stdout.decode("utf-8", "replace").strip()
