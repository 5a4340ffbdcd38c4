"""The projects of this machine: one small JSON file for each instance (one tree) in `~/.kx/projects`.

The watcher and the stack serve what stands here; the command writes it. Files are replaced atomically and changes are
made under one lock, so any number of processes may enrol the same tree at once and get the same instance. A damaged
entry is named, never overwritten.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import NoReturn

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from shared.atomic_file import write_atomic
from shared.config_file import keys_of, parse_object, read_config, to_struct, unreadable
from shared.errors import ErrorCode, KxError
from shared.identity import INSTANCE_ID_BYTES, InstanceId, instance_id_from, is_instance_id
from shared.project_config import SPACE_PREFIX, LoadedConfig
from shared.relpath import decode_path, encode_path
from shared.settings import Settings, ensure_home

LOCK_NAME = ".lock"
_INSTANCE_DIGITS = 8  # of the instance, in the name of an index whose plain name is taken


class Project(Struct, frozen=True, kw_only=True):
    """One tree on this machine, a clone and a worktree are two."""

    instance: InstanceId
    root: str  # canonical absolute path, as `os.fsdecode` gives it; in the file as `shared.relpath` writes it
    device: int
    inode: int
    project: str
    index: str  # absolute path of the index file
    project_id: str | None = None

    @property
    def root_path(self) -> Path:
        """The root as a path."""
        return Path(self.root)

    @property
    def index_path(self) -> Path:
        """The index file as a path."""
        return Path(self.index)


class Registry:
    """Reads and edits the entries of one home; holds nothing in memory, so it is never out of date."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folder = settings.projects_dir

    def projects(self) -> tuple[Project, ...]:
        """Give every sound entry of the user's own trees, ordered by root; what is damaged is told by `damaged`."""
        return tuple(project for project in self.trees() if not self.is_space(project))

    def trees(self) -> tuple[Project, ...]:
        """Give every sound entry, those of knowledge spaces and memories too, ordered by root."""
        found = [entry for entry in self._entries() if isinstance(entry, Project)]
        return tuple(sorted(found, key=lambda project: (project.root, project.instance)))

    def is_space(self, project: Project) -> bool:
        """Tell a tree that `knowledge` writes and alone may show."""
        return self._is_own(project.root_path)

    def damaged(self) -> tuple[KxError, ...]:
        """Give one error for each entry that cannot be read; each names its file."""
        return tuple(entry for entry in self._entries() if isinstance(entry, KxError))

    def get(self, instance: str) -> Project:
        """Give one entry of the user's own trees.

        Raises:
            KxError: PROJECT_UNKNOWN, or what is wrong with its file.
        """
        project = self.tree(instance)
        if self.is_space(project):
            raise unknown_project(instance)
        return project

    def tree(self, instance: str) -> Project:
        """Give one entry, also that of a derived tree; raises as `get` does."""
        project = self._read(instance) if is_instance_id(instance) else None
        if project is None:
            raise unknown_project(instance)
        return project

    def find(self, root: Path, loaded: LoadedConfig | None = None) -> Project | None:
        """Give the entry of a root, None if there is none.

        With the root's configuration also the entry of the same project whose tree was moved here (the same folder by
        device and inode, the old place empty), then with the new root.
        """
        here = canonical_root(root)
        projects = self.trees()
        exact = next((project for project in projects if project.root == os.fsdecode(here)), None)
        if exact is not None or loaded is None:
            return exact
        moved = (p for p in projects if _same_project(p, loaded) and _has_moved_to(p, here))
        return next((_at(project, here) for project in moved), None)

    def enrol(self, root: Path, loaded: LoadedConfig, *, index: Path | None = None) -> Project:
        """Give the entry of a root, made on first use and brought up to date when it was moved or renamed.

        `index` is a place the user gave by a flag; it goes before the configuration. The index of a known root stays
        where it is.

        Raises:
            KxError: INDEX_FOREIGN when an explicit index is another instance's; what is wrong with a damaged entry when
                the root is not among the sound ones (it may be that one); PATH_DENIED for a derived tree.
        """
        self.refuse_own(root)
        return self._enrol(canonical_root(root), loaded, index)

    def enrol_space(self, root: Path, loaded: LoadedConfig) -> Project:
        """Give the entry of a derived tree, made on first use; it is among `trees` and no project."""
        return self._enrol(canonical_root(root), loaded, None)

    def refuse_own(self, root: Path) -> None:
        """Refuse a root among the derived trees: what a role may see there, only `knowledge` knows.

        Raises:
            KxError: PATH_DENIED; PATH_NOT_FOUND, NOT_A_DIRECTORY.
        """
        here = canonical_root(root)
        if self._is_own(here):
            raise KxError(
                ErrorCode.PATH_DENIED,
                "{path} is kept by kx itself and can be no project",
                hint="search what is written down with: kx kb search",
                path=here,
            )

    def _enrol(self, here: Path, loaded: LoadedConfig, index: Path | None) -> Project:
        with self._locked():
            known = self.find(here, loaded)
            if known is not None:
                return self._write(_described(_at(known, here), loaded))
            for error in self.damaged():
                raise error
            instance = instance_id_from(os.urandom(INSTANCE_ID_BYTES))
            place = self._index_for(instance, here, loaded, index or loaded.index)
            return self._write(_described(_new(instance, here, place), loaded))

    def refresh(self, project: Project, loaded: LoadedConfig) -> Project:
        """Record a changed project name or id; instance and index stay."""
        with self._locked():
            return self._write(_described(self.get(project.instance), loaded))

    def add(self, root: Path, loaded: LoadedConfig, *, index: Path | None = None) -> Project:
        """Register a root that is not yet registered.

        Raises:
            KxError: PROJECT_EXISTS, and those of `enrol`.
        """
        known = self.find(root)
        if known is not None:
            raise KxError(
                ErrorCode.PROJECT_EXISTS,
                "{root} is registered as {instance}",
                hint="see it with: kx project list",
                root=known.root,
                instance=known.instance,
            )
        return self.enrol(root, loaded, index=index)

    def remove(self, instance: str) -> None:
        """Forget an instance, also a damaged entry; its index file stays.

        Raises:
            KxError: PROJECT_UNKNOWN.
        """
        with self._locked():
            if not is_instance_id(instance) or not self._path(instance).exists():
                self.get(instance)
            self._path(instance).unlink()

    def move(self, instance: str, root: Path) -> Project:
        """Record that the tree of an instance now lies at `root`.

        Raises:
            KxError: PROJECT_UNKNOWN, PROJECT_EXISTS (another instance lies there), NOT_A_DIRECTORY, PATH_DENIED.
        """
        self.refuse_own(root)
        here = canonical_root(root)
        with self._locked():
            other = next((p for p in self.trees() if p.root == os.fsdecode(here)), None)
            if other is not None and other.instance != instance:
                raise KxError(
                    ErrorCode.PROJECT_EXISTS,
                    "{root} is registered as {instance}",
                    hint="forget that one first with: kx project remove {instance}",
                    root=other.root,
                    instance=other.instance,
                )
            return self._write(_at(self.get(instance), here))

    def _is_own(self, root: Path) -> bool:
        return root.is_relative_to(os.path.realpath(self._settings.spaces_dir))

    # --- one entry ----------------------------------------------------------------------------------------------------

    def _entries(self) -> Iterator[Project | KxError]:
        try:
            names = sorted(os.listdir(self._folder))  # noqa: PTH208 - names, not paths
        except FileNotFoundError:
            return
        except OSError as error:
            raise unreadable(self._folder, error.strerror or str(error)) from error
        for name in names:
            if not name.endswith(".json") or not is_instance_id(name.removesuffix(".json")):
                continue
            try:
                project = self._read(name.removesuffix(".json"))
            except KxError as error:
                yield error
            else:
                if project is not None:  # removed since the listing
                    yield project

    def _read(self, instance: str) -> Project | None:
        path = self._path(instance)
        try:
            raw = read_config(path)
            if raw is None:
                return None
            project = _parsed(raw, path)
        except (KxError, ValueError) as error:
            _refuse_damaged(path, instance, error)
        if project.instance != instance or not project.root.startswith("/") or not project.index.startswith("/"):
            _refuse_damaged(path, instance, ValueError("it is not the entry its name says"))
        return project

    def _write(self, project: Project) -> Project:
        path = self._path(project.instance)
        stored = replace(
            project, root=encode_path(os.fsencode(project.root)), index=encode_path(os.fsencode(project.index))
        )
        fields = {name: item for name, item in msgspec.to_builtins(stored).items() if item is not None}
        data = msgspec.json.format(msgspec.json.encode(fields), indent=2) + b"\n"
        if not path.exists() or path.read_bytes() != data:
            write_atomic(path, data)
        return project

    def _path(self, instance: str) -> Path:
        return self._folder / f"{instance}.json"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        ensure_home(self._settings)
        try:
            with (self._folder / LOCK_NAME).open("ab") as file:
                fcntl.flock(file, fcntl.LOCK_EX)  # released by closing, also when the process dies
                yield
        except OSError as error:  # a read-only disk, a folder that was made someone else's
            raise unreadable(Path(error.filename or self._folder), error.strerror or str(error)) from error

    # --- the index file -----------------------------------------------------------------------------------------------

    def _index_for(self, instance: InstanceId, root: Path, loaded: LoadedConfig, explicit: Path | None) -> Path:
        taken = {_folded(Path(project.index)): project for project in self.trees()}
        if explicit is not None:
            owner = taken.get(_folded(explicit))
            if owner is not None:
                raise KxError(
                    ErrorCode.INDEX_FOREIGN,
                    "the index {index} belongs to {root}",
                    hint="remove the key index from .kx.json, then each tree gets an index of its own",
                    index=explicit,
                    root=owner.root,
                )
            return explicit
        name = loaded.config.project
        plain = self._settings.data_dir / f"{name}.sqlite"
        # A file nobody claims is the index of a forgotten instance: opening it would fail as foreign.
        is_taken = name.startswith(SPACE_PREFIX) and not self._is_own(root)
        if is_taken or _folded(plain) in taken or plain.exists():
            return self._settings.data_dir / f"{name}-{instance[:_INSTANCE_DIGITS]}.sqlite"
        return plain


def unknown_project(instance: str) -> KxError:
    """Make the error of an instance that is none, or none of the user's."""
    return KxError(
        ErrorCode.PROJECT_UNKNOWN,
        "no project {instance} is registered",
        hint="see the registered ones with: kx project list",
        instance=instance,
    )


def canonical_root(root: Path) -> Path:
    """Give the one spelling of a root: absolute, without links.

    Raises:
        KxError: PATH_NOT_FOUND, NOT_A_DIRECTORY.
    """
    try:
        here = root.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise KxError(
            ErrorCode.PATH_NOT_FOUND,
            "{path} cannot be found: {problem}",
            hint="give a folder that exists",
            path=root,
            problem=getattr(error, "strerror", None) or error,
        ) from error
    if not here.is_dir():
        raise KxError(
            ErrorCode.NOT_A_DIRECTORY,
            "{path} is not a folder",
            hint="give the folder it lies in: {parent}",
            path=root,
            parent=here.parent,
        )
    return here


def _new(instance: InstanceId, root: Path, index: Path) -> Project:
    return _at(
        Project(instance=instance, root="", device=0, inode=0, project="", index=os.fsdecode(index)),
        root,
    )


def _at(project: Project, root: Path) -> Project:
    found = root.stat()
    return replace(project, root=os.fsdecode(root), device=found.st_dev, inode=found.st_ino)


def _described(project: Project, loaded: LoadedConfig) -> Project:
    return replace(project, project=loaded.config.project, project_id=loaded.config.mcp.project_id)


def _same_project(project: Project, loaded: LoadedConfig) -> bool:
    """Guard the guess that a tree was moved: an inode is used again once its folder is deleted."""
    return (project.project, project.project_id) == (loaded.config.project, loaded.config.mcp.project_id)


def _has_moved_to(project: Project, root: Path) -> bool:
    found = root.stat()
    return (project.device, project.inode) == (found.st_dev, found.st_ino) and not os.path.lexists(project.root)


def _folded(path: Path) -> str:
    """Compare index files as a file system without case does; elsewhere it only makes a name longer."""
    return os.path.realpath(path).casefold()


@lru_cache(maxsize=256)
def _parsed(raw: bytes, path: Path) -> Project:
    """Parse an entry; each question reads its entry anew, and parsing the same bytes again would cost ten times that."""
    project = to_struct(parse_object(raw, path, keys_of(Project)), Project, path)
    return replace(project, root=_decoded(project.root), index=_decoded(project.index))


def _decoded(stored: str) -> str:
    return os.fsdecode(decode_path(stored))


def _refuse_damaged(path: Path, instance: str, cause: Exception) -> NoReturn:
    raise KxError(
        ErrorCode.CONFIG_INVALID,
        "the registry entry {file} is damaged: {problem}",
        hint="mend it, or forget it with: kx project remove {instance}",
        file=path,
        problem=cause,
        instance=instance,
    ) from cause
