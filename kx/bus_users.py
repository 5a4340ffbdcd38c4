"""The credentials of other programs: a user each, that may ask about one instance and nothing else.

Kept in `bus-users.json` (0600) so that they outlive the bus. `bus_server` puts them into its configuration.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from shared.atomic_file import write_atomic
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.permissions import inbox_prefix

TOOLS_FILE = "bus-users.json"
LOCK_FILE = "bus-users.lock"
PASSWORD_BYTES = 32


class ToolUser(Struct, frozen=True, kw_only=True):
    """What another program needs to ask about one instance."""

    name: str
    password: str
    instance: InstanceId

    @property
    def inbox_prefix(self) -> str:
        """Where it may receive replies; a client must be told."""
        return inbox_prefix(self.name)


def read_tool_users(run_dir: Path) -> tuple[ToolUser, ...]:
    """Read the users other programs were given.

    Raises:
        KxError: `KX_CONFIG_UNREADABLE` when the file is there and says something else.
    """
    path = run_dir / TOOLS_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[ToolUser, ...])
    except FileNotFoundError:
        return ()
    except (OSError, msgspec.MsgspecError, UnicodeError) as error:
        raise KxError(
            ErrorCode.CONFIG_UNREADABLE,
            "{path} cannot be read: {reason}",
            hint="remove the file and make the credentials again with: kx bus credentials",
            path=path,
            reason=error,
        ) from error


def tool_user(run_dir: Path, instance: InstanceId) -> ToolUser:
    """Give the user for one instance, made when there is none yet. A running bus has to be told: `reload_users`."""
    run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone(run_dir):
        users = read_tool_users(run_dir)
        for user in users:
            if user.instance == instance:
                return user
        made = ToolUser(name=f"tool-{instance}", password=secrets.token_urlsafe(PASSWORD_BYTES), instance=instance)
        write_atomic(run_dir / TOOLS_FILE, msgspec.json.encode((*users, made)))
    return made


@contextmanager
def _alone(run_dir: Path) -> Iterator[None]:
    """Hold the lock of the file, so that two commands at once lose no user."""
    descriptor = os.open(run_dir / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
