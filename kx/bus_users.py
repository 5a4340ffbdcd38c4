"""The credentials of other programs: a user each, that may ask about one instance and nothing else.

Kept in `bus-users.json` (0600) so that they outlive the bus. `bus_server` puts them into its configuration.
"""

from __future__ import annotations

import fcntl
import os
import re
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
PREFIX = "tool-"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")


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


def tool_user(run_dir: Path, instance: InstanceId, name: str | None = None) -> ToolUser:
    """Give the user of that name for one instance, made when there is none yet.

    Without a name it is the instance's own. A running bus has to be told: `reload_users`.

    Raises:
        KxError: `KX_BAD_REQUEST` for a name that cannot be a subject's token, or that is another instance's user.
    """
    wanted = _user_name(name or instance)
    run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone(run_dir):
        users = read_tool_users(run_dir)
        for user in users:
            if user.name == wanted:
                return _of_instance(user, instance)
        made = ToolUser(name=wanted, password=secrets.token_urlsafe(PASSWORD_BYTES), instance=instance)
        write_atomic(run_dir / TOOLS_FILE, msgspec.json.encode((*users, made)))
    return made


def forget_user(run_dir: Path, name: str) -> bool:
    """Take a user away; False when there is none of that name. A running bus has to be told: `reload_users`."""
    wanted = _user_name(name)
    with _alone(run_dir):
        users = read_tool_users(run_dir)
        left = tuple(user for user in users if user.name != wanted)
        if len(left) == len(users):
            return False
        write_atomic(run_dir / TOOLS_FILE, msgspec.json.encode(left))
    return True


def _user_name(name: str) -> str:
    """Give the user's full name: with a prefix that no service has, and safe inside a subject."""
    if not _NAME.fullmatch(name):
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{name} cannot be the name of a user of the bus",
            hint="use up to 40 letters, digits, - and _",
            name=name,
        )
    return name if name.startswith(PREFIX) else PREFIX + name


def _of_instance(user: ToolUser, instance: InstanceId) -> ToolUser:
    if user.instance != instance:
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{name} is the user for the instance {instance} already",
            hint="give another name, or revoke it first: kx bus revoke {name}",
            name=user.name,
            instance=user.instance,
        )
    return user


@contextmanager
def _alone(run_dir: Path) -> Iterator[None]:
    """Hold the lock of the file, so that two commands at once lose no user."""
    descriptor = os.open(run_dir / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
