"""`kx artifact`: published pages, kept with the activity that made them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kx.commands.activity import IN, JSON, SESSION, STACK, ask_megabrain, session_of
from kx.context import Context
from kx.notes import artifact_json, artifact_text, artifact_written_json
from kx.render import as_json
from shared.megabrain_messages import AddArtifact, ArtifactsRequest, ArtifactWritten, LinkArtifact
from shared.subjects import ARTIFACT_ADD, ARTIFACT_LINK, ARTIFACTS


@click.group("artifact", epilog="Example: kx artifact add https://example.org/panel --title 'Release panel'")
def command() -> None:
    """Record published pages, and find them again."""


@command.command(
    "add", epilog="Example: kx artifact add https://example.org/panel --title 'Release panel' --activity 3"
)
@click.argument("url")
@click.option("--title", default="", help="What the page is called.")
@click.option("--description", default="", help="What it is about, on one line.")
@click.option("--activity", default="", help="Number or slug of its activity (default: the one of the session).")
@click.option("--file", "file", default="", help="The file that was published.")
@click.option("--agent", default="", help="Who published it.")
@click.option("--label", default="", help="A word for this version.")
@SESSION
@JSON
@IN
@STACK
@click.pass_obj
def add(
    context: Context, /, path: Path | None, *, session: str | None, is_json: bool, stack: bool | None, **given: str
) -> None:
    """Record the page at URL; a known address gets its next version, and keeps what is not given."""
    project = context.enrol(path)
    message = AddArtifact(instance=project.instance, session=session_of(context, session), **given)
    written = ask_megabrain(context, project, ARTIFACT_ADD, message, stack=stack)
    _told(context, written, is_json=is_json)


@command.command("link", epilog="Example: kx artifact link https://example.org/panel 3")
@click.argument("url")
@click.argument("activity")
@JSON
@IN
@STACK
@click.pass_obj
def link(context: Context, url: str, activity: str, path: Path | None, *, is_json: bool, stack: bool | None) -> None:
    """Tie the page at URL to ACTIVITY, its number or slug."""
    project = context.enrol(path)
    message = LinkArtifact(instance=project.instance, url=url, activity=activity)
    written = ask_megabrain(context, project, ARTIFACT_LINK, message, stack=stack)
    _told(context, written, is_json=is_json)


@command.command("list", epilog="Example: kx artifact list --activity 3 --json")
@click.option("--activity", default="", help="Only those of this activity, by number or slug.")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="How many.")
@click.option("--offset", type=click.IntRange(0), default=0, help="How many to leave out first.")
@JSON
@IN
@STACK
@click.pass_obj
def list_artifacts(context: Context, /, path: Path | None, *, is_json: bool, stack: bool | None, **asked: Any) -> None:
    """List the recorded pages, the one published last first."""
    project = context.enrol(path)
    message = ArtifactsRequest(instance=project.instance, **asked)
    found = ask_megabrain(context, project, ARTIFACTS, message, stack=stack)
    if is_json:
        context.say(as_json(artifact_json(found)))
        return
    for one in found.artifacts:
        context.say(artifact_text(one))
    if not found.artifacts:
        context.tell("no artifact is recorded; record one with: kx artifact add URL")


def _told(context: Context, written: ArtifactWritten, *, is_json: bool) -> None:
    if is_json:
        context.say(as_json(artifact_written_json(written)))
        return
    for note in written.notes:
        context.warn(note)
    context.say(artifact_text(written.artifact))
