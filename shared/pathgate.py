"""The only way to a file of a project: nothing outside the root is ever opened.

A path is walked component by component from a handle of the root; links are read, not followed, and their targets walked
the same way, so a link that is swapped between check and open leads nowhere. What cannot be decided is refused. Whether
a path *may* be read (denylist, ignore rules) is the business of `shared/treerules.py`: ask it about `OpenedFile.path`.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

from msgspec import Struct

from shared.errors import ErrorCode, KxError
from shared.relpath import RelPath, decode_path, encode_path

MAX_LINKS = 40  # as Linux has it for one path

# Passing through a folder needs no right to list it; elsewhere than on Linux there is no handle without one.
_PASS = os.O_PATH if sys.platform == "linux" else os.O_RDONLY
_FOLDER_FLAGS = _PASS | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe would block the opener for ever; a terminal must not become ours.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
# Opening a link with O_NOFOLLOW: Linux says ELOOP for files and ENOTDIR for folders, BSD also EMLINK.
_LINK_ERRORS = frozenset({errno.ELOOP, errno.EMLINK, errno.ENOTDIR})


class OpenedFile(Struct, frozen=True):
    """An open regular file inside the root. The caller closes `fd`."""

    fd: int
    stat: os.stat_result
    path: RelPath  # where it really is: links are resolved


class PathGate:
    """The gate of one root. The root itself may be a link; it is resolved once and known by device and inode.

    Raises:
        KxError: ROOT_MISSING if the root cannot be opened.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self._given = Path(os.path.abspath(root))  # noqa: PTH100  # absolute() keeps "..", resolve() would follow links
        fd = self._open_root()
        try:
            self._identity = _identity(os.fstat(fd))
        finally:
            os.close(fd)

    def open_file(self, rel: str, *, follow: bool = True) -> OpenedFile:
        """Open a regular file for reading. With `follow`, links are followed as long as they stay inside the root.

        Raises:
            KxError: PATH_OUTSIDE_ROOT if the path or a link leaves the root, or a link is met without `follow`;
                PATH_DENIED if it is no regular file; ROOT_MISSING if the root is not the one of the beginning.
            OSError: as the operating system says it, for a path inside the root.
        """
        parts = decode_path(rel).split(b"/")
        if not rel or any(part in {b"", b".", b".."} or b"\0" in part for part in parts):
            raise _outside(rel)
        walk = _Walk((self.root, self._given), rel, follow=follow)
        root_fd = self._open_root()
        try:
            if _identity(os.fstat(root_fd)) != self._identity:
                raise _root_missing(self.root)
            return walk.open(root_fd, parts)
        finally:
            os.close(root_fd)

    def status(self, rel: str) -> os.stat_result:
        """Give the `lstat` of a path. Links in the middle are followed: a status is not content."""
        return os.lstat(os.fsencode(self.root) + b"/" + decode_path(rel) if rel else self.root)

    def resolve(self, user_path: str | Path, cwd: Path) -> RelPath:
        """Turn what a person or an agent typed into the project's path of it, all links resolved.

        A relative path counts from `cwd`. The path need not exist. A name copied from kx's output, with its escapes,
        is understood.

        Raises:
            KxError: PATH_OUTSIDE_ROOT if it, or what its links lead to, is not inside the root.
        """
        typed = os.fspath(user_path)
        try:
            raw = _below(cwd, typed.encode("utf-8", "surrogateescape"))
            real = os.path.realpath(raw if os.path.lexists(raw) else _below(cwd, decode_path(typed)))
        except (ValueError, OSError):
            raise _outside(typed) from None
        root = os.fsencode(self.root)
        if real == root:
            return RelPath("")
        prefix = root.rstrip(b"/") + b"/"
        if not real.startswith(prefix):
            raise _outside(typed)
        return encode_path(real[len(prefix) :])

    def _open_root(self) -> int:
        try:
            return os.open(self.root, _FOLDER_FLAGS)
        except OSError as error:
            raise _root_missing(self.root) from error


class _Walk:
    """One way from the root to a file: a stack of open folders, and the components still to go."""

    def __init__(self, roots: tuple[Path, ...], asked: str, *, follow: bool) -> None:
        self._roots = tuple(os.fsencode(root) for root in roots)
        self._asked = asked
        self._links_left = MAX_LINKS if follow else 0
        self._fds: list[int] = []
        self._names: list[bytes] = []

    def open(self, root_fd: int, parts: list[bytes]) -> OpenedFile:
        waiting = list(reversed(parts))
        try:
            while waiting:
                part = waiting.pop()
                here = self._fds[-1] if self._fds else root_fd
                if part == b"..":
                    self._up()
                elif part not in {b"", b"."}:
                    opened = self._step(here, part, waiting)
                    if opened is not None:
                        return opened
            raise _not_regular(self._asked)
        finally:
            for fd in self._fds:
                os.close(fd)

    def _step(self, here: int, part: bytes, waiting: list[bytes]) -> OpenedFile | None:
        is_last = not any(rest not in {b"", b"."} for rest in waiting)
        try:
            fd = os.open(part, _FILE_FLAGS if is_last else _FOLDER_FLAGS, dir_fd=here)
        except OSError as error:
            if error.errno not in _LINK_ERRORS:
                raise
            self._follow(here, part, waiting, error)
            return None
        if not is_last:
            self._fds.append(fd)
            self._names.append(part)
            return None
        return self._checked(fd, part)

    def _checked(self, fd: int, part: bytes) -> OpenedFile:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            os.close(fd)
            raise _not_regular(self._asked)
        return OpenedFile(fd, status, encode_path(b"/".join([*self._names, part])))

    def _follow(self, here: int, part: bytes, waiting: list[bytes], error: OSError) -> None:
        """Put a link's target in its place; an absolute one must begin with the root."""
        try:
            target = os.readlink(part, dir_fd=here)
        except OSError:
            raise error from None  # no link: a file where a folder was expected
        if self._links_left == 0:
            raise _outside(self._asked)
        self._links_left -= 1
        if target.startswith(b"/"):
            target = self._below_root(target)
            while self._fds:
                self._up()
        waiting.extend(reversed(target.split(b"/")))

    def _below_root(self, target: bytes) -> bytes:
        for root in self._roots:
            if target == root or target.startswith(root.rstrip(b"/") + b"/"):
                return target[len(root) :]
        raise _outside(self._asked)

    def _up(self) -> None:
        if not self._fds:
            raise _outside(self._asked)
        os.close(self._fds.pop())
        self._names.pop()


def _below(cwd: Path, path: bytes) -> bytes:
    return path if path.startswith(b"/") else os.fsencode(cwd) + b"/" + path


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _outside(path: str) -> KxError:
    return KxError(
        ErrorCode.PATH_OUTSIDE_ROOT,
        "the path {path} is not inside the project",
        hint="give a path below the project's root",
        path=path.encode("utf-8", "backslashreplace").decode(),
    )


def _not_regular(path: str) -> KxError:
    return KxError(ErrorCode.PATH_DENIED, "{path} is not a regular file", hint="give the path of a file", path=path)


def _root_missing(root: Path) -> KxError:
    return KxError(
        ErrorCode.ROOT_MISSING,
        "the root {root} is not there, or another folder stands in its place",
        hint="mount or restore it; if it was moved: kx project move",
        retryable=True,
        root=str(root),
    )
