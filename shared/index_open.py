"""The only opener of an index file: pragmas, version and identity gates, audit event, lock.

Every open raises the audit event `kx.index.open` (path, mode), so that a test can prove that nothing was opened: apsw
opens files in C and raises no event of its own. `AUDIT_EVENT` fires before the file is touched.
"""

from __future__ import annotations

import fcntl
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import apsw
import msgspec

from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId, is_instance_id
from shared.index_files import suspect
from shared.index_format import (
    CREATION_PRAGMAS,
    MIGRATIONS,
    MIN_SQLITE,
    READER_PRAGMAS,
    SCHEMA_VERSION,
    SHARED_TABLES,
    WRITER_PRAGMAS,
    Meta,
    for_epoch,
)

AUDIT_EVENT = "kx.index.open"

OpenMode = Literal["writer", "reader"]


class LockHolder(msgspec.Struct, frozen=True):
    """Who wrote the lock file last; for messages only, the lock itself is the kernel's."""

    pid: int
    mode: str
    since: str  # ISO 8601, UTC
    is_over: bool = False  # it ended in order: what it wrote is whole
    size: int = 0  # of the database at that end, bytes
    mtime_ns: int = 0


LITTLE_SPACE_BYTES = 1024 * 1024  # with less, a failed write is no fault of the disk


def open_reader(path: Path, instance: InstanceId) -> apsw.Connection:
    """Open an index read-only and prove that it belongs to `instance`.

    Raises:
        KxError: INDEX_MISSING, INDEX_FOREIGN, INDEX_NEWER, INDEX_DAMAGED, INDEX_BUSY, SQLITE_TOO_OLD.
    """
    with translated(path), _told_as_damage(path):
        connection = _connect(path, "reader")
        try:
            _run(connection, READER_PRAGMAS)
            _check_readable(connection, path, instance)
        except BaseException:
            connection.close()
            raise
    return connection


def open_writer(path: Path, instance: InstanceId, *, project: str, root: str) -> apsw.Connection:
    """Open an index for its single writer, creating it when it is not there; the caller holds the lock.

    Raises:
        KxError: as `open_reader`, but for INDEX_MISSING; INDEX_READ_ONLY, DISK_FULL.
    """
    with translated(path), _told_as_damage(path):
        is_new = not path.exists() or path.stat().st_size == 0
        connection = _connect(path, "writer")
        try:
            _run(connection, CREATION_PRAGMAS if is_new else ())
            _run(connection, WRITER_PRAGMAS)
            if is_new or _is_empty(connection):
                _create(connection, instance, project, root)
            schema = _check_identity(connection, path, instance)
            _migrate(connection, schema)
        except BaseException:
            connection.close()
            raise
    return connection


def owner_without_log(path: Path) -> str:
    """Read whose index a file is as if it had no log; "" where that cannot be read."""
    require_recent_sqlite()
    sys.audit(AUDIT_EVENT, str(path), "reader")
    address = f"file:{quote(str(path))}?immutable=1"
    try:
        connection = apsw.Connection(address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        try:
            rows = connection.execute("SELECT value FROM meta WHERE key = ?", (str(Meta.INSTANCE),)).fetchall()
        finally:
            connection.close()
    except apsw.Error:
        return ""
    return str(rows[0][0]) if rows else ""


@contextmanager
def index_lock(path: Path, *, mode: str, since: str) -> Iterator[bool]:
    """Hold the exclusive lock that makes the caller the one writer of this index; tell whether it is as the last one left it.

    It is not when that one did not end in order, or when somebody else wrote to the file since.

    The lock file is never removed: its content is for messages, the lock is the kernel's and ends with the process.

    Raises:
        KxError: INDEX_LOCKED naming the holder.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock_path = path.with_name(path.name + ".lock")
    descriptor = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _take_lock(descriptor, lock_path, path)
        last = _read_holder(lock_path)
        holder = LockHolder(pid=os.getpid(), mode=mode, since=since)
        _write_holder(descriptor, holder)
        yield last is not None and last.is_over and (last.size, last.mtime_ns) == _stamp(path)
        size, mtime_ns = _stamp(path)
        _write_holder(descriptor, msgspec.structs.replace(holder, is_over=True, size=size, mtime_ns=mtime_ns))
    finally:
        os.close(descriptor)


@contextmanager
def _told_as_damage(path: Path) -> Iterator[None]:
    """Take a text that is none for damage; only where nothing but the index is read."""
    try:
        yield
    except UnicodeDecodeError as error:
        suspect(path)
        raise damaged(path, str(error)) from error


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
        raise _full(path) from error
    except (apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise _read_only(path) from error
    except (apsw.NotADBError, apsw.CorruptError) as error:
        suspect(path)
        raise damaged(path, str(error)) from error
    except apsw.IOError as error:
        raise (_full(path) if _has_no_space(path) else _unusable(path, error)) from error
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
    # A log that is not ours must not be written into the database because we look at it.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.enable_load_extension(True)
    connection.load_extension(_vector_extension())
    connection.enable_load_extension(False)
    return connection


@cache
def _vector_extension() -> str:
    """Find sqlite-vec without importing its package, which imports numpy for a tenth of a second."""
    spec = find_spec("sqlite_vec")
    if spec is None or spec.origin is None:
        raise KxError(
            ErrorCode.SQLITE_TOO_OLD,
            "the vector extension of SQLite is not installed",
            hint="pip install --force-reinstall sqlite-vec",
        )
    return str(Path(spec.origin).with_name("vec0"))


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


def _is_empty(connection: apsw.Connection) -> bool:
    row = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return row is not None and not row[0]


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
        Meta.ERASURE_WANTED: 0,
        Meta.ERASURE_DONE: 0,
    }
    with connection:
        connection.execute(SHARED_TABLES)
        connection.executemany("INSERT INTO meta VALUES(?, ?)", [(str(k), v) for k, v in values.items()])


def _check_identity(connection: apsw.Connection, path: Path, instance: InstanceId) -> int:
    """Give the format of the file, once it is proven to be this instance's and not newer than we are."""
    tables = {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    is_ours = {"meta", "epoch", "embedding"} <= tables
    found = dict(connection.execute("SELECT key, value FROM meta")) if is_ours else {}
    schema = found.get(Meta.SCHEMA)
    if is_ours and not (is_instance_id(str(found.get(Meta.INSTANCE))) and isinstance(schema, int) and schema > 0):
        suspect(path)
        raise damaged(path, "it does not say whose it is")
    if found.get(Meta.INSTANCE) != instance:
        raise KxError(
            ErrorCode.INDEX_FOREIGN,
            "the index {path} belongs to another tree ({root})",
            hint="give this project another index file, or move that one away",
            path=path,
            root=found.get(Meta.ROOT, "?"),
        )
    assert isinstance(schema, int)
    if schema > SCHEMA_VERSION:
        raise KxError(
            ErrorCode.INDEX_NEWER,
            "the index {path} was written by a newer kx (format {found}, this one knows {known})",
            hint="update kx, or delete the file and run: kx index",
            path=path,
            found=schema,
            known=SCHEMA_VERSION,
        )
    return schema


def _check_readable(connection: apsw.Connection, path: Path, instance: InstanceId) -> None:
    if _is_empty(connection):
        raise _missing(path)
    if _check_identity(connection, path, instance) < SCHEMA_VERSION:
        raise _older(path)


def _migrate(connection: apsw.Connection, schema: int) -> None:
    if schema == SCHEMA_VERSION:
        return
    with connection:
        epochs = [int(str(row[0])) for row in connection.execute("SELECT id FROM epoch")]
        for version in range(schema + 1, SCHEMA_VERSION + 1):
            for epoch in epochs:
                connection.execute(for_epoch(MIGRATIONS[version], epoch))
        connection.execute("UPDATE meta SET value = ? WHERE key = ?", (SCHEMA_VERSION, str(Meta.SCHEMA)))


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
    holder = _read_holder(lock_path)
    return f"process {holder.pid} ({holder.mode}, since {holder.since})" if holder is not None else "another process"


def _read_holder(lock_path: Path) -> LockHolder | None:
    try:
        return msgspec.json.decode(lock_path.read_bytes(), type=LockHolder)
    except (OSError, msgspec.MsgspecError):
        return None


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def _write_holder(descriptor: int, holder: LockHolder) -> None:
    with suppress(OSError):  # for messages, and to be sure of an orderly end; a full disk must not stop anyone
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, msgspec.json.encode(holder), 0)


def damaged(path: Path, reason: str) -> KxError:
    """Make the error of an index that is no sound database."""
    return KxError(
        ErrorCode.INDEX_DAMAGED,
        "the index {path} is damaged: {reason}",
        hint="run kx index: it is set aside and built anew, nothing of yours is lost",
        path=path,
        reason=reason,
    )


def _has_no_space(path: Path) -> bool:
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit != resource.RLIM_INFINITY:
        return True
    try:
        space = os.statvfs(path.parent)
    except OSError:
        return False
    return space.f_bavail * space.f_frsize < LITTLE_SPACE_BYTES


def _full(path: Path) -> KxError:
    return KxError(
        ErrorCode.DISK_FULL,
        "the disk that holds {path} is full",
        hint="free some space; nothing was lost, the work goes on by itself",
        retryable=True,
        path=path,
    )


def _unusable(path: Path, error: apsw.Error) -> KxError:
    return KxError(
        ErrorCode.INDEX_UNREADABLE,
        "the index {path} cannot be read or written: {reason}",
        hint="look at the disk that holds it; the work goes on by itself",
        retryable=True,
        path=path,
        reason=error,
    )


def _older(path: Path) -> KxError:
    return KxError(
        ErrorCode.INDEX_MISSING,
        "the index {path} has an older format",
        hint="bring it up to date: kx index",
        path=path,
    )


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
