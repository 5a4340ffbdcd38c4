"""What was done for one project while somebody watched, although the counters of the indexer begin anew with it (pure)."""

from __future__ import annotations

from kx.indexing import Meter
from shared.messages import IndexProgress


class Tally:
    """Sums up one project's progress."""

    def __init__(self) -> None:
        self.files = 0  # handled since the first observation
        self.texts = 0  # embedded
        self._last: IndexProgress | None = None
        self._told_files = 0

    def observe(self, progress: IndexProgress) -> None:
        """Take what the indexer says now."""
        if self._last is not None:
            self.files += _grown(self._last.text_done, progress.text_done)
            self.texts += _grown(self._last.embedded, progress.embedded)
        self._last = progress

    def has_news(self) -> bool:
        """Tell whether files were handled since the last telling, and none wait: a burst is over."""
        return self.files != self._told_files and self._last is not None and not self._last.text_pending

    def told(self) -> IndexProgress | None:
        """Give the newest progress, about to be told."""
        self._told_files = self.files
        return self._last

    def meter(self, shown: Meter) -> Meter:
        """Make a meter that is shown and summed up."""
        return _Both(self, shown)


class _Both:
    """A meter that passes on what it takes."""

    def __init__(self, tally: Tally, shown: Meter) -> None:
        self._tally = tally
        self._shown = shown

    def text(self, progress: IndexProgress) -> None:
        self._tally.observe(progress)
        self._shown.text(progress)

    def vectors(self, progress: IndexProgress) -> None:
        self._tally.observe(progress)
        self._shown.vectors(progress)


def _grown(before: int, now: int) -> int:
    """Say how far a counter came; one that is lower than before belongs to an indexer that was started again."""
    return now - before if now >= before else now
