"""Bring an index up to date over the bus: announce, wait for the text lane, then for the vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import anyio
from msgspec import Struct

from shared.bus import Bus
from shared.errors import KxError
from shared.identity import InstanceId
from shared.messages import (
    CandidatesRequest,
    IndexProgress,
    KindFilter,
    PrioritiseTexts,
    ProgressRequest,
    RebuildIndex,
    ReconcileTree,
    RetryFailed,
    TreeReconciled,
    Upto,
)
from shared.subjects import CANDIDATES, PRIORITISE, PROGRESS, REBUILD, RECONCILE, RETRY_FAILED

WALK_TIMEOUT_S = 3_600.0  # a network disk with a million files; the caller can always stop it
CANDIDATE_TEXTS = 200  # embedded before the first answer: ten seconds of work at twenty texts a second
REFRESH_MS = 200
REFRESH_TIMEOUT_S = 30.0  # one large file holds the writer for seconds
STALLED_GIVES_UP_AFTER = 10  # refreshes, two seconds, in which the work stood still with an error


class Meter(Protocol):
    """Who shows the progress."""

    def text(self, progress: IndexProgress) -> None:
        """Show the text lane."""
        ...

    def vectors(self, progress: IndexProgress) -> None:
        """Show the vectors."""
        ...


class Indexed(Struct, frozen=True, kw_only=True):
    """Where an index run ended."""

    tree: TreeReconciled
    progress: IndexProgress


async def index_text(  # each is a choice of the caller
    bus: Bus,
    instance: InstanceId,
    meter: Meter,
    *,
    subtrees: Sequence[str] = ("",),
    full: bool = False,
    retry_failed: bool = False,
) -> Indexed:
    """Announce the tree and wait until its whole text lane is on disk."""
    if full:
        await bus.request(REBUILD, RebuildIndex(instance=instance), timeout_s=REFRESH_TIMEOUT_S)
        subtrees = ("",)
    if retry_failed:
        await bus.request(RETRY_FAILED, RetryFailed(instance=instance), timeout_s=REFRESH_TIMEOUT_S)
    found: list[TreeReconciled] = []

    async def announce() -> None:
        whole = ("",) if found else tuple(subtrees)
        message = ReconcileTree(instance=instance, subtrees=whole)
        found.append(await bus.request(RECONCILE, message, timeout_s=WALK_TIMEOUT_S))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(announce)
        while not found:
            meter.text(await progress_of(bus, instance, until=None))
    progress = await _wait(bus, instance, meter.text, _is_text_done, until="text")
    if progress.set_aside:  # met while it was written: what was announced before went into the damaged one
        await announce()
        progress = await _wait(bus, instance, meter.text, _is_text_done, until="text")
    return Indexed(tree=found[-1], progress=progress)


def _is_text_done(progress: IndexProgress) -> bool:
    return not progress.text_pending and not progress.rebuilding


async def wait_for_vectors(bus: Bus, instance: InstanceId, meter: Meter) -> IndexProgress:
    """Wait until every text that can be embedded has its vector.

    Raises:
        KxError: what stops the embedder, if it does not pass.
    """
    return await _wait(bus, instance, meter.vectors, lambda p: p.vectors_missing <= p.texts_failed)


async def embed_candidates(
    bus: Bus, instance: InstanceId, query: str, kinds: Sequence[KindFilter], *, seconds: float, meter: Meter
) -> None:
    """Embed what the lexical lane would show for `query`, for at most `seconds`; what is not done stays queued.

    Where the words find less than `CANDIDATE_TEXTS`, other passages are embedded in their place: meaning may know what
    the words do not.
    """
    wanted = await bus.request(CANDIDATES, CandidatesRequest(instance=instance, query=query, kinds=tuple(kinds)))
    await bus.request(PRIORITISE, PrioritiseTexts(instance=instance, text_hashes=wanted.text_hashes))

    def is_enough(progress: IndexProgress) -> bool:
        is_all = progress.vectors_missing <= progress.texts_failed
        return is_all or (not progress.priority_missing and progress.embedded >= CANDIDATE_TEXTS)

    with anyio.move_on_after(seconds):
        await _wait(bus, instance, meter.vectors, is_enough)


async def progress_of(bus: Bus, instance: InstanceId, *, until: Upto | None) -> IndexProgress:
    """Ask how far the indexer is; comes back after `REFRESH_MS` at the latest."""
    if until is None:
        await anyio.sleep(REFRESH_MS / 1000)
    message = ProgressRequest(instance=instance, until=until, wait_ms=REFRESH_MS if until else 0)
    return await bus.request(PROGRESS, message, timeout_s=REFRESH_TIMEOUT_S)


async def _wait(
    bus: Bus,
    instance: InstanceId,
    show: Callable[[IndexProgress], None],
    is_done: Callable[[IndexProgress], bool],
    *,
    until: Upto = "vectors",
) -> IndexProgress:
    standstill = 0
    while True:
        progress = await progress_of(bus, instance, until=until)
        show(progress)
        if is_done(progress):
            return progress
        standstill = standstill + 1 if progress.stalled else 0
        if progress.stalled is not None and standstill >= STALLED_GIVES_UP_AFTER:
            raise KxError.from_details(progress.stalled)
