"""The only opener of an index file: pragmas, version and identity gates, audit event, lock.

Every open raises the audit event `kx.index.open` (path, mode), so that a test can prove that nothing was opened: apsw
opens files in C and raises no event of its own. `AUDIT_EVENT` fires before the file is touched.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import apsw
import msgspec
import sqlite_vec

from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.index_format import (
    CREATION_PRAGMAS,
    MIN_SQLITE,
    READER_PRAGMAS,
    SCHEMA_VERSION,
    SHARED_TABLES,
    WRITER_PRAGMAS,
    Meta,
)

AUDIT_EVENT = "kx.index.open"

OpenMode = Literal["writer", "reader"]


class LockHolder(msgspec.Struct, frozen=True):
    """Who wrote the lock file last; for messages only, the lock itself is the kernel's."""

    pid: int
    mode: str
    since: str  # ISO 8601, UTC


def open_reader(path: Path, instance: InstanceId) -> apsw.Connection:
    """Open an index read-only and prove that it belongs to `instance`.

    Raises:
        KxError: INDEX_MISSING, INDEX_FOREIGN, INDEX_NEWER, INDEX_DAMAGED, INDEX_BUSY, SQLITE_TOO_OLD.
    """
    with translated(path):
        connection = _connect(path, "reader")
        try:
            _run(connection, READER_PRAGMAS)
            _check_identity(connection, path, instance)
        except BaseException:
            connection.close()
            raise
    return connection


def open_writer(path: Path, instance: InstanceId, *, project: str, root: str) -> apsw.Connection:
    """Open an index for its single writer, creating it when it is not there; the caller holds the lock.

    Raises:
        KxError: as `open_reader`, but for INDEX_MISSING; INDEX_READ_ONLY, DISK_FULL.
    """
    with translated(path):
        is_new = not path.exists() or path.stat().st_size == 0
        connection = _connect(path, "writer")
        try:
            _run(connection, CREATION_PRAGMAS if is_new else ())
            _run(connection, WRITER_PRAGMAS)
            if is_new or not _has_meta(connection):
                _create(connection, instance, project, root)
            _check_identity(connection, path, instance)
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def index_lock(path: Path, *, mode: str, since: str) -> Iterator[None]:
    """Hold the exclusive lock that makes the caller the one writer of this index.

    The lock file is never removed: its content is for messages, the lock is the kernel's and ends with the process.

    Raises:
        KxError: INDEX_LOCKED naming the holder.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock_path = path.with_name(path.name + ".lock")
    descriptor = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _take_lock(descriptor, lock_path, path)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, msgspec.json.encode(LockHolder(pid=os.getpid(), mode=mode, since=since)), 0)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn the errors of SQLite about the index at `path` into ours: busy, full, read-only and damaged told apart."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise KxError(
            ErrorCode.INDEX_BUSY, "the index {path} is busy", hint="try again in a moment", retryable=True, path=path
        ) from error
    except apsw.FullError as error:
        raise KxError(
            ErrorCode.DISK_FULL,
            "the disk that holds {path} is full",
            hint="free some space; nothing was lost, the work goes on by itself",
            retryable=True,
            path=path,
        ) from error
    except (apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise _read_only(path) from error
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise KxError(
            ErrorCode.INDEX_DAMAGED,
            "the index {path} is damaged: {reason}",
            hint="delete it and build it again: rm {path}* && kx index",
            path=path,
            reason=error,
        ) from error
    except apsw.CantOpenError as error:
        raise (_missing(path) if not path.exists() else _read_only(path)) from error


def _connect(path: Path, mode: OpenMode) -> apsw.Connection:
    require_recent_sqlite()
    sys.audit(AUDIT_EVENT, str(path), mode)
    if mode == "reader":
        if not path.exists():
            raise _missing(path)
        flags = apsw.SQLITE_OPEN_READONLY
    else:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(str(path), flags=flags)
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.enable_load_extension(False)
    return connection


def require_recent_sqlite() -> None:
    """Refuse a SQLite in which several processes on one WAL file can corrupt it."""
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < MIN_SQLITE:
        raise KxError(
            ErrorCode.SQLITE_TOO_OLD,
            "SQLite {found} is too old, {wanted} or newer is needed",
            hint="pip install --force-reinstall apsw",
            found=apsw.sqlite_lib_version(),
            wanted=".".join(map(str, MIN_SQLITE)),
        )


def _run(connection: apsw.Connection, statements: tuple[str, ...]) -> None:
    for statement in statements:
        connection.execute(statement).fetchall()


def _has_meta(connection: apsw.Connection) -> bool:
    row = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'meta'").fetchone()
    return row is not None and bool(row[0])


def _create(connection: apsw.Connection, instance: InstanceId, project: str, root: str) -> None:
    values = {
        Meta.INSTANCE: instance,
        Meta.PROJECT: project,
        Meta.ROOT: root,
        Meta.SCHEMA: SCHEMA_VERSION,
        Meta.SEQ: 0,
        Meta.EPOCH: 0,
        Meta.BUILDING: 0,
        Meta.BUILDING_ANNOUNCED: 0,
    }
    with connection:
        connection.execute(SHARED_TABLES)
        connection.executemany("INSERT INTO meta VALUES(?, ?)", [(str(k), v) for k, v in values.items()])


def _check_identity(connection: apsw.Connection, path: Path, instance: InstanceId) -> None:
    found = dict(connection.execute("SELECT key, value FROM meta WHERE key IN ('instance', 'schema', 'root')"))
    if found.get(Meta.INSTANCE) != instance:
        raise KxError(
            ErrorCode.INDEX_FOREIGN,
            "the index {path} belongs to another tree ({root})",
            hint="give this project another index file, or move that one away",
            path=path,
            root=found.get(Meta.ROOT, "?"),
        )
    schema = int(str(found.get(Meta.SCHEMA, 0)))
    if schema > SCHEMA_VERSION:
        raise KxError(
            ErrorCode.INDEX_NEWER,
            "the index {path} was written by a newer kx (format {found}, this one knows {known})",
            hint="update kx, or delete the file and run: kx index",
            path=path,
            found=schema,
            known=SCHEMA_VERSION,
        )


def _take_lock(descriptor: int, lock_path: Path, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise KxError(
            ErrorCode.INDEX_LOCKED,
            "the index {path} is being written by {holder}",
            hint="wait until it ends, or search meanwhile: kx search reads without the lock",
            retryable=True,
            path=path,
            holder=_holder(lock_path),
        ) from error


def _holder(lock_path: Path) -> str:
    try:
        holder = msgspec.json.decode(lock_path.read_bytes(), type=LockHolder)
    except (OSError, msgspec.MsgspecError):
        return "another process"
    return f"process {holder.pid} ({holder.mode}, since {holder.since})"


def _missing(path: Path) -> KxError:
    return KxError(
        ErrorCode.INDEX_MISSING,
        "there is no index at {path}",
        hint="make it: kx index, or try it out at once: kx search --index 'your question'",
        path=path,
    )


def _read_only(path: Path) -> KxError:
    return KxError(
        ErrorCode.INDEX_READ_ONLY,
        "the index {path} cannot be written",
        hint="check the owner and the permissions of the file and its folder",
        path=path,
    )
