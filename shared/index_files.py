"""The files around an index: its log, what is set aside, and the sign that somebody met damage.

A damaged index is renamed once, with its log, and never deleted or overwritten: it is derived, but whoever wants to know
what happened can look. A reader that meets damage cannot mend it and leaves a sign beside the file; the writer looks
for itself before it believes that.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

COMPANIONS = ("-wal", "-shm", "-journal")


def beside(path: Path, suffix: str) -> Path:
    """Name a file that belongs to the index.

    >>> str(beside(Path("data/shop.sqlite"), "-wal"))
    'data/shop.sqlite-wal'
    """
    return path.with_name(path.name + suffix)


def size_of(path: Path) -> int:
    """Give the size of a file in bytes, 0 where there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def wal_bytes(path: Path) -> int:
    """Give the size of an index's write-ahead log."""
    return size_of(beside(path, "-wal"))


def suspect(path: Path) -> None:
    """Leave the sign that this index looked damaged; where nothing can be written, nothing happens."""
    with suppress(OSError):
        os.close(os.open(beside(path, ".suspect"), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))


def is_suspect(path: Path) -> bool:
    """Tell whether somebody left the sign."""
    return beside(path, ".suspect").exists()


def clear(path: Path) -> None:
    """Take the sign away: the writer has looked."""
    beside(path, ".suspect").unlink(missing_ok=True)


def set_aside(path: Path) -> Path:
    """Rename a damaged index and its log out of the way; give the new name of the database.

    The caller holds the index lock and has closed its connections.
    """
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    aside = _free_name(path, stamp)
    for suffix in (*COMPANIONS, ""):  # the database last: until it is gone the work is not done, and is done again
        with suppress(FileNotFoundError):
            beside(path, suffix).rename(beside(aside, suffix))
    clear(path)
    return aside


def _free_name(path: Path, stamp: str) -> Path:
    number = 0
    while True:
        aside = beside(path, f".damaged-{stamp}" + (f"-{number}" if number else ""))
        if not any(beside(aside, suffix).exists() for suffix in ("", *COMPANIONS)):
            return aside
        number += 1
