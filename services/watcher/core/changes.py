"""When a noticed path is due (pure; time is an argument).

A lone save is handled almost at once; a path that keeps changing is handled when it is quiet, or at the latest after
a second. Many paths at once (a checkout) are one burst, given out whole; a save beside it stays a save, also when both
are reported together: few paths that stand apart from the many. So many that the kernel may have dropped some are not
kept one by one: the whole tree is due then, so what is kept here is bounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

QUIET_S = 0.150  # a path that keeps changing is due once it was quiet for this long (MISSION 3.1)
AT_MOST_S = 1.0  # ... or this long after it was first noticed
IDLE_S = 1.0  # a path nobody touched for this long is not part of a series:
LONE_S = 0.030  # it is due after this, enough for an editor's write, flush and rename
BURST_PATHS = 200  # distinct paths within IDLE_S
SAVE_PATHS = 5  # reported together, that is within some 60 ms: a person's save, also while a burst goes on
# The kernel's queue holds 16,384 events and drops the rest without a word; a file unpacked with its times set makes
# six. So from here on some may be missing (measured: 5,463 of 20,001 created files seen).
DOUBT_PATHS = 2_500


class Due(Struct, frozen=True, kw_only=True):
    """What is to be looked at now."""

    paths: tuple[str, ...] = ()  # in the order in which they were first noticed
    folders: tuple[str, ...] = ()  # to be walked a second time
    burst: tuple[str, ...] = ()  # the same, of many that changed together
    is_doubtful: bool = False  # some may have been lost: walk the whole tree


class _Waiting(Struct):
    first: float
    last: float
    is_lone: bool

    def due_at(self) -> float:
        if self.is_lone:
            return self.first + LONE_S
        return min(self.last + QUIET_S, self.first + AT_MOST_S)


class Changes:
    """Noticed paths until they are due. Times are seconds of any clock that never goes back."""

    def __init__(self) -> None:
        self._waiting: dict[str, _Waiting] = {}
        self._recent: dict[str, float] = {}  # paths noticed within IDLE_S, oldest first
        self._again: dict[str, float] = {}  # folder → when to walk it once more
        self._burst: dict[str, None] = {}
        self._burst_first = self._burst_last = 0.0
        self._is_doubtful = False

    def __len__(self) -> int:
        return len(self._waiting) + len(self._burst)

    def add(self, paths: Sequence[str], now: float) -> None:
        """Take note of changes at `paths`, which were reported together; the last one wins."""
        self._forget_old(now)
        idle = {path for path in paths if self._recent.pop(path, None) is None}
        self._recent.update(dict.fromkeys(paths, now))
        is_many = len(self._recent) > BURST_PATHS or self._is_doubtful
        saves = paths
        if is_many and len(paths) > SAVE_PATHS:
            saves = few_apart(paths)
            self._add_to_burst([path for path in paths if path not in saves], now)
        for path in saves:
            waiting = self._waiting.get(path)
            if waiting is None:
                self._waiting[path] = _Waiting(now, now, path in idle)
            else:
                waiting.last = now

    def walk_again(self, folders: Iterable[str], now: float) -> None:
        """Have folders walked once more in a second.

        What is written into a new folder before the library watches it makes no event (measured: 156 of 300 files).
        """
        for folder in folders:
            self._again[folder] = now + AT_MOST_S

    def next_due(self) -> float | None:
        """Give the time at which `take` has something; None when nothing waits."""
        times = [*self._again.values(), *(waiting.due_at() for waiting in self._waiting.values())]
        if self._burst or self._is_doubtful:
            times.append(self._burst_due_at())
        return min(times, default=None)

    def take(self, now: float) -> Due:
        """Give out what is due."""
        folders = tuple(folder for folder, at in self._again.items() if at <= now)
        for folder in folders:
            del self._again[folder]
        paths = tuple(path for path, waiting in self._waiting.items() if waiting.due_at() <= now)
        for path in paths:
            del self._waiting[path]
        if (not self._burst and not self._is_doubtful) or now < self._burst_due_at():
            return Due(paths=paths, folders=folders)
        due = Due(paths=paths, folders=folders, burst=tuple(self._burst), is_doubtful=self._is_doubtful)
        self._burst.clear()
        self._is_doubtful = False
        return due

    def _add_to_burst(self, paths: Sequence[str], now: float) -> None:
        if not self._burst and not self._is_doubtful:
            saves = few_apart([*self._waiting, *paths])
            begun = [path for path in self._waiting if path not in saves]
            self._burst_first = min((self._waiting[path].first for path in begun), default=now)
            for path in begun:  # how it began could not be told from a save
                self._burst[path] = None
                del self._waiting[path]
        self._burst_last = now
        self._burst.update(dict.fromkeys(paths))
        if len(self._recent) > DOUBT_PATHS:
            self._is_doubtful = True
            self._recent.clear()
        if self._is_doubtful:
            self._burst.clear()

    def _burst_due_at(self) -> float:
        return min(self._burst_last + QUIET_S, self._burst_first + AT_MOST_S)

    def _forget_old(self, now: float) -> None:
        while self._recent:
            oldest = next(iter(self._recent))
            if self._recent[oldest] > now - IDLE_S:
                return
            del self._recent[oldest]


def few_apart(paths: Sequence[str]) -> list[str]:
    """Give the few of many paths that lie elsewhere than the others, by top folder or by folder: a person's saves.

    None where more than `SAVE_PATHS` lie apart: a checkout changes a file or two of many folders. To take some of a
    checkout for saves costs nothing: they are read first.

    >>> few_apart(["notes.md", *(f"lib/{n}.py" for n in range(9))])
    ['notes.md']
    """
    for place in (_top_folder, _folder):
        held = Counter(map(place, paths))
        few = [path for path in paths if held[place(path)] <= SAVE_PATHS]
        if 0 < len(few) <= SAVE_PATHS:
            return few
    return []


def _top_folder(path: str) -> str:
    return path.partition("/")[0] if "/" in path else ""


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
