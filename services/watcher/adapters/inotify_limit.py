"""Whether Linux would watch one more folder; the library does not say when it may not."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache

_IN_DELETE_SELF = 0x400


def is_limit_reached() -> bool:
    """Tell whether the limit of watches of this user is used up; three system calls, False where there is no inotify."""
    library = _library()
    if library is None:
        return False
    descriptor = library.inotify_init1(os.O_CLOEXEC)
    if descriptor < 0:
        return False  # no instance left to ask with; those that exist can still watch
    try:
        watch = library.inotify_add_watch(descriptor, b"/", _IN_DELETE_SELF)
        return bool(watch < 0 and ctypes.get_errno() == errno.ENOSPC)
    finally:
        os.close(descriptor)


@cache
def _library() -> ctypes.CDLL | None:
    return ctypes.CDLL(None, use_errno=True) if sys.platform.startswith("linux") else None
