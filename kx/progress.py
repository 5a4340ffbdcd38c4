"""Progress of long work on stderr: rate and remaining time behind a bar; nothing where stderr is no terminal."""

from __future__ import annotations

import sys
from shutil import get_terminal_size
from types import TracebackType
from typing import TYPE_CHECKING, Self

from kx.catalogue import Catalogue
from shared.messages import IndexProgress

if TYPE_CHECKING:
    from tqdm import tqdm

MAX_COLUMNS = 110
_TEXT_FORMAT = "{desc} {percentage:3.0f}% |{bar}| {n_fmt}/{total_fmt} [{rate_fmt}, {remaining}]"


class Bar:
    """A `Meter` of `kx.indexing`; one bar at a time, made when there is something to wait for."""

    def __init__(self, catalogue: Catalogue, *, quiet: bool = False) -> None:
        self._catalogue = catalogue
        self._quiet = quiet or not sys.stderr.isatty()
        self._bar: tqdm[None] | None = None
        self._unit = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def text(self, progress: IndexProgress) -> None:
        """Show files done of files announced."""
        self._show(
            self._catalogue.text("files"),
            self._catalogue.text("Reading"),
            progress.text_done,
            progress.text_done + progress.text_pending,
        )

    def vectors(self, progress: IndexProgress) -> None:
        """Show texts with a vector of all texts."""
        total = progress.vectors_ready + progress.vectors_missing
        unit, label = self._catalogue.text("texts"), self._catalogue.text("Embedding")
        self._show(unit, label, progress.vectors_ready, total)

    def files(self, done: int, total: int) -> None:
        """Show files imported of all that were found."""
        self._show(self._catalogue.text("files"), self._catalogue.text("Importing"), done, total)

    def close(self) -> None:
        """Take the bar off the screen."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _show(self, unit: str, label: str, done: int, total: int) -> None:
        if self._quiet or not total:
            return
        if self._bar is None or self._unit != unit:
            self.close()
            from tqdm import tqdm

            self._bar = tqdm(
                total=total,
                initial=done,
                desc=label,
                unit=f" {unit}",
                leave=False,
                ncols=min(MAX_COLUMNS, get_terminal_size().columns),  # tqdm shows nothing where a terminal says 0
                file=sys.stderr,
                bar_format=_TEXT_FORMAT,
            )
            self._unit = unit
        self._bar.total = total
        self._bar.update(done - self._bar.n)
