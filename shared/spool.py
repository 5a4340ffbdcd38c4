"""Hand bytes too long for a message from one process of this machine to another: a private file, named in the message.

Whoever puts one there sends its name; whoever takes it reads and removes it. What nobody took is swept after an hour.
"""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

from shared.errors import ErrorCode, KxError
from shared.private_folder import ensure_private
from shared.settings import Settings

FOLDER = "spool"
KEPT_S = 3_600
_NAME_BYTES = 16
_DIGITS = frozenset("0123456789abcdef")


def put(settings: Settings, data: bytes) -> str:
    """Write the bytes where only this user can read them; the value names them."""
    folder = _folder(settings)
    _sweep(folder)
    name = secrets.token_hex(_NAME_BYTES)
    descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    return name


def take(settings: Settings, name: str, *, max_bytes: int) -> bytes:
    """Read and remove what was put there.

    Raises:
        KxError: BAD_REQUEST when the name names nothing, CONTENT_TOO_LARGE when there is more than `max_bytes`.
    """
    if len(name) != 2 * _NAME_BYTES or not _DIGITS.issuperset(name):
        raise _unknown(name)
    path = _folder(settings) / name
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise _unknown(name) from error
    with os.fdopen(descriptor, "rb") as file:
        path.unlink(missing_ok=True)
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise KxError(
            ErrorCode.CONTENT_TOO_LARGE,
            "the content is longer than {limit} bytes",
            hint="split it into smaller documents",
            limit=max_bytes,
        )
    return data


def _folder(settings: Settings) -> Path:
    folder = settings.run_dir / FOLDER
    ensure_private(folder, ours=lambda _: True)
    return folder


def _sweep(folder: Path) -> None:
    oldest = time.time() - KEPT_S
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # taken meanwhile
                if entry.stat(follow_symlinks=False).st_mtime < oldest:
                    Path(entry.path).unlink()


def _unknown(name: str) -> KxError:
    return KxError(
        ErrorCode.BAD_REQUEST,
        "nothing was handed over under the name {name}",
        hint="send the content again",
        name=name,
    )
