"""Ignore files: gitignore patterns, judged as git judges them (pure).

One `IgnoreFile` is one list of patterns with the directory it stands in. How the lists of several directories combine,
and that nothing comes back below an excluded directory, is the business of `shared/treerules.py`.

Git compares bytes: "?" is one byte. So paths and patterns meet here as latin-1 text, one character a byte ("byte text").
"""

from __future__ import annotations

import string
from functools import lru_cache

from msgspec import Struct

from shared.globs import GlobSet, parse_line
from shared.relpath import decode_path

UTF8_BOM = b"\xef\xbb\xbf"
_TO_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


class Match(Struct, frozen=True):
    """The pattern that decided about a path; `ignored` is False when it is a negation."""

    ignored: bool
    pattern: str  # as written, without trailing spaces
    line: int  # 1-based
    source: str  # the file the pattern stands in


class IgnoreFile:
    """The patterns of one ignore file and the directory they are relative to.

    `base` is that directory as a wire path below the root, "" for the root itself. The file of a directory *above* the
    root has a `prefix` instead: the way from there down to the root, put before each path. With `fold` the case of
    ASCII letters does not count (git's `core.ignoreCase`).
    """

    def __init__(self, globs: GlobSet, base: str, source: str, *, prefix: str = "", fold: bool = False) -> None:
        self.source = source
        self._fold = fold
        self._globs = globs
        self._cut = len(as_byte_text(base)) + 1 if base else 0
        self._prefix = as_byte_text(prefix) + "/" if prefix else ""

    def __bool__(self) -> bool:
        return bool(self._globs)

    @classmethod
    def parse(cls, text: str | bytes, base: str = "", *, source: str = "", fold: bool = False) -> IgnoreFile:
        """Read the patterns of a file; what git skips is skipped, nothing here is an error."""
        raw = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        return cls(_globs_of(raw, fold), base, source or (f"{base}/.gitignore" if base else ".gitignore"), fold=fold)

    def seen_from(self, prefix: str) -> IgnoreFile:
        """Give the same patterns for paths that begin further down, at `prefix`."""
        return IgnoreFile(self._globs, "", self.source, prefix=prefix, fold=self._fold)

    def match(self, rel: str, is_dir: bool) -> Match | None:
        """Give the last pattern that fits the wire path `rel`, or None. Only this entry is judged, not its parents."""
        return self.match_byte_text(as_byte_text(rel), is_dir)

    def match_byte_text(self, path: str, is_dir: bool) -> Match | None:
        """Do the same for a path in byte text; it must lie below the base."""
        below = self._prefix + path[self._cut :]
        glob = self._globs.last(below.translate(_TO_LOWER) if self._fold else below, is_dir)
        if glob is None:
            return None
        written = glob.written.encode("latin-1").decode("utf-8", "replace")
        return Match(ignored=not glob.negated, pattern=written, line=glob.line, source=self.source)


@lru_cache(maxsize=512)
def _globs_of(raw: bytes, fold: bool) -> GlobSet:
    lines = raw.removeprefix(UTF8_BOM).decode("latin-1").split("\n")
    parsed = (parse_line(line, number, fold=fold) for number, line in enumerate(lines, 1))
    return GlobSet([glob for glob in parsed if glob is not None])


def as_byte_text(path: str) -> str:
    """Give a wire path as text with one character a byte."""
    if path.isascii() and "\\" not in path:
        return path
    return decode_path(path).decode("latin-1")
