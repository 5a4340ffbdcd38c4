"""How far the index is behind the tree: asked of the indexer and of the watcher, which hold different paths."""

from __future__ import annotations

import anyio
from msgspec import Struct

from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.messages import IndexProgress, ProgressRequest, SurveyTree, TreeSurveyed
from shared.subjects import PROGRESS, SURVEY

# An answer waits for neither: who is busy indexing says so soon or not at all, a survey walks the tree.
PROGRESS_LIMIT_S = 0.3
SURVEY_LIMIT_S = 1.0
HELD_LIMIT_S = 0.3  # what the watcher holds it says at once

NOBODY_WATCHES = "nobody watches this tree; changes since the last kx index are not known"


class Lag(Struct, frozen=True, kw_only=True):
    """Paths changed on disk and not yet in the index, as far as anyone knows."""

    text: int
    note: str = ""


def _lag(progress: IndexProgress) -> Lag:
    pending = progress.text_pending
    if progress.stalled is not None:
        return Lag(text=pending, note=f"the indexer stands still ({progress.stalled.code})")
    if progress.set_aside:
        return Lag(text=pending, note=f"the index was damaged; it was set aside as {progress.set_aside} and built anew")
    if progress.upkeep == "erasing":
        return Lag(text=pending, note="traces of removed text are being erased from the index")
    return Lag(text=pending)


async def lag_of(bus: Bus, instance: InstanceId) -> Lag:
    """Ask who knows; never fails, what is not known is 0 with a note."""
    held: list[TreeSurveyed] = []

    async def ask_watcher() -> None:
        message = SurveyTree(instance=instance, walk=False)
        try:
            held.append(await bus.request(SURVEY, message, timeout_s=HELD_LIMIT_S))
        except KxError:
            return  # who is not there holds nothing

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask_watcher)
        lag = await _of_indexer(bus, instance)
    if lag is None:
        return await _of_walk(bus, instance)  # a walk counts what is held, too
    trouble = next((survey.trouble for survey in held if survey.trouble), "")
    return Lag(text=lag.text + sum(survey.held for survey in held), note=lag.note or trouble)


async def _of_indexer(bus: Bus, instance: InstanceId) -> Lag | None:
    try:
        return _lag(await bus.request(PROGRESS, ProgressRequest(instance=instance), timeout_s=PROGRESS_LIMIT_S))
    except KxError as error:
        if error.code == ErrorCode.SERVICE_UNAVAILABLE:
            return None
        return Lag(text=0, note=f"the indexer did not say what is waiting ({error.code})")


async def _of_walk(bus: Bus, instance: InstanceId) -> Lag:
    try:
        survey = await bus.request(SURVEY, SurveyTree(instance=instance), timeout_s=SURVEY_LIMIT_S)
        return Lag(text=survey.behind)
    except KxError as error:
        if error.code == ErrorCode.SERVICE_UNAVAILABLE:
            return Lag(text=0, note=NOBODY_WATCHES)
        return Lag(text=0, note=f"the watcher did not say what changed ({error.code})")
