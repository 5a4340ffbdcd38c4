"""Which events say nothing about the project's files (pure)."""

from __future__ import annotations

from shared.relpath import name

_GIT = ".git"
_EXCLUDES = ".git/info/exclude"  # the one file inside that says what belongs to the project
_INDEX_SUFFIXES = ("", "-wal", "-shm", "-journal", ".lock")


def is_git_internal(path: str) -> bool:
    """Tell what git writes for itself: a commit makes thousands of events there.

    The folder `.git` itself counts: where it comes or goes a repository begins or ends, and with it the ignore rules.

    >>> is_git_internal(".git/objects/ab"), is_git_internal("a/.git/info/exclude"), is_git_internal(".gitignore")
    (True, False, False)
    """
    if _GIT not in path or path == _EXCLUDES or path.endswith("/" + _EXCLUDES):
        return False
    return _GIT in path.split("/")[:-1]


def is_own_file(path: str, *, home: str | None, index: str | None) -> bool:
    """Tell a file that kx itself writes; `home` and `index` are those of them that lie in the tree."""
    if home is not None and (path == home or path.startswith(home + "/")):
        return True
    return index is not None and path.startswith(index) and path[len(index) :] in _INDEX_SUFFIXES


def scope_of(path: str) -> str | None:
    """Give the folder whose rules change with the file `path`, None for one that is no rule by its place.

    >>> scope_of("a/.git/info/exclude"), scope_of(".git"), scope_of("a/b/.gitignore"), scope_of("a.md")
    ('a', '', 'a/b', None)
    """
    if path == _EXCLUDES or path.endswith("/" + _EXCLUDES):
        return path[: -len(_EXCLUDES)].rstrip("/")
    if name(path) in {_GIT, ".gitignore", ".kx.json", ".xindex.json"}:
        return path.rpartition("/")[0]
    return None
