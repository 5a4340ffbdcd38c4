"""Which folders make a tree large (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from shared.messages import FolderCount

SHOWN = 10
DEPTH = 2  # deep enough to name `data/raw`, high enough to be dropped by one line


def heaviest(paths: Iterable[str]) -> tuple[FolderCount, ...]:
    """Name the folders, at most `DEPTH` deep, that hold the most files; largest first, then by name.

    >>> heaviest(["a/b/1", "a/b/c/2", "a/3", "4", "x/5"])
    (FolderCount(path='a/b/', files=2), FolderCount(path='a/', files=1), FolderCount(path='x/', files=1))
    """
    counts: Counter[str] = Counter()
    for path in paths:
        folders = path.split("/")[:-1][:DEPTH]
        if folders:
            counts["/".join(folders) + "/"] += 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(FolderCount(path=path, files=files) for path, files in ordered[:SHOWN])
