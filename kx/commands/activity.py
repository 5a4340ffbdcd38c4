"""`kx activity`: the project's memory of its work."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, TypeVar

import anyio
import click
from msgspec.structs import replace

from kx.client import services
from kx.context import Context
from kx.notes import (
    activities_json,
    activities_text,
    activity_line,
    activity_text_json,
    activity_written_json,
    board_text,
)
from kx.render import as_json
from kx.terminal import visible
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.megabrain_messages import (
    Activities,
    ActivitiesRequest,
    ActivityRequest,
    ActivityRow,
    ActivityWritten,
    AddActivity,
    FirstState,
    UpdateActivity,
    UpdateKind,
)
from shared.messages import InstanceMessage, Message, ProgressRequest
from shared.registry import Project
from shared.subjects import ACTIVITIES, ACTIVITY, ACTIVITY_ADD, ACTIVITY_UPDATE, PROGRESS, RequestRoute

ASK_S = 30.0  # another writer may hold the vault for ten of them
SEARCHABLE_MS = 3_000
READING = frozenset({"status", "get", "artifacts"})
PAGE = 200

Q = TypeVar("Q", bound=InstanceMessage)
R = TypeVar("R", bound=Message)

IN = click.option(
    "--in",
    "path",
    type=click.Path(path_type=Path),
    help="The project, by any path in it (default: the working directory).",
)
STACK = click.option(
    "--stack/--no-stack", default=None, help="Use the running services, or never (default: if they run)."
)
SESSION = click.option("--session", help="Name of the session it is done in (default: KX_SESSION_ID).")
JSON = click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")


@click.group("activity", epilog="Example: kx activity add 'Retry of payments' --squad core")
def command() -> None:
    """Record what is worked on: begun, got on, blocked, done."""


@command.command("add", epilog="Example: kx activity add 'Retry of payments' --description 'Why and how' --squad core")
@click.argument("title")
@click.option("--description", default="", help="What it is about, in Markdown.")
@click.option("--squad", default="", help="Team, one of `squads` in .kx.json (default: transversal).")
@click.option("--module", default="", help="Module or service it is about.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be given several times.")
@click.option("--branch", "branches", multiple=True, help="REPOSITORY:BRANCH; may be given several times.")
@click.option("--doc", default="", help="Where the feature is documented.")
@click.option("--started", default="", help="Day it began, as 2026-01-31 (default: today).")
@click.option("--due", default="", help="Day it is planned for.")
@click.option("--pending", is_flag=True, help="It is planned, not begun.")
@SESSION
@JSON
@IN
@STACK
@click.pass_obj
def add(
    context: Context,
    /,
    path: Path | None,
    *,
    pending: bool,
    session: str | None,
    is_json: bool,
    stack: bool | None,
    **given: Any,
) -> None:
    """Begin the activity TITLE: a note in .vault/megabrain and a line in the map of contents."""
    project = context.enrol(path)
    state: FirstState = "pendente" if pending else "em-andamento"
    message = AddActivity(
        instance=project.instance,
        state=state,
        session=session_of(context, session),
        **given,
    )
    written = ask_megabrain(context, project, ACTIVITY_ADD, message, stack=stack)
    _told(context, written, is_json=is_json)


@command.command("update", epilog="Example: kx activity update 3 --progress 'The retry works; tests are missing'")
@click.argument("ref")
@click.option("--progress", help="What was done.")
@click.option("--block", help="What is in the way; it is blocked from now on.")
@click.option("--done", help="How it ended; may be empty.")
@click.option("--reopen", help="Why it goes on; may be empty.")
@SESSION
@JSON
@IN
@STACK
@click.pass_obj
def update(
    context: Context,
    /,
    ref: str,
    path: Path | None,
    *,
    session: str | None,
    is_json: bool,
    stack: bool | None,
    **given: str | None,
) -> None:
    """Record progress, a block, the end or a new beginning of REF, its number or slug."""
    kinds: tuple[UpdateKind, ...] = ("progress", "block", "done", "reopen")
    chosen = [(kind, text) for kind in kinds if (text := given[kind]) is not None]
    if len(chosen) != 1:
        raise KxError(
            ErrorCode.USAGE,
            "give one of --progress, --block, --done and --reopen",
            hint="for example: kx activity update {ref} --progress 'what was done'",
            ref=ref,
        )
    project = context.enrol(path)
    kind, text = chosen[0]
    message = UpdateActivity(
        instance=project.instance, ref=ref, kind=kind, text=text, session=session_of(context, session)
    )
    written = ask_megabrain(context, project, ACTIVITY_UPDATE, message, stack=stack)
    if not written.is_changed and not is_json:
        context.tell("the same was recorded before; nothing was changed")
    _told(context, written, is_json=is_json)


@command.command("status", epilog="Example: kx activity status --state bloqueado --json")
@click.option("--limit", type=click.IntRange(1, PAGE), default=20, show_default=True, help="How many.")
@click.option("--offset", type=click.IntRange(0), default=0, help="How many to leave out first.")
@click.option("--state", default="", help="Only this state: em-andamento, pendente, bloqueado or concluida.")
@JSON
@IN
@STACK
@click.pass_obj
def status(context: Context, /, path: Path | None, *, is_json: bool, stack: bool | None, **asked: Any) -> None:
    """List the activities, the one changed last first, and where each stopped."""
    project = context.enrol(path)
    message = ActivitiesRequest(instance=project.instance, **asked)
    found = ask_megabrain(context, project, ACTIVITIES, message, stack=stack)
    if is_json:
        context.say(as_json(activities_json(found)))
        return
    context.say(activities_text(found, context.catalogue, context.paint))
    for note in found.notes:
        context.warn(note)


@command.command("get", epilog="Example: kx activity get 3")
@click.argument("ref")
@JSON
@IN
@STACK
@click.pass_obj
def get(context: Context, ref: str, path: Path | None, *, is_json: bool, stack: bool | None) -> None:
    """Print the note of REF, its number or slug."""
    project = context.enrol(path)
    offset: int | None = 0
    parts: list[str] = []
    while offset is not None:
        message = ActivityRequest(instance=project.instance, ref=ref, offset=offset, limit=50_000)
        part = ask_megabrain(context, project, ACTIVITY, message, stack=stack)
        parts.append(part.text)
        offset = part.next_offset
    if is_json:
        context.say(as_json(activity_text_json(part.activity, "".join(parts))))
        return
    context.say(visible("".join(parts)).rstrip("\n"))


@command.command("board", epilog="Example: kx activity board")
@JSON
@IN
@STACK
@click.pass_obj
def board(context: Context, path: Path | None, *, is_json: bool, stack: bool | None) -> None:
    """Show the states as columns, each with its activities."""
    project = context.enrol(path)
    rows: list[ActivityRow] = []
    found: Activities | None = None
    while found is None or len(rows) < found.total:
        message = ActivitiesRequest(instance=project.instance, limit=PAGE, offset=len(rows))
        found = ask_megabrain(context, project, ACTIVITIES, message, stack=stack)
        rows += found.activities
        if not found.activities:
            break
    if is_json:
        context.say(as_json(activities_json(replace(found, activities=tuple(rows)))))
        return
    columns = shutil.get_terminal_size().columns
    context.say(board_text(rows, context.catalogue, context.paint, width=columns))
    for note in found.notes:
        context.warn(note)


def session_of(context: Context, given: str | None) -> str:
    """Choose the session that is recorded."""
    return given or context.settings.session_id


def ask_megabrain(
    context: Context, project: Project, route: RequestRoute[Q, R], message: Q, *, stack: bool | None
) -> R:
    """Ask, and after a write without a stack wait until the index, if there is one, has it."""
    is_writing = route.verb not in READING
    writes = is_writing and project.index_path.exists()

    async def ask() -> R:
        reaching = services(context.settings, writes=writes, mode="kx activity", stack=stack, notes=True)
        async with reaching as reach:
            reply = await reach.bus.request(route, message, timeout_s=ASK_S)
            if writes and not reach.is_stack:
                await _until_searchable(reach.bus, project.instance)
            return reply

    return anyio.run(ask)


async def _until_searchable(bus: Bus, instance: InstanceId) -> None:
    """Wait a moment for the words; whoever holds the index instead finds the file by itself."""
    request = ProgressRequest(instance=instance, until="text", wait_ms=SEARCHABLE_MS)
    try:
        await bus.request(PROGRESS, request, timeout_s=SEARCHABLE_MS / 1000 + 1)
    except KxError:
        return


def _told(context: Context, written: ActivityWritten, *, is_json: bool) -> None:
    if is_json:
        context.say(as_json(activity_written_json(written)))
        return
    for note in written.notes:
        context.warn(note)
    context.say(activity_line(written.activity, context.catalogue))
