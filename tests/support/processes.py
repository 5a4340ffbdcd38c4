"""The processes of one home, found by their environment: whoever was started by whom."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def processes_of(home: Path) -> dict[int, str]:
    """Give every running process whose `KX_HOME` is this one, with its command line."""
    mark = f"KX_HOME={home}".encode()
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):  # it ended meanwhile; a process that only waits to be collected has no environment
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    return found


def eventually(look: Callable[[], T], *, within_s: float) -> T:
    """Return what `look` gives as soon as it is true; whatever it gives after `within_s`."""
    give_up = time.monotonic() + within_s
    while True:
        found = look()
        if found or time.monotonic() > give_up:
            return found
        time.sleep(0.05)
