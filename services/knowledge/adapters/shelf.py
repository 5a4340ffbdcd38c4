"""The derived trees: one folder a tree below `~/.kx/spaces`, its files, its entry in the registry.

Whatever lies there was written from a database and can be written again; nothing else writes. Everything here blocks.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from services.knowledge.core.places import FOLDER
from shared.atomic_file import write_atomic
from shared.index_files import COMPANIONS, beside
from shared.private_folder import ensure_private
from shared.project_config import KX_JSON, SPACE_PREFIX, load_project_config
from shared.registry import Project, Registry
from shared.settings import Settings, ensure_home

CACHE_TAG = "CACHEDIR.TAG"  # tells backups, and a walk of the home folder, to leave all of it out
_TAG_TEXT = b"Signature: 8a477f597d28d172789f06886806bc55\n# Derived by kx from its databases; safe to delete.\n"
_ERASING = ".erase"  # folders of which the index has to lose every trace
_BEHIND = ".behind"  # there while the index may not have seen a change


class Wanted(Struct, frozen=True, kw_only=True):
    """A file as it has to be."""

    size: int  # bytes
    digest: str  # sha256, hexadecimal
    key: str  # by which its owner knows the content


class Shelf:
    """All derived trees of one home; not to be used from two threads at once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._registry = Registry(settings)
        self._known: dict[str, Project] = {}

    def names(self) -> tuple[str, ...]:
        """Name the trees that are there."""
        with suppress(OSError):
            return tuple(sorted(one.name for one in self._settings.spaces_dir.iterdir() if one.is_dir()))
        return ()

    def find(self, tree: str) -> Project | None:
        """Give the registry's entry of a tree that is there."""
        root = self._root(tree)
        if tree in self._known and root.is_dir():
            return self._known[tree]
        return self._registry.find(root) if root.is_dir() else None

    def enrol(self, tree: str) -> Project:
        """Make a tree and its entry, both on first use."""
        known = self._known.get(tree)
        root = self._root(tree)
        if known is not None and (root / KX_JSON).exists():
            return known
        ensure_home(self._settings)
        _write_if_other(self._settings.spaces_dir / CACHE_TAG, _TAG_TEXT)
        for folder in (root, root / FOLDER):
            ensure_private(folder, ours=lambda _: True)
        _write_if_other(root / KX_JSON, _configuration(tree))
        found = self._registry.enrol_space(root, load_project_config(root, self._settings))
        self._known[tree] = found
        return found

    def files(self, tree: str) -> dict[str, int]:
        """Give the size of every file of a tree, by its path."""
        root = self._root(tree)
        found = {}
        for folder, _, names in os.walk(root / FOLDER):
            for name in names:
                path = Path(folder, name)
                found[path.relative_to(root).as_posix()] = path.lstat().st_size
        return found

    def is_altered(self, tree: str, path: str, wanted: Wanted) -> bool:
        """Tell whether somebody else changed a file."""
        try:
            return hashlib.sha256((self._root(tree) / path).read_bytes()).hexdigest() != wanted.digest
        except OSError:
            return True

    def write(self, tree: str, path: str, content: bytes) -> None:
        """Write a file, at once and readable by its user alone.

        Raises:
            KxError: DISK_FULL.
        """
        target = self._root(tree) / path
        _make_folders(target.parent)
        write_atomic(target, content)

    def remove(self, tree: str, paths: Iterable[str]) -> None:
        """Remove files, and the folders that are empty then."""
        stop = self._root(tree) / FOLDER
        for path in paths:
            target = self._root(tree) / path
            target.unlink(missing_ok=True)
            folder = target.parent
            with suppress(OSError):
                while folder not in (stop, stop.parent):
                    folder.rmdir()
                    folder = folder.parent

    def drop(self, tree: str) -> None:
        """Remove a tree whose owner is no more, its index and its entry."""
        project = self.find(tree)
        shutil.rmtree(self._root(tree), ignore_errors=True)
        self._known.pop(tree, None)
        if project is not None:
            self._registry.remove(project.instance)
            for suffix in (*COMPANIONS, ".lock", ".suspect", ""):
                beside(project.index_path, suffix).unlink(missing_ok=True)

    # --- what the index has to forget ---------------------------------------------------------------------------------

    def erasing(self, tree: str) -> tuple[str, ...]:
        """Name the folders of which traces may be left in the index."""
        with suppress(OSError, msgspec.MsgspecError):
            return msgspec.json.decode((self._root(tree) / _ERASING).read_bytes(), type=tuple[str, ...])
        return ()

    def set_erasing(self, tree: str, folders: Iterable[str]) -> None:
        """Remember them; none means that every trace is gone."""
        named = sorted(set(folders))
        path = self._root(tree) / _ERASING
        if named:
            write_atomic(path, msgspec.json.encode(named))
        else:
            path.unlink(missing_ok=True)

    def is_behind(self, tree: str) -> bool:
        """Tell whether the index may be behind the files, or is not there."""
        project = self.find(tree)
        return project is None or not project.index_path.exists() or (self._root(tree) / _BEHIND).exists()

    def set_behind(self, tree: str, *, is_behind: bool) -> None:
        """Remember whether it may be; before files change, and once the index has seen them."""
        path = self._root(tree) / _BEHIND
        if not is_behind:
            path.unlink(missing_ok=True)
        elif not path.exists():
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))

    def residue(self, tree: str, markers: Iterable[bytes]) -> int:
        """Count the files of a tree and of its index in which one of these bytes stands."""
        project = self.find(tree)
        found = [self._root(tree) / path for path in self.files(tree)]
        if project is not None:
            found += [beside(project.index_path, suffix) for suffix in ("", *COMPANIONS)]
        wanted = [marker for marker in markers if marker]
        return sum(_holds_any(path, wanted) for path in found)

    def _root(self, tree: str) -> Path:
        return self._settings.spaces_dir / tree


def changes(there: Mapping[str, int], wanted: Mapping[str, Wanted]) -> tuple[list[str], list[str]]:
    """Say which files are to be written and which removed for a tree to be as wanted, by name and size."""
    write = [path for path, one in wanted.items() if there.get(path) != one.size]
    return write, [path for path in there if path not in wanted]


def _configuration(tree: str) -> bytes:
    """Give a configuration that takes every file of the tree and ranks by nothing but the texts."""
    value = {"project": SPACE_PREFIX + tree, "sources": [{"path": FOLDER}], "search": {"recency": False}}
    return msgspec.json.encode(value) + b"\n"


def _write_if_other(path: Path, data: bytes) -> None:
    with suppress(FileNotFoundError):
        if path.read_bytes() == data:
            return
    write_atomic(path, data)


def _make_folders(folder: Path) -> None:
    if not folder.is_dir():
        _make_folders(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)


def _holds_any(path: Path, markers: list[bytes]) -> bool:
    try:
        data = path.read_bytes()
    except OSError:
        return False
    return any(marker in data for marker in markers)
