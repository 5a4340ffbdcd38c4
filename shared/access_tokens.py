"""The access tokens of this user, in `~/.kx/tokens.sqlite`: made and revoked by the command, checked by the gateway.

A token's secret is stored only as its hash. A revoked or expired one stays listed, and its id is never given again.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import msgspec

from shared.access import ID_DIGITS, SECRET_BYTES, AccessToken, digest, is_same, split, written
from shared.errors import ErrorCode, KxError

FILE_NAME = "tokens.sqlite"
BUSY_MS = 5_000
_PRIVATE = 0o600

_SCHEMA = """
CREATE TABLE IF NOT EXISTS token (
  id TEXT PRIMARY KEY,
  digest BLOB NOT NULL,
  record BLOB NOT NULL      -- AccessToken as JSON, without what is in columns
) STRICT, WITHOUT ROWID
"""
_INSERT = "INSERT INTO token (id, digest, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_UPDATE = "UPDATE token SET record = ? WHERE id = ?"
_FIND = "SELECT digest, record FROM token WHERE id = ?"
_ALL = "SELECT record FROM token ORDER BY id"


class AccessTokens:
    """The tokens of one home. Every method blocks for a small read or write; safe across threads."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE_NAME
        self._lock = threading.Lock()
        self._reader: apsw.Connection | None = None
        self._opened: tuple[int, int] | None = None  # device and inode of what the reader reads

    def create(self, wanted: AccessToken) -> tuple[AccessToken, str]:
        """Store a new token under an id of its own; the text is what its holder presents, and is not kept.

        Without a principal it acts for itself alone.
        """
        with self._writing() as connection:
            while True:
                token_id = secrets.token_hex(ID_DIGITS // 2)
                token = msgspec.structs.replace(wanted, id=token_id, principal=wanted.principal or f"token-{token_id}")
                secret = secrets.token_bytes(SECRET_BYTES)
                connection.execute(_INSERT, (token.id, digest(secret.hex()), msgspec.json.encode(token)))
                if connection.changes():
                    return token, written(token.id, secret)

    def revoke(self, token_id: str, now_s: int) -> AccessToken:
        """Make a token worthless at once and for good; done twice it keeps its first time.

        Raises:
            KxError: USAGE when there is no such token.
        """
        with self._writing() as connection:
            row = connection.execute(_FIND, (token_id,)).fetchone()
            if row is None:
                raise KxError(
                    ErrorCode.USAGE,
                    "there is no token {token}",
                    hint="see the tokens with: kx token list",
                    token=token_id,
                )
            token = _token(row[1])
            if token.revoked_s is None:
                token = msgspec.structs.replace(token, revoked_s=now_s)
                connection.execute(_UPDATE, (msgspec.json.encode(token), token_id))
            return token

    def all(self) -> tuple[AccessToken, ...]:
        """Give every token that was ever made, by id."""
        with self._reading() as connection:
            rows = connection.execute(_ALL).fetchall() if connection is not None else []
        return tuple(_token(row[0]) for row in rows)

    def holder(self, presented: str, now_s: float) -> AccessToken | None:
        """Give the valid token that was presented, read anew so that a revocation holds at once."""
        parts = split(presented)
        if parts is None:
            return None
        with self._reading() as connection:
            row = connection.execute(_FIND, (parts.id,)).fetchone() if connection is not None else None
        if not is_same(None if row is None else row[0], parts) or row is None:
            return None
        token = _token(row[1])
        return token if token.state(now_s) == "valid" else None

    def has_valid(self, now_s: float) -> bool:
        """Tell whether anyone could be let in."""
        return any(token.state(now_s) == "valid" for token in self.all())

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._drop()

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        with self._translated():
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE))
            self._path.chmod(_PRIVATE)
            connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                connection.set_busy_timeout(BUSY_MS)
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(_SCHEMA)
                yield connection
                connection.execute("COMMIT")
            finally:
                connection.close()  # rolls back what was not committed

    @contextmanager
    def _reading(self) -> Iterator[apsw.Connection | None]:
        """Give the reader, opened again when the file is another one; None where nobody ever made a token."""
        with self._lock, self._translated():
            try:
                found = self._path.stat()
            except FileNotFoundError:
                self._drop()
                yield None
                return
            if self._opened != (found.st_dev, found.st_ino):
                self._drop()
                self._reader = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READONLY)
                self._reader.set_busy_timeout(BUSY_MS)
                self._opened = (found.st_dev, found.st_ino)
            yield self._reader

    def _drop(self) -> None:
        if self._reader is not None:
            self._reader.close()
        self._reader = self._opened = None

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (apsw.Error, OSError, msgspec.MsgspecError) as error:
            raise KxError(
                ErrorCode.CONFIG_UNREADABLE,
                "{file} cannot be used: {problem}",
                hint="mend it, or move it away: then no token is valid and new ones can be made",
                file=self._path,
                problem=getattr(error, "strerror", None) or error,
            ) from error


def _token(record: object) -> AccessToken:
    assert isinstance(record, bytes)
    return msgspec.json.decode(record, type=AccessToken)
