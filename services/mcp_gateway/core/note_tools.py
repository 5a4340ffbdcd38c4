"""The rows of the tools about activities and artifacts (pure)."""

from __future__ import annotations

from services.mcp_gateway.core.note_answers import (
    ActivitiesAnswer,
    ActivityAnswer,
    ActivityTextAnswer,
    ArtifactAnswer,
    ArtifactsAnswer,
)
from services.mcp_gateway.core.note_inputs import (
    ActivityAddInput,
    ActivityGetInput,
    ActivityStatusInput,
    ActivityUpdateInput,
    ArtifactAddInput,
    ArtifactLinkInput,
    ArtifactsInput,
)
from services.mcp_gateway.core.tool import Hints, Tool
from shared.access import Scope

WRITING: Scope = "megabrain:write"
READING: Scope = "search"  # the notes are part of what search answers from

NOTE_TOOLS = (
    Tool(
        name="megabrain_add",
        title="Begin an activity",
        description="Record a new piece of work of this project as a note in .vault/megabrain, with a number that stays. "
        "Use it when work begins or is planned that is worth remembering.",
        takes=ActivityAddInput,
        gives=ActivityAnswer,
        hints=Hints(idempotent=False),
        scope=WRITING,
    ),
    Tool(
        name="megabrain_update",
        title="Record progress, a block or the end",
        description="Write into the note of an activity what was done, what is in the way, or how it ended. Use it whenever "
        "work got on, stopped or was finished. Recording the same twice on a day changes nothing.",
        takes=ActivityUpdateInput,
        gives=ActivityAnswer,
        hints=Hints(),
        scope=WRITING,
    ),
    Tool(
        name="megabrain_status",
        title="Activities and where each stopped",
        description="List the activities of this project, the one changed last first, with counts by state and where each "
        "stopped.",
        takes=ActivityStatusInput,
        gives=ActivitiesAnswer,
        hints=Hints(read_only=True),
        scope=READING,
    ),
    Tool(
        name="megabrain_get",
        title="Read an activity",
        description="Give the whole note of an activity; a long one in parts, each with the offset of the next.",
        takes=ActivityGetInput,
        gives=ActivityTextAnswer,
        hints=Hints(read_only=True),
        scope=READING,
    ),
    Tool(
        name="megabrain_artifact_add",
        title="Record a published page",
        description="Keep the address of a page that was published, with the activity that made it. A known address gets "
        "its next version, and only what is given overwrites.",
        takes=ArtifactAddInput,
        gives=ArtifactAnswer,
        hints=Hints(idempotent=False),
        scope=WRITING,
    ),
    Tool(
        name="megabrain_artifacts",
        title="Published pages",
        description="List the recorded pages with address, version and activity, the one published last first.",
        takes=ArtifactsInput,
        gives=ArtifactsAnswer,
        hints=Hints(read_only=True),
        scope=READING,
    ),
    Tool(
        name="megabrain_artifact_link",
        title="Tie a page to an activity",
        description="Tie a recorded page to the activity it belongs to; it is moved there if it had another.",
        takes=ArtifactLinkInput,
        gives=ArtifactAnswer,
        hints=Hints(),
        scope=WRITING,
    ),
)
