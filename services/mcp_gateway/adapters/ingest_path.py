"""What an agent asks to have indexed, judged before anyone reads it: inside the root, and not denied."""

from __future__ import annotations

from pathlib import Path

from shared.deny import DenyList
from shared.errors import ErrorCode, KxError
from shared.pathgate import PathGate
from shared.project_config import LoadedConfig
from shared.relpath import RelPath


def admitted_path(root: Path, loaded: LoadedConfig, typed: str) -> RelPath:
    """Give the project's path of what was typed, links resolved; it need not exist. Blocks for some stats.

    Raises:
        KxError: PATH_OUTSIDE_ROOT, PATH_DENIED naming the pattern, ROOT_MISSING.
    """
    rel = PathGate(root).resolve(typed, root)
    pattern = DenyList(loaded.config.indexing.deny, loaded.allow_denied).denies(rel) if rel else None
    if pattern is not None:
        raise KxError(
            ErrorCode.PATH_DENIED,
            "{path} is denied by {pattern}",
            hint="it is never indexed nor shown; the project's owner decides that in indexing.deny of .kx.json",
            path=rel,
            pattern=pattern,
        )
    return rel
