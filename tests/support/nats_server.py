"""A real bus for tests: `kx serve bus` in a child process, in a folder of its own, on a free port."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nats.aio.client import Client

from shared.bus_address import BusAddress, load_bus_address, read_bus_file
from shared.bus_config import HOST

START_TIMEOUT_S = 10
ROOT = Path(__file__).resolve().parents[2]
_SERVE = "import sys; from pathlib import Path; from kx.bus_server import serve_bus; serve_bus(Path(sys.argv[1]))"


class NatsServer:
    """The bus of one folder; it can be killed and started again."""

    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server; it may not listen yet."""
        self.process = subprocess.Popen(
            [sys.executable, "-c", _SERVE, str(self.run_dir)], cwd=ROOT, stderr=subprocess.DEVNULL
        )

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def address(self, user: str) -> BusAddress:
        """Say where the bus is for `user`, as the services learn it."""
        return load_bus_address(self.run_dir, user)

    def wait_listening(self) -> None:
        """Return once the server of the last start accepts connections."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._listens():
            if time.monotonic() > deadline:
                raise TimeoutError("the bus did not come up")
            time.sleep(0.01)

    def _listens(self) -> bool:
        found = read_bus_file(self.run_dir)
        if found is None or self.process is None or found.pid != self.process.pid:
            return False
        with socket.socket() as probe:
            return probe.connect_ex((HOST, found.port)) == 0


@contextmanager
def running_nats_server(run_dir: Path) -> Iterator[NatsServer]:
    """Run a server while entered; it listens."""
    server = NatsServer(run_dir)
    server.start()
    try:
        server.wait_listening()
        yield server
    finally:
        server.kill()


async def raw_client(address: BusAddress, *, inbox_prefix: str = "") -> Client:
    """Connect any program's client with these credentials; the caller closes it.

    Refused, it raises an error of nats-py or an `OSError`, as the server's answer or its hanging up comes first.
    """

    async def ignore(_: Exception) -> None:
        return

    client = Client()
    try:
        await client.connect(
            f"nats://{HOST}:{address.port}",
            user=address.user,
            password=address.password,
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            inbox_prefix=inbox_prefix or f"_INBOX_{address.user}",
            error_cb=ignore,
        )
    except BaseException:
        await client.close()
        raise
    return client


def listening_addresses(pid: int) -> set[str]:
    """Give the local addresses on which a process listens (Linux: from /proc), as hexadecimal text."""
    inodes = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        target = str(entry.readlink())
        if target.startswith("socket:["):
            inodes.add(target[len("socket:[") : -1])
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == "0A" and columns[9] in inodes:
                found.add(columns[1].rpartition(":")[0])
    return found
