"""What the tools about activities and artifacts do: one request each to megabrain."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from services.mcp_gateway.call import Call
from services.mcp_gateway.core.note_answers import (
    ActivitiesAnswer,
    ActivityAnswer,
    ActivityTextAnswer,
    ArtifactAnswer,
    ArtifactsAnswer,
    NoteAnswer,
    activities_answer,
    artifact_answer,
    artifacts_answer,
    text_answer,
    written_answer,
)
from services.mcp_gateway.core.note_inputs import (
    ActivityAddInput,
    ActivityGetInput,
    ActivityStatusInput,
    ActivityUpdateInput,
    ArtifactAddInput,
    ArtifactLinkInput,
    ArtifactsInput,
    Kind,
)
from shared.bus import Bus
from shared.megabrain_messages import (
    ActivitiesRequest,
    ActivityRequest,
    AddActivity,
    AddArtifact,
    ArtifactsRequest,
    LinkArtifact,
    UpdateActivity,
    UpdateKind,
)
from shared.subjects import (
    ACTIVITIES,
    ACTIVITY,
    ACTIVITY_ADD,
    ACTIVITY_UPDATE,
    ARTIFACT_ADD,
    ARTIFACT_LINK,
    ARTIFACTS,
)

NOTES_S = 30.0  # another writer may hold the vault for ten of them

_KINDS: dict[Kind, UpdateKind] = {
    "progress": "progress", "block": "block", "done": "done", "reopen": "reopen",
    "avanco": "progress", "bloqueio": "block", "conclusao": "done", "reabertura": "reopen",
}  # fmt: skip


async def megabrain_add(bus: Bus, call: Call[ActivityAddInput]) -> ActivityAnswer:
    """Begin an activity."""
    asked = call.asked
    message = AddActivity(
        instance=call.instance,
        title=_text(asked.title),
        description=_text(asked.description),
        squad=_text(asked.squad),
        module=_text(asked.module),
        state=asked.status,
        tags=_listed(asked.tags),
        branches=_listed(asked.branches),
        doc=_text(asked.doc),
        started=_text(asked.started),
        due=_text(asked.due),
        session=_session(call, asked.session),
    )
    return written_answer(await bus.request(ACTIVITY_ADD, message, timeout_s=NOTES_S))


async def megabrain_update(bus: Bus, call: Call[ActivityUpdateInput]) -> ActivityAnswer:
    """Record progress, a block, the end or a new beginning."""
    asked = call.asked
    message = UpdateActivity(
        instance=call.instance,
        ref=_text(asked.ref),
        kind=_KINDS[asked.kind],
        text=_text(asked.text),
        session=_session(call, asked.session),
    )
    return written_answer(await bus.request(ACTIVITY_UPDATE, message, timeout_s=NOTES_S))


async def megabrain_status(bus: Bus, call: Call[ActivityStatusInput]) -> ActivitiesAnswer:
    """List activities."""
    asked = call.asked
    message = ActivitiesRequest(
        instance=call.instance, limit=asked.limit, offset=asked.offset, state=_text(asked.status)
    )
    return activities_answer(await bus.request(ACTIVITIES, message, timeout_s=NOTES_S), asked.offset)


async def megabrain_get(bus: Bus, call: Call[ActivityGetInput]) -> ActivityTextAnswer:
    """Give a part of a note."""
    asked = call.asked
    message = ActivityRequest(instance=call.instance, ref=_text(asked.ref), offset=asked.offset, limit=asked.limit)
    return text_answer(await bus.request(ACTIVITY, message, timeout_s=NOTES_S))


async def megabrain_artifact_add(bus: Bus, call: Call[ArtifactAddInput]) -> ArtifactAnswer:
    """Record a published page."""
    asked = call.asked
    message = AddArtifact(
        instance=call.instance,
        url=_text(asked.url),
        title=_text(asked.title),
        description=_text(asked.description),
        activity=_text(asked.activity),
        file=_text(asked.file),
        agent=_text(asked.agent),
        label=_text(asked.label),
        session=_session(call, asked.session),
    )
    return artifact_answer(await bus.request(ARTIFACT_ADD, message, timeout_s=NOTES_S))


async def megabrain_artifacts(bus: Bus, call: Call[ArtifactsInput]) -> ArtifactsAnswer:
    """List published pages."""
    asked = call.asked
    message = ArtifactsRequest(
        instance=call.instance, activity=_text(asked.activity), limit=asked.limit, offset=asked.offset
    )
    return artifacts_answer(await bus.request(ARTIFACTS, message, timeout_s=NOTES_S), asked.offset)


async def megabrain_artifact_link(bus: Bus, call: Call[ArtifactLinkInput]) -> ArtifactAnswer:
    """Tie a page to an activity."""
    message = LinkArtifact(instance=call.instance, url=_text(call.asked.url), activity=_text(call.asked.activity))
    return artifact_answer(await bus.request(ARTIFACT_LINK, message, timeout_s=NOTES_S))


NOTE_HANDLERS: Mapping[str, Callable[[Bus, Call[Any]], Awaitable[NoteAnswer]]] = {
    handler.__name__: handler
    for handler in (
        megabrain_add, megabrain_update, megabrain_status, megabrain_get, megabrain_artifact_add, megabrain_artifacts,
        megabrain_artifact_link,
    )
}  # fmt: skip


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _listed(given: tuple[str, ...] | str) -> tuple[str, ...]:
    parts = given.split(",") if isinstance(given, str) else given
    return tuple(_text(part.strip()) for part in parts if part.strip())


def _session(call: Call[ActivityAddInput] | Call[ActivityUpdateInput] | Call[ArtifactAddInput], given: str) -> str:
    return _text(given or call.session.session_id)
