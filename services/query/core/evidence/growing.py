"""Arrays that are added to, and runs of numbers that lie one behind the other (pure but for what they hold)."""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from services.query.core.evidence.hashed import Indices, Numbers

N = TypeVar("N", bound=np.integer[Any])

_FIRST_CAPACITY: Final = 4_096
_GROWTH: Final = 1.5


class Growing(Generic[N]):
    """An array that is added to; what was given out of it stays as it is."""

    def __init__(self, kind: type[N]) -> None:
        self._array: npt.NDArray[N] = np.zeros(_FIRST_CAPACITY, dtype=kind)
        self._count = 0

    @property
    def held(self) -> npt.NDArray[N]:
        """All that was added."""
        return self._array[: self._count]

    @property
    def size(self) -> int:
        """How much was added."""
        return self._count

    @property
    def bytes(self) -> int:
        """What that takes; the rest of the array was never touched."""
        return self._count * self._array.itemsize

    def add(self, values: npt.NDArray[np.integer[Any]]) -> None:
        """Write behind what is there."""
        count = self._count + len(values)
        if count > len(self._array):
            wider = np.zeros(max(count, int(len(self._array) * _GROWTH)), dtype=self._array.dtype)
            wider[: self._count] = self.held
            self._array = wider
        self._array[self._count : count] = values
        self._count = count


class Runs(Generic[N]):
    """Runs of numbers, each known by how many were added before it."""

    def __init__(self, kind: type[N]) -> None:
        self._values = Growing(kind)
        self._starts = Growing(np.int32)
        self._starts.add(np.zeros(1, dtype=np.int32))

    @property
    def bytes(self) -> int:
        """What they take."""
        return self._values.bytes + self._starts.bytes

    def add(self, values: npt.NDArray[np.integer[Any]], sizes: Indices | Numbers) -> None:
        """Add runs of these sizes."""
        self._starts.add(self._values.size + np.cumsum(sizes, dtype=np.intp))
        self._values.add(values)

    def of(self, places: Indices | Numbers) -> tuple[npt.NDArray[N], Indices]:
        """Give some of the runs, one behind the other, and the size of each."""
        sizes = self.sizes(places)
        return self._values.held[spread(self._starts.held[places], sizes)], sizes

    def sizes(self, places: Indices | Numbers) -> Indices:
        """Give the sizes of some of the runs."""
        starts = self._starts.held
        sizes: Indices = (starts[1:][places] - starts[places]).astype(np.intp)
        return sizes


def spread(starts: Indices | Numbers, sizes: Indices | Numbers) -> Indices:
    """Give the places of runs of `sizes` that begin at `starts`, one run behind the other."""
    ends = np.cumsum(sizes, dtype=np.intp)
    total = int(ends[-1]) if len(ends) else 0
    shifts: Indices = starts - (ends - sizes)
    return np.repeat(shifts, sizes) + np.arange(total)
