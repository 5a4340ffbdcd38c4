"""A folder that is the user's alone: made so, or refused."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from shared.errors import ErrorCode, KxError

OTHERS = 0o077
_PRIVATE = 0o700


def ensure_private(folder: Path, *, ours: Callable[[Path], bool]) -> None:
    """Create the folder, or close it to others where `ours` says that it may be closed.

    Raises:
        KxError: CONFIG_NOT_TRUSTED (another user's, or an open folder that is not ours); OSError where it cannot be.
    """
    try:
        folder.mkdir(mode=_PRIVATE, parents=True)
    except FileExistsError:
        found = folder.stat()
        if not folder.is_dir():
            raise
        if found.st_uid != os.geteuid():
            raise _not_private(folder, "it belongs to another user") from None
        if found.st_mode & OTHERS:
            if not ours(folder):
                raise _not_private(folder, "others may enter it") from None
            folder.chmod(_PRIVATE)


def _not_private(folder: Path, problem: str) -> KxError:
    return KxError(
        ErrorCode.CONFIG_NOT_TRUSTED,
        "{folder} cannot be kx's folder: {problem}",
        hint="set KX_HOME to a folder of your own",
        folder=folder,
        problem=problem,
    )
