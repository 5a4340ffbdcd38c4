"""The local socket: one per home, owned by this process, open to this user alone.

Who connects greets with one line and is then served by role. A socket file whose owner has gone is replaced; the lock
beside it is what tells, because a file cannot.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import structlog
from anyio import to_thread
from anyio.abc import TaskGroup
from structlog.typing import FilteringBoundLogger

from shared import logs
from shared.errors import ErrorCode, KxError
from shared.local_link import MAX_HELLO_BYTES, PROTOCOL, Hello, Welcome, line, parse_line, peer_uid
from shared.local_stream import LocalStream

PAUSE_S = 0.1
HELLO_S = 5.0  # who connects and says nothing is let go
BACKLOG = 128
_PRIVATE = 0o700

Serve = Callable[[], Awaitable[None]]
Prepare = Callable[[Hello, LocalStream], Awaitable[Serve]]  # may refuse with a KxError before the welcome

_log: FilteringBoundLogger = structlog.get_logger()


@asynccontextmanager
async def listening(path: Path, prepare: Prepare) -> AsyncIterator[None]:
    """Serve whoever greets on the socket at `path` while entered; leaving cuts every connection.

    Raises:
        KxError: ALREADY_RUNNING when another process owns the socket, CONFIG_NOT_TRUSTED when its folder is not ours.
    """
    with _owned(path), await to_thread.run_sync(_bound, path) as listener:
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_accept, listener, prepare, tasks)
                yield
                tasks.cancel_scope.cancel()
        finally:
            path.unlink(missing_ok=True)  # noqa: ASYNC240 - one call to the kernel, at the end


async def _accept(listener: socket.socket, prepare: Prepare, tasks: TaskGroup) -> None:
    while True:
        await anyio.wait_readable(listener)
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            continue
        except OSError as error:  # no descriptor left, or the client has gone already
            _log.warning("connection.failed", error_type=type(error).__name__)
            await anyio.sleep(PAUSE_S)
            continue
        tasks.start_soon(_guarded, LocalStream(connection), prepare)


async def _guarded(stream: LocalStream, prepare: Prepare) -> None:
    try:
        async with stream:
            await _serve(stream, prepare)
    except Exception as failure:  # noqa: BLE001 - one connection's own door: the others go on
        _log.error("connection.failed", **logs.error_fields(failure))


async def _serve(stream: LocalStream, prepare: Prepare) -> None:
    if peer_uid(stream.connection) != os.geteuid():
        _log.warning("connection.refused", reason="another user")
        return
    try:
        hello = await _greeted(stream)
        if hello is None:
            return  # a probe: somebody looks whether the socket is there
        serve = await prepare(hello, stream)
    except KxError as error:
        await stream.send(line(Welcome(kx=PROTOCOL, ok=False, error=error.details())))
        return
    if await stream.send(line(Welcome(kx=PROTOCOL, ok=True))):
        await serve()


async def _greeted(stream: LocalStream) -> Hello | None:
    """Read the first line byte by byte to its end: what follows belongs to whoever serves."""
    raw = bytearray()
    with anyio.move_on_after(HELLO_S):
        while not raw.endswith(b"\n") and len(raw) < MAX_HELLO_BYTES:
            byte = await stream.receive(1)
            if not byte:
                return None
            raw += byte
    hello = parse_line(bytes(raw), Hello)
    if hello.kx != PROTOCOL:
        raise KxError(
            ErrorCode.STACK_OUTDATED,
            "the running stack speaks version {found} of the local protocol, this kx version {known}",
            hint="restart the stack with this kx: kx down, then kx up -d",
            found=PROTOCOL,
            known=hello.kx,
        )
    return hello


@contextmanager
def _owned(path: Path) -> Iterator[None]:
    """Hold the lock that makes this process the one owner of the socket."""
    _ensure_private(path.parent)
    descriptor = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise KxError(
                ErrorCode.ALREADY_RUNNING,
                "another gateway already listens on {socket}",
                hint="stop it first with: kx down",
                socket=path,
            ) from error
        yield
    finally:
        os.close(descriptor)


def _bound(path: Path) -> socket.socket:
    path.unlink(missing_ok=True)  # of an owner that has gone: we hold the lock
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(os.fsencode(path))
        path.chmod(0o600)
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener


def _ensure_private(folder: Path) -> None:
    folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    found = folder.stat()
    if found.st_uid != os.geteuid():
        raise KxError(
            ErrorCode.CONFIG_NOT_TRUSTED,
            "{folder} cannot hold the local socket: it belongs to another user",
            hint="set KX_HOME to a folder of your own",
            folder=folder,
        )
    if found.st_mode & 0o077:
        folder.chmod(_PRIVATE)
