"""The registry as it changes: which trees are to be followed."""

from __future__ import annotations

import time

from shared.registry import Project, Registry
from shared.settings import Settings

# Two changes within one tick of the file system's clock leave one time: so young a time proves nothing.
_YOUNG_NS = 2_000_000_000


class RegistryWatch:
    """Reads the registry when its folder changed; blocks."""

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.projects_dir
        self._registry = Registry(settings)
        self._seen_ns = -1

    def changed(self) -> tuple[Project, ...] | None:
        """Give all sound entries, those of derived trees too; None when they are the same as last time."""
        try:
            changed_ns = self._folder.stat().st_mtime_ns
        except OSError:
            changed_ns = 0
        if changed_ns == self._seen_ns:
            return None
        is_young = abs(time.time_ns() - changed_ns) < _YOUNG_NS
        self._seen_ns = -1 if is_young else changed_ns
        return self._registry.trees()
