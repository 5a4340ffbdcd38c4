"""A project's configuration as it stands now: read again when one of its files changed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from shared.project_config import KX_JSON, XINDEX_JSON, LoadedConfig, load_project_config
from shared.settings import Settings

Stamp = tuple[tuple[int, int, int, int] | None, ...]

# Editors that save by renaming the old file away leave none for an instant, and with it none of its denies.
VANISHED_S = 1.0
_LOOK_EVERY_S = 0.05


class ConfigWatch:
    """Give the configuration of one root; cheap enough to ask before every piece of work. Safe across threads."""

    def __init__(self, root: Path, settings: Settings, *, wait: Callable[[float], None] = time.sleep) -> None:
        self._root = root
        self._settings = settings
        self._wait = wait
        self._lock = threading.Lock()
        self._stamp: Stamp | None = None
        self._loaded: LoadedConfig | None = None

    def current(self) -> LoadedConfig:
        """Give what the files say now; blocks up to `VANISHED_S` when one is gone: it may be about to come back.

        Raises:
            KxError: CONFIG_* while a file is wrong; nothing older is used in its place, or a denylist could be lost.
        """
        with self._lock:
            stamp = self._settled()
            if self._loaded is None or stamp != self._stamp:
                self._loaded = None
                self._loaded = load_project_config(self._root, self._settings)
                self._stamp = stamp
            return self._loaded

    def _settled(self) -> Stamp:
        stamp = self._look()
        waited = 0.0
        while waited < VANISHED_S and self._has_lost(stamp) and self._root.is_dir():
            self._wait(_LOOK_EVERY_S)
            waited += _LOOK_EVERY_S
            stamp = self._look()
        return stamp

    def _look(self) -> Stamp:
        return tuple(_stamp(self._root / name) for name in (KX_JSON, XINDEX_JSON))

    def _has_lost(self, stamp: Stamp) -> bool:
        known = self._stamp or ()
        return any(before is not None and now is None for before, now in zip(known, stamp, strict=False))


def _stamp(path: Path) -> tuple[int, int, int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  # called before every message: half the cost of Path.stat
    except OSError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
