"""Find the project a path belongs to: walk up to a `.kx.json`, never past a border, never into another project.

Borders: the git top level and the home folder (both still looked at), another file system, and what another user owns.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from shared.config_file import is_trusted_owner
from shared.errors import ErrorCode, KxError
from shared.project_config import CONFIG_NAMES, KX_JSON
from shared.registry import Registry
from shared.settings import Settings

GIT = ".git"  # a folder, or the file of a worktree or submodule


class Found(Struct, frozen=True, kw_only=True):
    """The project of a path."""

    root: Path  # canonical
    config_path: Path | None  # `.kx.json`, else `.xindex.json`, else None
    adhoc: bool  # there is no `.kx.json`


def find_project(start: Path, registry: Registry, settings: Settings, *, explicit: bool) -> Found:
    """Give the project of `start`; a file belongs to the project of its folder.

    First the nearest configuration; then a registered root, `start` itself or the nearest above; then `start` where the
    user named it (`explicit`), else the git top level, else `start`.

    Raises:
        KxError: PATH_NOT_FOUND, NOT_A_DIRECTORY (neither folder nor file), PATH_DENIED (a derived tree of kx).
    """
    here = _folder_of(start)
    registry.refuse_own(here)
    chain = list(_upwards(here, Path(os.path.realpath(settings.user_home))))
    for folder in chain:
        name = _config_name(folder)
        if name is not None:
            return Found(root=folder, config_path=folder / name, adhoc=name != KX_JSON)
    return Found(root=_without_config(here, chain, registry, explicit=explicit), config_path=None, adhoc=True)


def _without_config(here: Path, chain: list[Path], registry: Registry, *, explicit: bool) -> Path:
    registered = {project.root for project in registry.projects()}
    above = next((folder for folder in chain if os.fsdecode(folder) in registered), None)
    if above is not None or explicit:
        return above or here
    return next((folder for folder in chain if _is_git_top(folder)), here)


def _folder_of(start: Path) -> Path:
    try:
        here = start.resolve(strict=True)
        if here.is_file():
            return here.parent
    except NotADirectoryError as error:
        raise _not_a_folder(start) from error
    except (OSError, RuntimeError, ValueError) as error:
        problem = getattr(error, "strerror", None) or error
        raise KxError(
            ErrorCode.PATH_NOT_FOUND,
            "{path} cannot be found: {problem}",
            hint="give a folder that exists, for example: kx index .",
            path=start,
            problem=problem,
        ) from error
    if not here.is_dir():
        raise _not_a_folder(start)
    return here


def _not_a_folder(path: Path) -> KxError:
    return KxError(
        ErrorCode.NOT_A_DIRECTORY,
        "{path} is not a folder",
        hint="give a folder, for example: kx index .",
        path=path,
    )


def _upwards(here: Path, user_home: Path) -> Iterator[Path]:
    """Yield `here` and the folders above it that may decide; the home folder only where it is `here` itself."""
    device = device_of(here.stat())
    for folder in (here, *here.parents):
        if folder != here:
            found = folder.stat()
            if device_of(found) != device or not is_trusted_owner(found) or folder == user_home:
                return
        yield folder
        if folder == user_home or _is_git_top(folder) or _has_foreign_config(folder):
            return
        if not is_trusted_owner(folder.stat()):
            return


def device_of(found: os.stat_result) -> int:
    """Give the file system something lies on."""
    return found.st_dev


def _is_git_top(folder: Path) -> bool:
    return os.path.lexists(folder / GIT)


def _config_name(folder: Path) -> str | None:
    """Give the name of the folder's configuration; one of another user is none."""
    if _has_foreign_config(folder):
        return None
    return next((name for name in CONFIG_NAMES if os.path.lexists(folder / name)), None)


def _has_foreign_config(folder: Path) -> bool:
    for name in CONFIG_NAMES:
        try:
            if not is_trusted_owner((folder / name).lstat()):
                return True
        except OSError:
            continue
    return False
