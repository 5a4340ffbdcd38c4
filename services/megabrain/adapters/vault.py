"""The vault of one project: its files, opened from a handle of the root so that no link leads anywhere else.

`.vault` itself may be a link that stays inside the root. Below it nothing may be one: a linked note is not read, not
written and not listed. Writes replace whole files, under one lock that every process takes.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from msgspec import Struct

from shared.atomic_file import write_atomic
from shared.errors import ErrorCode, KxError
from shared.pathgate import PathGate
from shared.relpath import decode_path, encode_path, join, name, parent

VAULT = ".vault"
LOCK = "megabrain/.lock"
LOCK_S = 10.0  # another writer holds it for some writes to disk
LOCK_POLL_S = 0.01
MAX_FILE_BYTES = 10 * 1024 * 1024
NEW_MODE = 0o600

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_LINK_ERRORS = frozenset({errno.ELOOP, errno.EMLINK, errno.ENOTDIR})

Stamp = tuple[int, int, int, int]  # device, inode, size, mtime in ns


class ChangedUnderneathError(Exception):
    """The file is not the one that was read: read it again."""


class Stored(Struct, frozen=True):
    """A file as it was read."""

    data: bytes
    stamp: Stamp
    mode: int


class Vault:
    """The vault of one root; every method blocks. Paths are relative to the vault, at most one folder deep."""

    def __init__(self, root: Path) -> None:
        self._gate = PathGate(root)

    def shown(self, rel: str) -> str:
        """Give the project's path of a file."""
        return join(VAULT, rel)

    def names(self, folder: str) -> list[str]:
        """List a folder, sorted; a folder that is not there is empty."""
        try:
            with self._folder(folder) as fd:
                return sorted(encode_path(os.fsencode(one)) for one in os.listdir(fd))  # noqa: PTH208 - of a handle
        except FileNotFoundError:
            return []
        except OSError as error:
            self._refuse(folder, error)

    def stamps(self, folder: str) -> dict[str, Stamp]:
        """Tell the identity of each regular file of a folder, by name in order."""
        try:
            with self._folder(folder) as fd, os.scandir(fd) as entries:
                found = {encode_path(os.fsencode(one.name)): one.stat(follow_symlinks=False) for one in entries}
        except FileNotFoundError:
            return {}
        except OSError as error:
            self._refuse(folder, error)
        return {one: _stamp_of(status) for one, status in sorted(found.items()) if stat.S_ISREG(status.st_mode)}

    def stamp(self, rel: str) -> Stamp | None:
        """Tell a file's identity; None where there is no regular file."""
        try:
            with self._folder(parent(rel)) as fd:
                found = _status_at(fd, rel)
                return _stamp_of(found) if found is not None and stat.S_ISREG(found.st_mode) else None
        except OSError as error:
            if error.errno == errno.ENOENT:
                return None
            self._refuse(rel, error)

    def read(self, rel: str) -> Stored | None:
        """Read a file; None where there is none.

        Raises:
            KxError: PATH_OUTSIDE_ROOT for a link, VAULT_DAMAGED for what is no file or too large, VAULT_UNWRITABLE.
        """
        try:
            with self._folder(parent(rel)) as folder:
                descriptor = os.open(decode_path(name(rel)), _FILE, dir_fd=folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._refuse(rel, error)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_FILE_BYTES:
                raise _no_file(self.shown(rel))
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return Stored(file.read(), _stamp_of(found), stat.S_IMODE(found.st_mode))
        finally:
            os.close(descriptor)

    def write(self, rel: str, data: bytes, seen: Stored | None) -> None:
        """Replace the file that was `seen`, or create it where there was none; folders are made.

        Raises:
            ChangedUnderneathError: when the file is another one by now.
            KxError: DISK_FULL, VAULT_UNWRITABLE, PATH_OUTSIDE_ROOT.
        """
        try:
            with self._folder(parent(rel), create=True) as fd:

                def unchanged() -> None:
                    if _stamp_at(fd, rel) != (seen.stamp if seen is not None else None):
                        raise ChangedUnderneathError(rel)

                bare = Path(os.fsdecode(decode_path(name(rel))))
                mode = seen.mode if seen is not None else NEW_MODE
                write_atomic(bare, data, mode=mode, folder_fd=fd, before_replace=unchanged)
        except OSError as error:
            self._refuse(rel, error)
        except KxError as error:
            error.params["path"] = self.shown(rel)
            raise

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only writer of this vault, on this machine, while entered.

        Raises:
            KxError: VAULT_BUSY.
        """
        try:
            with self._folder(parent(LOCK), create=True) as folder:
                flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                descriptor = os.open(name(LOCK), flags, 0o600, dir_fd=folder)
        except OSError as error:
            self._refuse(LOCK, error)
        try:
            self._take(descriptor)
            yield
        finally:
            os.close(descriptor)  # releases it, as the end of the process does

    def _take(self, descriptor: int) -> None:
        end = time.monotonic() + LOCK_S
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise KxError(
                        ErrorCode.VAULT_BUSY,
                        "another program is writing in {path}",
                        hint="try again",
                        retryable=True,
                        path=VAULT,
                    ) from None
                time.sleep(LOCK_POLL_S)
            else:
                return

    @contextmanager
    def _folder(self, folder: str, *, create: bool = False) -> Iterator[int]:
        """Open a folder of the vault, component by component."""
        parts = self._gate.resolve(VAULT, self._gate.root).split("/") + ([folder] if folder else [])
        fd = self._root()
        try:
            for part in parts:
                below = _opened(fd, decode_path(part), create=create)
                os.close(fd)
                fd = below
            yield fd
        finally:
            os.close(fd)

    def _root(self) -> int:
        try:
            return os.open(self._gate.root, _FOLDER)
        except OSError as error:
            raise KxError(
                ErrorCode.ROOT_MISSING,
                "the folder {root} is not there",
                hint="if it was moved, tell kx where it is now: kx project move",
                retryable=True,
                root=self._gate.root,
            ) from error

    def _refuse(self, rel: str, error: OSError) -> NoReturn:
        path = self.shown(rel) if rel else VAULT
        if error.errno in _LINK_ERRORS:
            raise KxError(
                ErrorCode.PATH_OUTSIDE_ROOT,
                "{path} is a link, or lies behind one",
                hint="put a file or folder in its place; links inside the vault are not followed",
                path=path,
            ) from error
        raise KxError(
            ErrorCode.VAULT_UNWRITABLE,
            "{path} cannot be used: {reason}",
            hint="check owner and permissions of the file and its folder",
            path=path,
            reason=error.strerror or error,
        ) from error


def _no_file(path: str) -> KxError:
    return KxError(
        ErrorCode.VAULT_DAMAGED,
        "{file} cannot be used: {problem}",
        hint="mend the file in an editor; nothing was changed",
        file=path,
        problem="it is no regular file, or larger than 10 MB",
    )


def _opened(fd: int, part: bytes, *, create: bool) -> int:
    try:
        return os.open(part, _FOLDER, dir_fd=fd)
    except FileNotFoundError:
        if not create:
            raise
    with suppress(FileExistsError):  # another writer was faster
        os.mkdir(part, 0o700, dir_fd=fd)
    return os.open(part, _FOLDER, dir_fd=fd)


def _stamp_at(fd: int, rel: str) -> Stamp | None:
    found = _status_at(fd, rel)
    return None if found is None else _stamp_of(found)


def _status_at(fd: int, rel: str) -> os.stat_result | None:
    try:
        return os.stat(decode_path(name(rel)), dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _stamp_of(found: os.stat_result) -> Stamp:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
