"""Explicit sources of a project: which files belong to one, and which folders lead to one (pure).

Without sources the whole tree is one. With sources only they (and the vault) are read. A source that names a place
below the root is meant, so ignore files do not hide it; one at the root names nothing and lifts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from shared.errors import ErrorCode, KxError
from shared.globs import GlobSet, parse_line

_MAX_ALTERNATIVES = 64  # of one pattern's braces


class SourceConfig(Struct, frozen=True):
    """One entry of `sources[]`; patterns are relative to `path`, without a slash they count at any depth."""

    type: str = ""
    path: str = ""
    glob: str | tuple[str, ...] = ()  # nothing: every file
    exclude: tuple[str, ...] = ()
    weight: float = 1.0


class _Source(Struct, frozen=True):
    config: SourceConfig
    path: str
    include: GlobSet
    exclude: GlobSet


class Sources:
    """All sources of a project, the deepest first.

    Raises:
        KxError: `KX_CONFIG_INVALID` for a path that leaves the root.
    """

    def __init__(self, configs: Sequence[SourceConfig]) -> None:
        sources = [
            _Source(config, _checked_path(config.path), _globs(_listed(config.glob) or ("**",)), _globs(config.exclude))
            for config in configs
        ]
        self._sources = sorted(sources, key=lambda source: -_depth(source.path))
        self._named = tuple(source.path for source in self._sources if source.path)
        self._everywhere = not sources or any(not source.path for source in sources)

    def best(self, rel: str) -> SourceConfig | None:
        """Give the deepest source whose pattern takes the file; None when none does or that one excludes it."""
        for source in self._sources:
            below = _below(source.path, rel)
            if below is None or (below and not _takes(source.include, below)):
                continue
            return None if _takes(source.exclude, below) else source.config
        return None

    def takes(self, rel: str) -> bool:
        """Tell whether a file belongs to the project."""
        return not self._sources or self.best(rel) is not None

    def reaches(self, folder: str) -> bool:
        """Tell whether a folder lies in a source or on the way to one."""
        return self._everywhere or self.named(folder) or self.leads_to_named(folder)

    def named(self, rel: str) -> bool:
        """Tell whether a path lies in a source that names a place below the root."""
        return any(_below(path, rel) is not None for path in self._named)

    def leads_to_named(self, folder: str) -> bool:
        """Tell whether a folder is on the way to such a source."""
        return any(_below(folder, path) is not None for path in self._named)


def _below(folder: str, rel: str) -> str | None:
    if not folder:
        return rel
    if rel == folder:
        return ""
    return rel[len(folder) + 1 :] if rel.startswith(folder + "/") else None


def _takes(globs: GlobSet, below: str) -> bool:
    """Tell whether a pattern fits the path or a folder it lies in."""
    if globs.fits(below, is_dir=False):
        return True
    end = below.find("/")
    while end >= 0:
        if globs.fits(below[:end], is_dir=True):
            return True
        end = below.find("/", end + 1)
    return False


def _listed(patterns: str | tuple[str, ...]) -> tuple[str, ...]:
    return (patterns,) if isinstance(patterns, str) else patterns


def _globs(patterns: Sequence[str]) -> GlobSet:
    expanded = (alternative for pattern in patterns for alternative in _alternatives(pattern.removeprefix("./")))
    return GlobSet([glob for glob in map(parse_line, expanded) if glob is not None])


def _alternatives(pattern: str) -> list[str]:
    """Write out braces, as in "*.{md,txt}"; one that is not closed stands for itself."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        current = waiting.pop(0)
        close = current.find("}")
        begin = current.rfind("{", 0, close)
        if close < 0 or begin < 0 or len(done) + len(waiting) > _MAX_ALTERNATIVES:
            done.append(current)
        else:
            words = current[begin + 1 : close].split(",")
            waiting += [current[:begin] + word + current[close + 1 :] for word in words]
    return done


def _checked_path(path: str) -> str:
    parts = [part for part in path.strip().split("/") if part not in {"", "."}]
    if path.strip().startswith(("/", "~")) or ".." in parts or "\0" in path:
        raise KxError(
            ErrorCode.CONFIG_INVALID,
            "sources[].path: {path} does not stay inside the project",
            hint='write a folder relative to the project, for example "docs"',
            path=repr(path),
        )
    return "/".join(parts)


def _depth(path: str) -> int:
    return path.count("/") + 1 if path else 0
