"""The vector lane of a service that lives on: by the mirror where it holds all vectors, by the exact lane elsewhere.

A mirror is made in the background once a second question is asked of an index, so that a command that asks once pays
for none. It is dropped when nobody asked for a while, and when the file or its model is another one.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Final

import structlog
from structlog.typing import FilteringBoundLogger

from services.query.adapters.document_texts import DocumentTexts
from services.query.adapters.passages import Filters, RowFilter, passages_of_texts, row_filter
from services.query.adapters.reader import FileIdentity, IndexReaders, Snapshot
from services.query.adapters.vector_lane import VectorLane
from services.query.adapters.vector_mirror import BYTES_A_VECTOR, Held, Nearest, VectorMirror
from services.query.core.passages import LaneHit
from services.query.core.sketch import Positions
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.vectors import vector_from_bytes

MIN_VECTORS: Final = 1_000
"""Below, the exact lane takes under two milliseconds."""

OVERSAMPLE: Final = 4
"""Compared exactly for each text wanted; `core.sketch` says what that finds."""

MIN_COMPARED: Final = 240
WIDER: Final = 8  # times more, where too few of the nearest may be shown

FOLLOWED_AT_ONCE: Final = 1_000
"""New vectors that a question takes in itself, 15 ms; with more it asks the exact lane while they are read."""

MAX_BYTES: Final = 256 * 1024 * 1024
"""Of all mirrors together, more than two million vectors; an index beyond it keeps the exact lane."""

IDLE_S: Final = 600.0
_ASKS_BEFORE: Final = 2
MAX_STARTS: Final = 5  # of one load, while vectors are being erased; then the next question begins another

FEW_CHUNKS: Final = 2_500
"""A filter that selects no more is left to the exact lane, which compares these alone (1,400: 5 ms, the mirror 12)."""

NARROW_SHARE: Final = 0.5
"""A filter that selects less of the chunks is applied before the choice; what a broader one leaves out is few."""

_COUNT = "SELECT count(*) FROM embedding"

_log: FilteringBoundLogger = structlog.get_logger()


class _Slot:
    """What is in memory of one index file."""

    def __init__(self, model: int) -> None:
        self.mirror = VectorMirror(model)
        self.texts: DocumentTexts | None = None  # None: nobody filtered yet
        self.asked = 0
        self.used_at = 0.0
        self.is_loading = False


class MirrorLane:
    """Chooses for each question; safe across threads."""

    def __init__(
        self, readers: IndexReaders, exact: VectorLane, *, min_vectors: int = MIN_VECTORS, few_chunks: int = FEW_CHUNKS
    ) -> None:
        self._readers = readers
        self._min_vectors = min_vectors
        self._few_chunks = few_chunks
        self._exact = exact
        self._slots: dict[FileIdentity, _Slot] = {}
        self._lock = threading.Lock()
        self._loader = ThreadPoolExecutor(1, thread_name_prefix="mirror")
        self._loads: set[object] = set()
        self._is_closed = False

    def nearest(self, snapshot: Snapshot, vector: bytes, filters: Filters, depth: int) -> list[LaneHit]:
        """Find the nearest texts; see `VectorLane`."""
        allowed = row_filter(snapshot, filters)
        slot = self._slot(snapshot)
        held = self._held(slot, snapshot, allowed)
        among: Positions | None = None
        if held is not None and slot.texts is not None and not allowed.is_open:
            selected = slot.texts.within(snapshot, allowed)
            if selected.chunks <= self._few_chunks:
                held = None
            elif selected.share < NARROW_SHARE:
                among = held.among(selected.sorted_keys())
        if held is None:
            return self._exact.nearest(snapshot, vector, filters, depth)
        question, count = vector_from_bytes(vector), max(MIN_COMPARED, OVERSAMPLE * depth)
        while True:
            found = held.nearest(snapshot, question, count, among)
            hits = _shown(snapshot, allowed, filters, found, depth)
            if found.is_all or len(hits) == depth:
                return sorted(hits, key=lambda hit: (-hit.score, *hit.passage.at.order))
            count *= WIDER  # what nobody points to any more, or is denied now, took places

    @property
    def held(self) -> int:
        """How many vectors are in memory."""
        return sum(slot.mirror.count for slot in list(self._slots.values()))

    def drop_idle(self, *, older_than_s: float = IDLE_S) -> None:
        """Give back the memory of indexes that nobody asked for a while."""
        now = time.monotonic()
        with self._lock:
            self._slots = {file: slot for file, slot in self._slots.items() if now - slot.used_at < older_than_s}

    def settle(self) -> None:
        """Wait for the mirrors being made; for whoever measures."""
        wait(list(self._loads))  # type: ignore[arg-type]

    def close(self) -> None:
        """Make no more mirrors; one being made stops after the rows it is reading."""
        self._is_closed = True
        self._loader.shutdown(wait=False, cancel_futures=True)

    def _held(self, slot: _Slot, snapshot: Snapshot, allowed: RowFilter) -> Held | None:
        """Give what is in memory if it holds all that the snapshot has; have it made or caught up if not."""
        if slot.is_loading:
            return slot.mirror.complete(snapshot) if allowed.is_open else None
        if not allowed.is_open and (slot.texts is None or slot.texts.epoch != snapshot.epoch):
            slot.texts = DocumentTexts(snapshot.epoch)
        held = slot.mirror.following(snapshot, FOLLOWED_AT_ONCE) if slot.mirror.count else None
        if held is not None and (allowed.is_open or _follows(slot, snapshot)):
            return held
        if slot.asked >= _ASKS_BEFORE and not self._is_closed:
            vectors = snapshot.number(_COUNT)
            if vectors >= self._min_vectors and self._has_room(snapshot.file, vectors * BYTES_A_VECTOR):
                slot.is_loading = True
                load = self._loader.submit(self._load, snapshot.file, snapshot.instance, slot)
                self._loads.add(load)
                load.add_done_callback(self._loads.discard)
        return None

    def _slot(self, snapshot: Snapshot) -> _Slot:
        with self._lock:
            slot = self._slots.get(snapshot.file)
            if slot is None or slot.mirror.model != snapshot.model:
                same_path = [file for file in self._slots if file.path == snapshot.file.path]
                for file in same_path:
                    del self._slots[file]
                slot = self._slots[snapshot.file] = _Slot(snapshot.model)
            slot.asked += 1
            slot.used_at = time.monotonic()
            return slot

    def _has_room(self, wanted: FileIdentity, size: int) -> bool:
        """Make room by dropping what was asked for longest ago."""
        if size > MAX_BYTES:
            return False
        with self._lock:
            others = sorted(self._slots.keys() - {wanted}, key=lambda file: self._slots[file].used_at)
            held = sum(slot.mirror.count for slot in self._slots.values()) * BYTES_A_VECTOR
            for file in others:
                if held + size <= MAX_BYTES:
                    break
                held -= self._slots.pop(file).mirror.count * BYTES_A_VECTOR
        return True

    def _load(self, file: FileIdentity, instance: InstanceId, slot: _Slot) -> None:
        last_start = slot.mirror.starts + MAX_STARTS
        try:
            while slot.mirror.starts < last_start and not self._is_closed:
                with self._readers.snapshot(file.path, instance) as snapshot:
                    if snapshot.file != file or snapshot.model != slot.mirror.model:
                        return
                    is_whole = slot.mirror.following(snapshot, FOLLOWED_AT_ONCE) is not None
                    if is_whole and (slot.texts is None or _follows(slot, snapshot)):
                        return
        except KxError as error:  # the exact lane meets it as well, and says so
            _log.warning("mirror.stopped", instance=instance, error_code=error.code)
        except Exception:  # noqa: BLE001 - a door of its own: nobody waits for this thread
            _log.exception("mirror.failed", instance=instance, error_code=ErrorCode.INTERNAL)
        finally:
            slot.is_loading = False


def _follows(slot: _Slot, snapshot: Snapshot) -> bool:
    texts = slot.texts
    return texts is not None and texts.epoch == snapshot.epoch and texts.follow(snapshot, FOLLOWED_AT_ONCE)


def _shown(snapshot: Snapshot, allowed: RowFilter, filters: Filters, found: Nearest, depth: int) -> list[LaneHit]:
    """Load the passages of the nearest texts that may be shown, up to `depth`."""
    hits: list[LaneHit] = []
    for start in range(0, len(found), depth):
        part = found.part(start, start + depth)
        passages = passages_of_texts(snapshot, allowed, filters, list(part))
        came = sorted(
            (LaneHit(passage=passage, score=part[passage.text_hash]) for passage in passages),
            key=lambda hit: (-hit.score, *hit.passage.at.order),
        )
        hits += came[: depth - len(hits)]
        if len(hits) == depth:
            break
    return hits
