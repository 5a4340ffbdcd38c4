"""The three streams every process is expected to have, also where whoever started kx closed one (`kx search … >&-`).

A descriptor that is free would be given to the next file opened, and what is printed would be written into it.
"""

from __future__ import annotations

import os
import sys


def ensure_streams() -> None:
    """Put the null device in the place of each standard stream that is closed."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:  # the lowest that is free
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    sys.stdin = sys.stdin or os.fdopen(0, "r", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def abandon_stdout() -> None:
    """Write no more to stdout: what is left in its buffer cannot be written either, and Python would complain at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
