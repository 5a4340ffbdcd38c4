"""Open a database that is the truth, private to its user, and say in our words what SQLite says about it.

Unlike an index it is never set aside nor made anew: what cannot be read is refused and left as it is.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from shared.errors import ErrorCode, KxError
from shared.index_open import LITTLE_SPACE_BYTES, require_recent_sqlite
from shared.private_folder import OTHERS

BUSY_TIMEOUT_MS = 3_000  # another process commits in milliseconds; a caller waits five seconds
_CREATION = ("PRAGMA journal_mode=WAL",)
_WRITER = (
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}",
    "PRAGMA synchronous=FULL",  # what was answered is on the disk
    "PRAGMA secure_delete=ON",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA foreign_keys=ON",
    "PRAGMA recursive_triggers=ON",  # else REPLACE deletes without asking the guards
    "PRAGMA temp_store=MEMORY",
    "PRAGMA journal_size_limit=4194304",
)
_READER = (
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}",
    "PRAGMA query_only=ON",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA temp_store=MEMORY",
)


def open_writer(path: Path, *, application_id: int, history: tuple[str, ...]) -> apsw.Connection:
    """Open the database, bring its form up to date, create it where there is none; readable by its user alone.

    Raises:
        KxError: KNOWLEDGE_DAMAGED, INDEX_NEWER, INDEX_BUSY, DISK_FULL, SQLITE_TOO_OLD.
    """
    require_recent_sqlite()
    with translated(path):
        _make_private(path)
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            _run(connection, _WRITER)
            _migrate(connection, path, application_id, history)
        except BaseException:
            connection.close()
            raise
    return connection


def open_reader(path: Path) -> apsw.Connection:
    """Open for reading alone what a writer has opened before.

    Raises:
        KxError: KNOWLEDGE_DAMAGED, INDEX_BUSY.
    """
    with translated(path):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            _run(connection, _READER)
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def transaction(connection: apsw.Connection, path: Path, *, writes: bool) -> Iterator[None]:
    """Hold one transaction: all of it is kept, or nothing.

    Raises:
        KxError: those of `translated`.
    """
    with translated(path):
        connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn the errors of SQLite and of the file system about `path` into ours."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise KxError(
            ErrorCode.INDEX_BUSY,
            "the database {path} is busy",
            hint="try again in a moment",
            retryable=True,
            path=path,
        ) from error
    except apsw.FullError as error:
        raise _full(path) from error
    except (apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError) as error:
        raise damaged(path, str(error)) from error
    except apsw.IOError as error:
        raise (_full(path) if _has_no_space(path) else damaged(path, str(error))) from error
    except (apsw.ReadOnlyError, apsw.PermissionsError, apsw.CantOpenError) as error:
        raise damaged(path, str(error)) from error
    except OSError as error:
        raise (_full(path) if _has_no_space(path) else damaged(path, error.strerror or str(error))) from error


def damaged(path: Path, reason: str) -> KxError:
    """Make the error of a database that cannot be used as it is."""
    return KxError(
        ErrorCode.KNOWLEDGE_DAMAGED,
        "the database {path} cannot be used: {reason}",
        hint="nothing was changed: look at the file and its disk, or put a copy of it back in its place",
        path=path,
        reason=reason,
    )


def _make_private(path: Path) -> None:
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    except FileExistsError:
        mode = path.stat().st_mode
        if mode & OTHERS:
            path.chmod(mode & ~OTHERS & 0o777)


def _migrate(connection: apsw.Connection, path: Path, application_id: int, history: tuple[str, ...]) -> None:
    """Take the steps that the file lacks, each with its record in one transaction; prove first that it is ours."""
    if not _number(connection, "application_id") and not _tables(connection):
        _run(connection, _CREATION)
    with transaction(connection, path, writes=True):
        found = _number(connection, "application_id")
        if found != application_id and (found or _tables(connection)):
            raise damaged(path, "it is no database of this kind")
        version = _number(connection, "user_version")
        if version > len(history):
            raise _newer(path, version, len(history))
        for step in history[version:]:
            connection.execute(step).fetchall()
        if version < len(history):
            connection.execute(f"PRAGMA application_id={application_id}").fetchall()
            connection.execute(f"PRAGMA user_version={len(history)}").fetchall()


def _number(connection: apsw.Connection, pragma: str) -> int:
    row = connection.execute(f"PRAGMA {pragma}").fetchone()
    return int(str(row[0])) if row is not None else 0


def _tables(connection: apsw.Connection) -> int:
    row = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return int(str(row[0])) if row is not None else 0


def _run(connection: apsw.Connection, statements: tuple[str, ...]) -> None:
    for statement in statements:
        connection.execute(statement).fetchall()


def _has_no_space(path: Path) -> bool:
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit != resource.RLIM_INFINITY:
        return True
    try:
        space = os.statvfs(path.parent)
    except OSError:
        return False
    return space.f_bavail * space.f_frsize < LITTLE_SPACE_BYTES


def _newer(path: Path, found: int, known: int) -> KxError:
    return KxError(
        ErrorCode.INDEX_NEWER,
        "the database {path} was written by a newer kx (format {found}, this one knows {known})",
        hint="update kx",
        path=path,
        found=found,
        known=known,
    )


def _full(path: Path) -> KxError:
    return KxError(
        ErrorCode.DISK_FULL,
        "the disk that holds {path} is full",
        hint="free some space and do it again: nothing was written, and nothing is half done",
        retryable=True,
        path=path,
    )
