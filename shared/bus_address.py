"""Where the bus listens and the credentials to it, as `kx serve bus` leaves them in a 0600 file."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from shared.errors import ErrorCode, KxError

BUS_FILE = "bus.json"


class BusAddress(Struct, frozen=True, kw_only=True):
    """One user's way to the bus."""

    port: int
    user: str
    password: str

    def __repr__(self) -> str:
        return f"BusAddress(port={self.port}, user={self.user!r})"  # never the password: reprs end in logs


class BusFile(Struct, frozen=True, kw_only=True):
    """Content of `bus.json`."""

    port: int
    pid: int
    passwords: dict[str, str]  # by user


def read_bus_file(run_dir: Path) -> BusFile | None:
    """Read what the last bus of this home wrote; None when there is nothing readable."""
    try:
        return msgspec.json.decode((run_dir / BUS_FILE).read_bytes(), type=BusFile)
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return None


def load_bus_address(run_dir: Path, user: str) -> BusAddress:
    """Find the running bus of this home.

    Raises:
        KxError: `KX_BUS_UNAVAILABLE` when no bus was started, or it does not know `user`.
    """
    found = read_bus_file(run_dir)
    if found is None:
        raise KxError(
            ErrorCode.BUS_UNAVAILABLE,
            "no bus is running: {file} is missing or unreadable",
            hint="start it with: kx serve bus",
            retryable=True,
            file=run_dir / BUS_FILE,
        )
    if user not in found.passwords:
        raise KxError(
            ErrorCode.BUS_UNAVAILABLE,
            "the bus has no user {user}",
            hint="the bus is of another version; restart it with: kx serve bus",
            retryable=True,
            user=user,
        )
    return BusAddress(port=found.port, user=user, password=found.passwords[user])
