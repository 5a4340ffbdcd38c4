"""Where the running stack of a home is, and whether what `stack.json` says can be trusted.

The gateway writes the file once its socket listens and removes it when it stops in order. A dead process means no stack;
one that lives and does not answer is never taken for a dead one, because a second writer would follow.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

import msgspec
from msgspec import Struct

from shared.atomic_file import write_atomic
from shared.errors import ErrorCode, KxError
from shared.local_link import MAX_HELLO_BYTES, PROTOCOL, Hello, Welcome, line, parse_line, peer_uid
from shared.process_identity import ProcessIdentity, is_running

STACK_FILE = "stack.json"
ANSWER_S = 0.2  # to accept a connection: the kernel does it, however busy the process is
GREETING_S = 5.0  # to answer the greeting: a machine under load may need a while, and the process is known to live


class StackFile(Struct, frozen=True, kw_only=True):
    """Content of `stack.json`."""

    pid: int
    boot_id: str
    start_ticks: int
    protocol: int  # of the local socket
    socket: str  # its path
    bus_port: int

    @property
    def process(self) -> ProcessIdentity:
        """The gateway's process."""
        return ProcessIdentity(pid=self.pid, boot_id=self.boot_id, start_ticks=self.start_ticks)


def write_stack_file(run_dir: Path, stack: StackFile) -> None:
    """Say where the stack is; readable by its owner alone."""
    write_atomic(run_dir / STACK_FILE, msgspec.json.encode(stack))


def remove_stack_file(run_dir: Path, pid: int) -> None:
    """Take back what the process `pid` said; what another one said stays."""
    found = read_stack_file(run_dir)
    if found is not None and found.pid == pid:
        (run_dir / STACK_FILE).unlink(missing_ok=True)


def read_stack_file(run_dir: Path) -> StackFile | None:
    """Read what the last gateway said; None when there is nothing readable."""
    try:
        return msgspec.json.decode((run_dir / STACK_FILE).read_bytes(), type=StackFile)
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return None


def running_stack(run_dir: Path) -> StackFile | None:
    """Give the stack whose gateway lives; None when there is none. Whether it answers, `greet` tells.

    Raises:
        KxError: STACK_OUTDATED when it speaks another protocol.
    """
    found = read_stack_file(run_dir)
    if found is None or not is_running(found.process):
        return None
    if found.protocol != PROTOCOL:
        raise outdated(found.protocol)
    return found


def greet(stack: StackFile, hello: Hello) -> socket.socket:
    """Connect to a living stack and be welcomed; blocks, for `ANSWER_S` and `GREETING_S` at most.

    Raises:
        KxError: STACK_UNREACHABLE, STACK_OUTDATED, or what the gateway has against this greeting.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(ANSWER_S)
        connection.connect(stack.socket)
        _check_owner(connection, stack)
        connection.settimeout(GREETING_S)
        connection.sendall(line(hello))
        _check_welcome(_read_line(connection))
    except OSError as error:
        connection.close()
        raise unreachable(stack.pid) from error
    except BaseException:
        connection.close()
        raise
    connection.settimeout(None)
    return connection


def _check_owner(connection: socket.socket, stack: StackFile) -> None:
    if peer_uid(connection) != os.geteuid():
        raise unreachable(stack.pid)


def _read_line(connection: socket.socket) -> bytes:
    """Read the welcome; nothing follows it before we have sent more."""
    raw = b""
    while not raw.endswith(b"\n") and len(raw) < MAX_HELLO_BYTES:
        part = connection.recv(MAX_HELLO_BYTES)
        if not part:
            raise ConnectionResetError
        raw += part
    return raw


def _check_welcome(raw: bytes) -> None:
    welcome = parse_line(raw, Welcome)
    if welcome.kx != PROTOCOL:
        raise outdated(welcome.kx)
    if welcome.error is not None:
        raise KxError.from_details(welcome.error)


def unreachable(pid: int) -> KxError:
    """Make the error for a stack that lives and does not answer."""
    return KxError(
        ErrorCode.STACK_UNREACHABLE,
        "the running stack (process {pid}) does not answer on its socket",
        hint="try again in a moment; if it stays so, restart it: kx down, then kx up -d",
        retryable=True,
        pid=pid,
    )


def outdated(protocol: int) -> KxError:
    """Make the error for a stack of another version."""
    return KxError(
        ErrorCode.STACK_OUTDATED,
        "the running stack speaks version {found} of the local protocol, this kx version {known}",
        hint="restart the stack with this kx: kx down, then kx up -d",
        found=protocol,
        known=PROTOCOL,
    )
