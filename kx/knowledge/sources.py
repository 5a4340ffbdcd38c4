"""The files a person wants imported: what lies below the paths given, what is refused, and the bytes of each."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from kx.knowledge.front_matter import EXPORTED, MAX_HEAD_BYTES
from shared.deny import DenyList
from shared.errors import ErrorCode, KxError
from shared.exclusions import excluded_folder
from shared.knowledge_upkeep_messages import KnowledgeLimits
from shared.relpath import encode_path

Refusal = Literal["denied", "kind", "link", "unreadable"]


class Source(Struct, frozen=True, kw_only=True):
    """A file to import, or one that is not taken and why."""

    path: Path
    is_named: bool  # given by itself, not met in a folder
    refusal: Refusal | None = None
    detail: str = ""  # the pattern that denies it, or what the system said


def sources(paths: tuple[Path, ...], limits: KnowledgeLimits) -> Iterator[Source]:
    """Give the files of the paths, each once: those named by themselves, then those of folders in order of their names.

    In a folder other kinds of files, links, version control and build output are left out; a file given by its own name
    is left to the service to judge, unless it is denied.

    Raises:
        KxError: PATH_NOT_FOUND for a path that is not there.
    """
    kinds = (*limits.text_suffixes, *limits.document_suffixes)
    walk, seen = _Walk(kinds), set[Path]()
    for place in sorted(map(_existing, paths), key=Path.is_dir):
        for source in walk.folder(place) if place.is_dir() else (walk.file(place, is_named=True),):
            if source.path not in seen:
                seen.add(source.path)
                yield source


def read_source(path: Path, limits: KnowledgeLimits) -> bytes:
    """Read a file whole, if it is no longer than its kind may be.

    Raises:
        KxError: CONTENT_TOO_LARGE; BAD_REQUEST when it is no file any more or cannot be read.
    """
    suffix = path.suffix.lower()
    told = limits.max_document_bytes if suffix in limits.document_suffixes else limits.max_text_bytes
    # An exported item has its front matter besides; the service measures the text itself.
    most = told + MAX_HEAD_BYTES if suffix == EXPORTED else told
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _unreadable(path, "it is no file")
            data = file.read(most + 1)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    if len(data) > most:
        raise KxError(
            ErrorCode.CONTENT_TOO_LARGE,
            "the content is longer than {limit} bytes",
            hint="split it into smaller documents",
            limit=told,
        )
    return data


def denied_by(path: Path, deny: DenyList) -> str | None:
    """Give the default pattern that denies a path, taken from any folder above it; None if nothing does."""
    parts = encode_path(os.fsencode(path)).strip("/").split("/")
    found = (deny.denies("/".join(parts[at:])) for at in range(len(parts)))
    return next((pattern for pattern in found if pattern), None)


class _Walk:
    def __init__(self, kinds: tuple[str, ...]) -> None:
        self._deny = DenyList()
        self._kinds = kinds

    def folder(self, folder: Path) -> Iterator[Source]:
        pattern = denied_by(folder, self._deny)
        if pattern is not None:
            yield Source(path=folder, is_named=True, refusal="denied", detail=pattern)
            return
        try:
            with os.scandir(folder) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError as error:
            yield Source(path=folder, is_named=False, refusal="unreadable", detail=error.strerror or str(error))
            return
        for entry in entries:
            if entry.is_symlink():
                yield Source(path=Path(entry.path), is_named=False, refusal="link")
            elif entry.is_file():
                yield self.file(Path(entry.path), is_named=False)
            elif entry.is_dir() and not _is_left_out(Path(entry.path)):
                yield from self.folder(Path(entry.path))

    def file(self, path: Path, *, is_named: bool) -> Source:
        pattern = denied_by(path, self._deny)
        if pattern is not None:
            return Source(path=path, is_named=is_named, refusal="denied", detail=pattern)
        if not is_named and not path.name.lower().endswith(self._kinds):
            return Source(path=path, is_named=False, refusal="kind")
        return Source(path=path, is_named=is_named)


def _is_left_out(folder: Path) -> bool:
    def inside(name: str) -> bool:
        return os.path.lexists(folder / name)

    def beside(name: str) -> bool:
        return os.path.lexists(folder.parent / name)

    return excluded_folder(folder.name, inside, beside) is not None


def _existing(given: Path) -> Path:
    place = given.expanduser().resolve()
    if not os.path.lexists(place):
        raise KxError(
            ErrorCode.PATH_NOT_FOUND,
            "there is no {path}",
            hint="name files or folders that are there",
            path=given,
        )
    return place


def _unreadable(path: Path, problem: str) -> KxError:
    return KxError(
        ErrorCode.BAD_REQUEST,
        "{path} cannot be read: {problem}",
        hint="look at its permissions, then import it again",
        path=path,
        problem=problem,
    )
