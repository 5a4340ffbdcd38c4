"""Write a whole file at once: readers see the old bytes or the new ones, never a part, also after a power loss."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from shared.errors import ErrorCode, KxError

TEMP_PREFIX = ".kx-"  # temporary files are `.kx-<random>.tmp`: short enough beside a name of 255 bytes
TEMP_SUFFIX = ".tmp"

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_atomic(
    path: Path,
    data: bytes,
    *,
    mode: int = 0o600,
    folder_fd: int | None = None,
    before_replace: Callable[[], None] = lambda: None,
) -> None:
    """Replace or create `path` with exactly `data` and the permissions `mode`; durable when it returns.

    The folder must exist; with `folder_fd`, a handle of it, `path` is a bare name in it. A symbolic link at `path` is
    replaced, not followed. `before_replace` is called when the new file is complete; what it raises keeps the old one.
    On any failure the old file is untouched and no temporary file stays behind (only a kill can leave one).

    Raises:
        KxError: DISK_FULL; every other failure is the `OSError` it was.
    """
    temp = path.with_name(f"{TEMP_PREFIX}{os.urandom(8).hex()}{TEMP_SUFFIX}")
    try:
        try:
            _write_synced(temp, data, mode, folder_fd)
            before_replace()
            os.replace(temp, path, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temp, dir_fd=folder_fd)
            raise
        _sync_folder(path.parent, folder_fd)
    except OSError as error:
        if error.errno in _FULL:
            raise KxError(
                ErrorCode.DISK_FULL,
                "no space left to write {path}",
                hint="free some space on that disk, then try again",
                retryable=True,
                path=path,
            ) from error
        error.filename = os.fspath(path)  # not of the temporary file, of which nobody knows
        raise


def _write_synced(path: Path, data: bytes, mode: int, folder_fd: int | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, mode, dir_fd=folder_fd)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)  # the umask may have taken bits away
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _sync_folder(folder: Path, folder_fd: int | None) -> None:
    """Make the new name itself durable; a file system that cannot sync folders keeps its own promise."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder_fd)
    try:
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
