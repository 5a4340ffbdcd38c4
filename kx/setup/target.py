"""A file that setup may change: read with its permissions, written whole, never through a link that leads away."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from msgspec import Struct

from kx.setup.json_entry import UnchangeableError
from shared.atomic_file import write_atomic
from shared.errors import ErrorCode, KxError

MAX_BYTES = 4 * 1024 * 1024  # a configuration; anything larger is something else


class Target(Struct, frozen=True, kw_only=True):
    """A file as it was found."""

    path: Path  # as it is named
    real: Path  # where links lead
    text: str | None  # None: there is none
    mode: int  # of the file that is there, else of the one to be made


def read_target(path: Path, *, inside: Path, new_mode: int) -> Target:
    """Read a file that may be changed; links are followed as long as they stay below `inside`.

    Raises:
        UnchangeableError: a link that leads out, another user's file, no text.
    """
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(inside)):
        raise UnchangeableError("it is a link that leads elsewhere")
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return Target(path=path, real=real, text=None, mode=new_mode)
    except OSError as error:
        raise UnchangeableError("it cannot be read") from error
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise UnchangeableError("it is not a file")
        if found.st_uid != os.geteuid():
            raise UnchangeableError("it belongs to another user")
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UnchangeableError("it is very large")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise UnchangeableError("it is not UTF-8") from error
    return Target(path=path, real=real, text=text, mode=stat.S_IMODE(found.st_mode))


def write_target(target: Target, text: str) -> None:
    """Write the file, and make the folders it lies in.

    Raises:
        KxError: BAD_REQUEST when it has changed since it was read; DISK_FULL; OSError.
    """
    _make_folders(target.real.parent, mode=0o700 if target.mode & 0o077 == 0 else 0o755)
    write_atomic(target.real, text.encode(), mode=target.mode, before_replace=lambda: require_unchanged(target))


def remove_target(target: Target, folders: tuple[Path, ...]) -> None:
    """Remove the file, and the folders that were made for it where nothing else is in them.

    Raises:
        KxError: BAD_REQUEST when it has changed since it was read; OSError.
    """
    require_unchanged(target)
    target.real.unlink()
    for folder in reversed(folders):
        try:
            folder.rmdir()
        except OSError:
            return


def missing_folders(folder: Path) -> tuple[Path, ...]:
    """Give those of a folder and the ones above it that are not there, outermost first."""
    return tuple(reversed([one for one in (folder, *folder.parents) if not one.exists()]))


def _make_folders(folder: Path, *, mode: int) -> None:
    for one in missing_folders(folder):
        one.mkdir(mode=mode)
        one.chmod(mode)  # the umask may have taken bits away


def require_unchanged(target: Target) -> None:
    """Refuse to overwrite what somebody wrote since.

    Raises:
        KxError: BAD_REQUEST.
    """
    try:
        now: bytes | None = target.real.read_bytes()
    except FileNotFoundError:
        now = None
    if now != (None if target.text is None else target.text.encode()):
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{file} was changed while kx was about to change it",
            hint="nothing was written; run the command again",
            file=target.path,
        )
