"""What setup has changed on this machine, so that it can be taken back: a small file for each change, in kx's folder.

Only kx's own lines are kept, never a copy of the file they stand in: other servers' keys may be there.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from kx.setup.splice import Splice
from shared.atomic_file import write_atomic
from shared.private_folder import ensure_private
from shared.settings import Settings, ensure_home

What = Literal["configuration", "claude", "codex", "cursor", "login"]


class Record(Struct, frozen=True, kw_only=True):
    """One change of one file."""

    what: What
    path: str
    root: str  # of the project it was made for; empty where it was made for none
    name: str = ""  # of the entry
    created: bool  # the file was not there before
    folders: tuple[str, ...] = ()  # made for it, outermost first
    splice: Splice
    digest: str  # of the whole file when it was written


class Records:
    """The records of one home."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folder = settings.home / "setup"

    def all(self) -> list[Record]:
        """Give every record that can be read, oldest path first."""
        found = []
        for path in sorted(self._folder.glob("*.json")):
            try:
                found.append(msgspec.json.decode(path.read_bytes(), type=Record))
            except (OSError, msgspec.MsgspecError):
                continue  # without its record a change is only harder to take back
        return found

    def of(self, what: What, path: Path, root: str | None = None) -> Record | None:
        """Give the record of a file, for one project or (None) for any."""
        return next(
            (one for one in self.all() if one.what == what and one.path == str(path) and root in (None, one.root)), None
        )

    def keep(self, record: Record) -> None:
        """Write a record; one of the same change is replaced."""
        ensure_home(self._settings)
        ensure_private(self._folder, ours=lambda _: True)
        write_atomic(self._path(record), msgspec.json.encode(record))

    def forget(self, record: Record) -> None:
        """Remove a record, and the folder with the last one."""
        self._path(record).unlink(missing_ok=True)
        if self._folder.is_dir() and not any(self._folder.iterdir()):
            self._folder.rmdir()

    def _path(self, record: Record) -> Path:
        key = f"{record.what}\0{record.path}\0{record.root}"
        return self._folder / f"{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}.json"


def digest_of(text: str) -> str:
    """Give the fingerprint of a file's text."""
    return hashlib.sha256(text.encode()).hexdigest()
