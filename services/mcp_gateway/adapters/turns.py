"""One call of a caller at a time: a burst of one must not stand before the next call of another."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

import anyio

TURN_S = 0.5  # then a call that takes longer, as a walk does, no longer keeps the next one waiting


class _Turn:
    """One call's, from when it waits."""

    def __init__(self) -> None:
        self.begun = anyio.Event()
        self.ended = anyio.Event()


class Turns:
    """The calls of all callers, each caller's in the order of their coming."""

    def __init__(self) -> None:
        self._last: WeakValueDictionary[str, _Turn] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, caller: str) -> AsyncIterator[None]:
        """Enter when the caller's call before this one has ended, or has had its turn."""
        before, own = self._last.get(caller), _Turn()
        self._last[caller] = own
        try:
            if before is not None:
                await before.begun.wait()
                with anyio.move_on_after(TURN_S):
                    await before.ended.wait()
            own.begun.set()
            yield
        finally:
            own.begun.set()
            own.ended.set()
