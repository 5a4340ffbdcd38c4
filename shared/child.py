"""A process that does not outlive its parent, however that one ends.

Called by the child itself, because the kernel's promise is about the caller and must be checked after it was given.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_POLL_S = 0.5
EXIT_ORPHANED = 1


def end_with_parent(parent: int) -> None:
    """End this process at once when `parent` ends; also when it has ended already.

    Killed, not asked: a crash of its supervisor is met as any other crash, and whoever starts next finds every lock
    free. On Linux the kernel does it, and the promise outlives `exec`; elsewhere someone watches from outside.
    """
    if sys.platform == "linux":
        _ask_kernel()
    else:
        _watch_from_outside(parent)
    if os.getppid() != parent:
        os._exit(EXIT_ORPHANED)


def _ask_kernel() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")


def _watch_from_outside(parent: int) -> None:
    """Poll in a forked process, because a thread would not live through the `exec` of the bus."""
    child = os.getpid()
    if os.fork() == 0:
        os.setsid()
        while os.getppid() == child and _is_there(parent):
            time.sleep(_POLL_S)
        if os.getppid() == child:
            os.kill(child, signal.SIGKILL)
        os._exit(0)


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
