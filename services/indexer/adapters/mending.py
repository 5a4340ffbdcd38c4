"""Open an index that may be damaged: look, set aside once what is, begin anew; never touch a sound file.

Busy, read-only, full, foreign and newer are other errors and pass through: only a file that no SQLite can use as the
database it was is set aside.
"""

from __future__ import annotations

from pathlib import Path

import structlog
from msgspec import Struct
from structlog.typing import FilteringBoundLogger

from services.indexer.adapters.store import IndexStore
from services.indexer.core.versions import EpochVersions
from shared.errors import ErrorCode, KxError
from shared.index_files import clear, is_suspect, set_aside, wal_bytes
from shared.index_open import owner_without_log
from shared.registry import Project

_log: FilteringBoundLogger = structlog.get_logger()


class Opened(Struct, frozen=True):
    """A store, and where the damaged file is that stood in its place."""

    store: IndexStore
    aside: Path | None


def open_store(project: Project, versions: EpochVersions, *, ended_well: bool, has_failed: bool = False) -> Opened:
    """Open or create the index of a project; the caller holds its lock.

    The whole file is read where something speaks against it: it is not as the last writer left it, a log was left
    behind, or somebody met damage. With `has_failed` damage was met in use although the file looked sound before, and
    its looks count no more.

    Raises:
        KxError: as `open_writer`, but for INDEX_DAMAGED.
    """
    path = project.index_path
    is_doubtful = path.exists() and (not ended_well or wal_bytes(path) > 0 or is_suspect(path))
    if has_failed:
        return _open_anew(project, versions, "it failed in use")
    try:
        store = _open(project, versions, is_doubtful=is_doubtful)
    except KxError as error:
        has_foreign_log = error.code is ErrorCode.INDEX_FOREIGN and owner_without_log(path) == project.instance
        if error.code is not ErrorCode.INDEX_DAMAGED and not has_foreign_log:
            raise
        return _open_anew(project, versions, str(error))
    clear(path)
    return Opened(store, None)


def _open_anew(project: Project, versions: EpochVersions, reason: str) -> Opened:
    aside = set_aside(project.index_path)
    _log.warning("index.set_aside", instance=project.instance, reason=reason, aside=str(aside))
    return Opened(_open(project, versions, is_doubtful=False), aside)


def _open(project: Project, versions: EpochVersions, *, is_doubtful: bool) -> IndexStore:
    return IndexStore.open(
        project.index_path,
        project.instance,
        project=project.project,
        root=project.root,
        versions=versions,
        is_doubtful=is_doubtful,
    )
