"""A project's configuration as it stands now: read again when one of its files changed."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from shared.project_config import KX_JSON, XINDEX_JSON, LoadedConfig, load_project_config
from shared.settings import Settings

Stamp = tuple[tuple[int, int, int, int] | None, ...]


class ConfigWatch:
    """Give the configuration of one root; cheap enough to ask before every piece of work. Safe across threads."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self._root = root
        self._settings = settings
        self._lock = threading.Lock()
        self._stamp: Stamp | None = None
        self._loaded: LoadedConfig | None = None

    def current(self) -> LoadedConfig:
        """Give what the files say now.

        Raises:
            KxError: CONFIG_* while a file is wrong; nothing older is used in its place, or a denylist could be lost.
        """
        with self._lock:
            stamp = tuple(_stamp(self._root / name) for name in (KX_JSON, XINDEX_JSON))
            if self._loaded is None or stamp != self._stamp:
                self._loaded = None
                self._loaded = load_project_config(self._root, self._settings)
                self._stamp = stamp
            return self._loaded


def _stamp(path: Path) -> tuple[int, int, int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  # called before every message: half the cost of Path.stat
    except OSError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
