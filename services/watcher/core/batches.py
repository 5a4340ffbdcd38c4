"""How many paths go into one announcement (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shared.messages import MAX_TOUCHED_PATHS

MAX_PATH_BYTES = 192 * 1024  # of all paths together: a message may have 256 KiB, and a path some 16 KiB


def batches(paths: Iterable[str]) -> Iterator[list[str]]:
    """Split `paths`, in their order, into what one message takes.

    >>> [len(batch) for batch in batches(map(str, range(1_001)))]
    [500, 500, 1]
    """
    batch: list[str] = []
    size = 0
    for path in paths:
        size += len(path.encode()) + 5  # msgpack's longest header of a string
        if batch and (size > MAX_PATH_BYTES or len(batch) == MAX_TOUCHED_PATHS):
            yield batch
            batch, size = [], len(path.encode()) + 5
        batch.append(path)
    if batch:
        yield batch
