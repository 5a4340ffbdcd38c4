"""The messages of megabrain: activities and artifacts of a project (pure).

As those of `shared.messages`, of which they are a part in a file of their own.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from shared.messages import InstanceMessage, Message

UpdateKind = Literal["progress", "block", "done", "reopen"]
FirstState = Literal["em-andamento", "pendente"]


class ActivityRow(Struct, frozen=True, kw_only=True):
    """One activity, as its note says."""

    id: int  # stable number, shown as #N; 0 where a note written by hand has none
    slug: str  # the note is .vault/megabrain/{slug}.md
    title: str
    state: str  # em-andamento, pendente, bloqueado or concluida; else the note's own word
    squad: str
    path: str  # of the note, project-relative
    module: str = ""
    started: str = ""  # YYYY-MM-DD
    due: str = ""  # YYYY-MM-DD: planned, or when it was concluded
    updated: str = ""  # YYYY-MM-DD, with THH:MM:SS in notes of kx
    stopped: str = ""  # the last entry of its log, or of its blocks while it is blocked; at most 300 characters
    stopped_at: str = ""  # YYYY-MM-DD


class AddActivity(InstanceMessage, frozen=True, kw_only=True):
    """Begin an activity: a new note. A title whose slug is taken is refused, so asking twice makes one note."""

    title: str
    description: str = ""  # Markdown
    squad: str = ""  # one of the project's squads, else it becomes transversal
    module: str = ""
    state: FirstState = "em-andamento"
    tags: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()  # "repository:branch"
    doc: str = ""  # where the feature is documented
    started: str = ""  # YYYY-MM-DD; today without it
    due: str = ""  # YYYY-MM-DD
    session: str = ""  # the client's own name for its session


class UpdateActivity(InstanceMessage, frozen=True, kw_only=True):
    """Record progress, a block, the end or a new beginning. Idempotent: by activity, kind, text and day."""

    ref: str  # "#3", "3" or the slug
    kind: UpdateKind
    text: str = ""  # Markdown; may be empty for done and reopen
    session: str = ""


class ActivityWritten(Message, frozen=True, kw_only=True):
    """The note is on disk; `notes` says what beside it is not."""

    activity: ActivityRow
    notes: tuple[str, ...] = ()  # English sentences
    is_changed: bool = True  # false when the same was recorded before


class ActivitiesRequest(InstanceMessage, frozen=True, kw_only=True):
    """Ask for the activities, the one changed last first."""

    limit: int = 20  # 1..200
    offset: int = 0
    state: str = ""  # only this state


class Activities(Message, frozen=True, kw_only=True):
    """A page of activities."""

    project: str
    activities: tuple[ActivityRow, ...]
    total: int  # that there are, in the state asked for
    counts: dict[str, int]  # all activities by state
    notes: tuple[str, ...] = ()  # notes that cannot be read, as English sentences


class ActivityRequest(InstanceMessage, frozen=True, kw_only=True):
    """Ask for the text of one note, a part at a time."""

    ref: str
    offset: int = 0  # characters to leave out
    limit: int = 16_000  # characters, 1..50,000


class ActivityText(Message, frozen=True, kw_only=True):
    """A part of a note; it ends with a whole line where there is one."""

    activity: ActivityRow
    text: str  # line endings are "\\n", what is no UTF-8 is replaced
    offset: int  # of its first character
    total_chars: int
    next_offset: int | None = None  # None: nothing follows


class ArtifactRow(Struct, frozen=True, kw_only=True):
    """One published page."""

    url: str
    title: str
    version: int
    created: str  # YYYY-MM-DD
    updated: str  # YYYY-MM-DD
    description: str = ""
    activity: str = ""  # slug
    activity_id: int = 0  # 0 without an activity, or when its note has no number
    file: str = ""
    agent: str = ""
    session: str = ""


class AddArtifact(InstanceMessage, frozen=True, kw_only=True):
    """Record a published page: version 1, or the next one of a known address; only what is given overwrites."""

    url: str  # http or https
    title: str = ""
    description: str = ""
    activity: str = ""  # "#3", "3" or the slug; without it the activity that recorded the session
    file: str = ""  # what was published
    agent: str = ""
    label: str = ""  # of this version
    session: str = ""


class LinkArtifact(InstanceMessage, frozen=True, kw_only=True):
    """Tie a recorded artifact to an activity. Idempotent: by url and activity."""

    url: str
    activity: str  # "#3", "3" or the slug


class ArtifactWritten(Message, frozen=True, kw_only=True):
    """The store is on disk; `notes` says what beside it is not."""

    artifact: ArtifactRow
    is_new: bool
    notes: tuple[str, ...] = ()  # English sentences


class ArtifactsRequest(InstanceMessage, frozen=True, kw_only=True):
    """Ask for the artifacts, the one published last first."""

    activity: str = ""  # only of this activity
    limit: int = 20  # 1..200
    offset: int = 0


class Artifacts(Message, frozen=True, kw_only=True):
    """A page of artifacts."""

    project: str
    artifacts: tuple[ArtifactRow, ...]
    total: int
