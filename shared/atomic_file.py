"""Write a whole file at once: readers see the old bytes or the new ones, never a part, also after a power loss."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from shared.errors import ErrorCode, KxError

TEMP_PREFIX = ".kx-"  # temporary files are `.kx-<random>.tmp`: short enough beside a name of 255 bytes
TEMP_SUFFIX = ".tmp"

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_atomic(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Replace or create `path` with exactly `data` and the permissions `mode`; durable when it returns.

    The folder must exist. A symbolic link at `path` is replaced, not followed. On any failure the old file is
    untouched and no temporary file stays behind (only a kill can leave one).

    Raises:
        KxError: DISK_FULL; every other failure is the `OSError` it was.
    """
    temp = path.with_name(f"{TEMP_PREFIX}{os.urandom(8).hex()}{TEMP_SUFFIX}")
    try:
        try:
            _write_synced(temp, data, mode)
            os.replace(temp, path)  # noqa: PTH105 - Path.replace says the same and hides that it is the atomic step
        except BaseException:
            with suppress(FileNotFoundError):
                temp.unlink()
            raise
        _sync_folder(path.parent)
    except OSError as error:
        if error.errno in _FULL:
            raise KxError(
                ErrorCode.DISK_FULL,
                "no space left to write {path}",
                hint="free some space on that disk, then try again",
                retryable=True,
                path=path,
            ) from error
        raise


def _write_synced(path: Path, data: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)  # the umask may have taken bits away
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _sync_folder(folder: Path) -> None:
    """Make the new name itself durable; a file system that cannot sync folders keeps its own promise."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
