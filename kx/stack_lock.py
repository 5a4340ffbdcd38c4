"""`up.lock`: one supervisor a home. The lock is the promise; the content only says whom to ask.

The file is never removed or replaced. Whoever starts a supervisor takes the lock first and hands it over with the open
file, so that of any number of starters exactly one starts.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import msgspec

from shared.errors import ErrorCode, KxError
from shared.process_identity import ProcessIdentity, is_running, own_identity

LOCK_FILE = "up.lock"


def try_hold(run_dir: Path) -> int | None:
    """Take the lock; the open file that holds it, None when another process has it."""
    descriptor = os.open(run_dir / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def hold(run_dir: Path) -> int:
    """Take the lock for this process.

    Raises:
        KxError: `KX_ALREADY_RUNNING`, naming who has it.
    """
    descriptor = try_hold(run_dir)
    if descriptor is None:
        raise already_running(run_dir)
    sign(descriptor)
    return descriptor


def adopt(descriptor: int) -> int:
    """Leave the starter and the terminal for good, with the lock it handed over; goes on in another process.

    Forked here, so that the starter collects its own child and leaves no dead one behind, however long it lives. It
    ends once the lock names the process that goes on.
    """
    os.set_inheritable(descriptor, False)
    ours, theirs = os.pipe()
    if os.fork() != 0:
        os.close(theirs)
        os.read(ours, 1)
        os._exit(0)
    os.close(ours)
    sign(descriptor)
    os.close(theirs)
    return descriptor


def sign(descriptor: int) -> None:
    """Write this process into the lock file it holds."""
    content = msgspec.json.encode(own_identity())
    os.pwrite(descriptor, content, 0)
    os.ftruncate(descriptor, len(content))


def holder(run_dir: Path) -> ProcessIdentity | None:
    """Give the supervisor that runs; None when there is none, or it is only just being started."""
    try:
        found = msgspec.json.decode((run_dir / LOCK_FILE).read_bytes(), type=ProcessIdentity)
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return None
    return found if is_running(found) else None


def already_running(run_dir: Path) -> KxError:
    """Make the error for a second supervisor."""
    found = holder(run_dir)
    return KxError(
        ErrorCode.ALREADY_RUNNING,
        "a stack of {home} already runs, supervised by process {pid}",
        hint="see how it is with: kx status; end it with: kx down",
        home=run_dir.parent,
        pid=found.pid if found is not None else "that is just starting",
    )
