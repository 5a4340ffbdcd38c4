"""Compare what is about to be shown with the files themselves, through the path gate."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from services.query.core.dedup import with_passage
from services.query.core.grouping import MAX_SPANS, Result, as_result, further_spans
from services.query.core.passages import Location, Passage, Ranked
from services.query.core.proof import Lines, find_passage, normal_lines, readable_text
from shared.embedded_text import embed_text
from shared.errors import ErrorCode, KxError
from shared.identity import text_hash
from shared.pathgate import PathGate

MAX_REREAD_BYTES = 4 * 1024 * 1024
"""A larger file that changed is not searched again while someone waits; its hits are left out."""

MAX_REREAD_FILES = 64

MAX_SMALL_FILE_BYTES = 8 * 1024
"""A file of few lines is shown whole when it is not larger, either: fifty lines of 160 characters."""


class Proven(Struct, frozen=True, kw_only=True):
    """The results of one page, each as it stands on disk now."""

    results: tuple[Result, ...]
    left_out: int  # passages that changed on disk or are gone
    gone: int  # results of which nothing stands any more
    changed: tuple[str, ...] = ()  # paths of files that are not as they were indexed


class Prover:
    """The state of one tree's files during one answer; blocks."""

    def __init__(self, root: Path) -> None:
        self._gate = PathGate(root)
        self._texts: dict[str, str | None] = {}  # of files that are compared; None: gone or not readable
        self._unchanged: dict[tuple[str, int, int, int], bool] = {}
        self._rereads = 0
        self._left_out = 0
        self._changed: dict[str, None] = {}
        self._gone: dict[str, None] = {}
        self._is_tree_there = False  # some file of it was met

    def page(self, results: Iterable[Result], *, offset: int, top: int) -> Proven:
        """Prove results in order until the page is full; what proves stale makes room for the next.

        Pages count proven results, so they neither overlap nor leave a gap while the files stay as they are.
        """
        proven: list[Result] = []
        gone = 0
        for result in results:
            if len(proven) == offset + top:
                break
            standing = self._standing(result)
            if standing:
                proven.append(as_result(standing))
            else:
                gone += 1
        return Proven(
            results=tuple(proven[offset:]), left_out=self._left_out, gone=gone, changed=tuple(self._changed_files())
        )

    def _changed_files(self) -> list[str]:
        """Name the files that are not as they were indexed.

        One that is gone counts where another is there: an empty folder in the place of a tree, such as the mount point of
        a disk, is no end of its files.
        """
        return [*self._changed, *(self._gone if self._is_tree_there else ())]

    def small_file(self, place: Location, text: str, most: int) -> str | None:
        """Give the whole text of the file at `place`, normalised, if it has at most `most` lines and holds `text`."""
        if place.is_extracted:
            return None
        try:
            opened = self._gate.open_file(place.path)
        except (KxError, OSError):
            return None
        with os.fdopen(opened.fd, "rb") as file:
            whole = normal_lines(readable_text(file.read(MAX_SMALL_FILE_BYTES + 1)))
        is_small = opened.stat.st_size <= MAX_SMALL_FILE_BYTES and whole.count("\n") < most
        at = Lines(start=place.start_line, end=place.end_line)
        return whole if is_small and find_passage(text, whole, at) == at else None

    def _standing(self, result: Result) -> list[Ranked]:
        """Give the best of a result's passages that still stand: one, and of the same file what makes `MAX_SPANS`."""
        standing: list[Ranked] = []
        for hit in (result.best, *result.others):
            passage = self._proven(hit.passage)
            if passage is None:
                self._left_out += 1
            elif not standing or passage.at.path == standing[0].passage.at.path:
                standing.append(with_passage(hit, passage))
            if len(standing) > MAX_SPANS and len(further_spans(standing)) == MAX_SPANS:
                break
        return standing

    def _proven(self, passage: Passage) -> Passage | None:
        # A row that a bad disk changed is not its file's text, however unchanged the file: then the file is read.
        is_sound = text_hash(embed_text(passage.heading, passage.text)) == passage.text_hash
        places = [self._place(passage.text, place, is_sound=is_sound) for place in (passage.at, *passage.elsewhere)]
        found = [place for place in places if place is not None]
        if not found:
            return None
        heading = passage.heading if is_sound else ""
        return replace(passage, heading=heading, at=found[0], elsewhere=tuple(found[1:]))

    def _place(self, text: str, place: Location, *, is_sound: bool) -> Location | None:
        if self._is_unchanged(place):
            if is_sound:
                return place
            self._keep_text(place.path)
        file_text = self._texts.get(place.path)
        lines = (
            None
            if file_text is None
            else find_passage(text, file_text, Lines(start=place.start_line, end=place.end_line))
        )
        return None if lines is None else replace(place, start_line=lines.start, end_line=lines.end)

    def _is_unchanged(self, place: Location) -> bool:
        key = (place.path, place.size, place.mtime_ns, place.ctime_ns)
        known = self._unchanged.get(key)
        if known is None:
            known = self._unchanged[key] = self._look(place)
        return known

    def _look(self, place: Location) -> bool:
        """Stat the file; when it changed, keep its text for the passages to be found in."""
        try:
            opened = self._gate.open_file(place.path)
        except (KxError, OSError) as error:
            self._texts[place.path] = None
            if _is_gone(error):
                self._gone[place.path] = None
            return False
        self._is_tree_there = True
        try:
            if _is_as_indexed(opened.stat, place):
                return True
            self._changed[place.path] = None
            if place.is_extracted:  # its bytes are the proof: the text is not among them
                return self._has_hash(opened.fd, opened.stat.st_size, place)
            self._texts[place.path] = self._read(opened.fd, opened.stat.st_size)
        finally:
            os.close(opened.fd)
        return False

    def _has_hash(self, fd: int, size: int, place: Location) -> bool:
        """Tell whether a document that was touched holds the bytes it held."""
        self._rereads += 1
        if size != place.size or size > MAX_REREAD_BYTES or self._rereads > MAX_REREAD_FILES:
            return False
        with os.fdopen(os.dup(fd), "rb") as file:
            return hashlib.sha256(file.read(MAX_REREAD_BYTES)).digest() == place.content_hash

    def _keep_text(self, path: str) -> None:
        """Read a file whose text is not kept yet."""
        if path in self._texts:
            return
        self._texts[path] = None
        with suppress(KxError, OSError):
            opened = self._gate.open_file(path)
            try:
                self._texts[path] = self._read(opened.fd, opened.stat.st_size)
            finally:
                os.close(opened.fd)

    def _read(self, fd: int, size: int) -> str | None:
        self._rereads += 1
        if size > MAX_REREAD_BYTES or self._rereads > MAX_REREAD_FILES:
            return None
        with os.fdopen(os.dup(fd), "rb") as file:
            return readable_text(file.read(MAX_REREAD_BYTES))


def _is_gone(error: KxError | OSError) -> bool:
    """Tell whether a path is not there, or not to be shown; what merely cannot be read is unknown."""
    if isinstance(error, KxError):
        return error.code is not ErrorCode.ROOT_MISSING
    return isinstance(error, FileNotFoundError | NotADirectoryError)


def _is_as_indexed(found: os.stat_result, place: Location) -> bool:
    """Compare what can be had without reading; of the three times only the ctime cannot be set back."""
    is_ctime_equal = place.ctime_ns in {0, found.st_ctime_ns}
    return is_ctime_equal and (found.st_size, found.st_mtime_ns) == (place.size, place.mtime_ns)
