"""Which folder stands at a root: deleted, renamed, replaced, unmounted and unreadable roots are told apart from it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from msgspec import Struct


class RootIdentity(Struct, frozen=True):
    """A folder, whatever its name."""

    device: int
    inode: int


def root_identity(root: Path) -> RootIdentity | None:
    """Give the identity of the folder at `root`; None when no folder is there or it cannot be listed."""
    try:
        status = os.stat(root)  # noqa: PTH116 - beside scandir, asked every second
        if not stat.S_ISDIR(status.st_mode):
            return None
        os.scandir(os.fsencode(root)).close()
    except (OSError, ValueError):
        return None
    return RootIdentity(status.st_dev, status.st_ino)
