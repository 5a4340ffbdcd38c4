"""What was known against what is there (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shared.messages import ManifestEntry


def differences(
    known: Mapping[str, ManifestEntry], met: Iterable[ManifestEntry], subtrees: tuple[str, ...], *, force: bool = False
) -> list[str]:
    """Name every path to announce: new, changed by size or time, gone; with `force` also the unchanged.

    Only known paths inside one of `subtrees` can be gone; "" is the whole tree. Newest first, then by path: what
    people touched last is handled first. Each path once.
    """
    left = {path: entry for path, entry in known.items() if is_inside(path, subtrees)}
    announced: list[ManifestEntry] = []
    for entry in met:
        before = left.pop(entry.path, None)
        if force or before is None or (before.size, before.mtime_ns) != (entry.size, entry.mtime_ns):
            announced.append(entry)
    announced.sort(key=lambda entry: (-entry.mtime_ns, entry.path))
    return [*sorted(left), *(entry.path for entry in announced)]


def is_inside(path: str, subtrees: tuple[str, ...]) -> bool:
    """Tell whether a path is one of `subtrees` or below one.

    >>> is_inside("src/a.py", ("src",)), is_inside("srcx/a.py", ("src",)), is_inside("a", ("",))
    (True, False, True)
    """
    return any(
        not tree or path.rstrip("/") == tree.rstrip("/") or path.startswith(tree.rstrip("/") + "/") for tree in subtrees
    )
