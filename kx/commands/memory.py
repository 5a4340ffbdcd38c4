"""`kx memory`: what a project remembers of its work, kept apart from knowledge bases."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click
import msgspec

from kx.commands.activity import IN, JSON, SESSION, STACK, session_of
from kx.context import Context
from kx.knowledge.asking import ASK_S, ME, ask, with_knowledge
from kx.knowledge.documents import document, memories_json
from kx.knowledge.exporting import unwritable
from kx.knowledge.text import memory_text
from kx.render import as_json
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.memory_messages import (
    Forget,
    MemoriesRequest,
    MemoryKind,
    MemoryRecord,
    PromoteMemory,
    Remember,
    Remembered,
)
from shared.subjects import FORGET, MEMORIES, PROMOTE, REMEMBER

PAGE = 200
FORGET_AT_ONCE = 100
STDIN = "-"
_SPAN = re.compile(r"([1-9]\d{0,5})([mhdw])")
_SPAN_S = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


@click.group("memory", epilog="Example: kx memory remember 'Deploys go through the canary first' --tag deploy")
def command() -> None:
    """Remember what a project learnt, list it, forget it."""


@command.command(
    "remember",
    epilog="Examples: kx memory remember 'Deploys go through the canary first' --source docs/deploy.md    "
    "kx memory remember 'Ana looks at the flaky test' --working --expires 7d",
)
@click.argument("text")
@click.option("--working", is_flag=True, help="For now only: it expires (after 14 days, unless --expires says when).")
@click.option("--expires", help="When it ends: 30m, 12h, 7d, 2w.")
@click.option("--source", default="", help="Where it was learnt: a path, an address.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be given several times.")
@click.option("--space", default="", help="The team space it belongs to, by name or id (default: yours alone).")
@SESSION
@JSON
@IN
@STACK
@click.pass_obj
def remember(
    context: Context, /, text: str, path: Path | None, *, is_json: bool, stack: bool | None, **given: Any
) -> None:
    """Remember TEXT (`-` is stdin); the same again is kept once."""
    kind: MemoryKind = "working" if given.pop("working") else "knowledge"
    expires, session = given.pop("expires"), given.pop("session")
    message = Remember(
        instance=context.enrol(path).instance,
        caller=ME,
        text=sys.stdin.read() if text == STDIN else text,
        kind=kind,
        expires_s=span_s(expires) if expires else None,
        session=session_of(context, session),
        **given,
    )
    _told(context, ask(context, REMEMBER, message, stack=stack, writes=True), is_json=is_json)


@command.command("list", epilog="Example: kx memory list --kind working")
@click.option("--kind", type=click.Choice(get_args(MemoryKind)), help="Only durable or only working records.")
@click.option("--limit", type=click.IntRange(1, PAGE), default=50, show_default=True, help="How many.")
@click.option("--offset", type=click.IntRange(0), default=0, help="How many to leave out first.")
@JSON
@IN
@STACK
@click.pass_obj
def list_records(context: Context, /, path: Path | None, *, is_json: bool, stack: bool | None, **asked: Any) -> None:
    """List what the project remembers, the newest first."""
    instance = context.enrol(path).instance
    message = MemoriesRequest(instance=instance, caller=ME, **asked)
    found = ask(context, MEMORIES, message, stack=stack)
    if is_json:
        context.say(as_json(memories_json(found)))
        return
    if not found.records:
        context.tell("nothing is remembered; remember something with: kx memory remember TEXT")
    for one in found.records:
        context.say(memory_text(one, context.catalogue, context.paint))


@command.command("forget", epilog="Examples: kx memory forget 5d0c1e…    kx memory forget --all")
@click.argument("ids", nargs=-1, metavar="ID…")
@click.option("--all", "is_all", is_flag=True, help="All that you may forget here; asks first.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@JSON
@IN
@STACK
@click.pass_obj
def forget(
    context: Context, /, ids: Sequence[str], path: Path | None, *, is_json: bool, stack: bool | None, **said: bool
) -> None:
    """Destroy records, to the bytes; no knowledge item is touched."""
    project = context.enrol(path)
    is_all = said["is_all"]
    if bool(ids) == is_all:
        raise KxError(
            ErrorCode.USAGE,
            "name the records to forget, or give --all",
            hint="see them with: kx memory list",
        )
    if (
        is_all
        and not said["yes"]
        and not context.confirm("Forget all that {project} remembers?", project=project.project)
    ):
        raise KxError(ErrorCode.USAGE, "nothing was forgotten", hint="to mean it: kx memory forget --all --yes")

    async def asked(bus: Bus) -> int:
        wanted = list(ids) or [one.id for one in await _all(bus, project.instance)]
        count = 0
        for at in range(0, len(wanted), FORGET_AT_ONCE):
            part = tuple(wanted[at : at + FORGET_AT_ONCE])
            message = Forget(instance=project.instance, caller=ME, ids=part)
            count += (await bus.request(FORGET, message, timeout_s=ASK_S)).forgotten
        return count

    forgotten = with_knowledge(context, asked, stack=stack, writes=True)
    if is_json:
        context.say(as_json(document(forgotten=forgotten)))
    else:
        context.tell("{count} forgotten", count=forgotten)


@command.command("promote", epilog="Example: kx memory promote 5d0c1e…")
@click.argument("record", metavar="ID")
@JSON
@IN
@STACK
@click.pass_obj
def promote(context: Context, record: str, path: Path | None, *, is_json: bool, stack: bool | None) -> None:
    """Make a working record durable: it expires no more."""
    message = PromoteMemory(instance=context.enrol(path).instance, caller=ME, id=record)
    done = ask(context, PROMOTE, message, stack=stack, writes=True)
    if is_json:
        context.say(as_json(document(record=done.record, is_new=done.is_new)))
    else:
        context.say(memory_text(done.record, context.catalogue, context.paint))


@command.command("export", epilog="Examples: kx memory export memory.jsonl    kx memory export - | jq .text")
@click.argument("file")
@JSON
@IN
@STACK
@click.pass_obj
def export(context: Context, file: str, path: Path | None, *, is_json: bool, stack: bool | None) -> None:
    """Write all records to FILE (`-` is stdout) as JSON, one a line, each with its source."""
    instance = context.enrol(path).instance

    async def asked(bus: Bus) -> list[MemoryRecord]:
        return await _all(bus, instance)

    records = with_knowledge(context, asked, stack=stack)
    data = b"".join(msgspec.json.encode(one) + b"\n" for one in records)
    if file == STDIN:
        context.give(data)
        return
    _write_new(Path(file), data)
    if is_json:
        context.say(as_json(document(file=file, records=len(records))))
        return
    told = "{count} records written to {path}" if len(records) != 1 else "1 record written to {path}"
    context.tell(told, count=len(records), path=file)


async def _all(bus: Bus, instance: InstanceId) -> list[MemoryRecord]:
    rows: list[MemoryRecord] = []
    total = 1
    while len(rows) < total:
        message = MemoriesRequest(instance=instance, caller=ME, offset=len(rows), limit=PAGE)
        page = await bus.request(MEMORIES, message, timeout_s=ASK_S)
        rows += page.records
        total = page.total if page.records else len(rows)
    return rows


def span_s(text: str) -> int:
    """Read a span of time; gives seconds.

    >>> span_s("7d"), span_s("30m")
    (604800, 1800)

    Raises:
        KxError: USAGE.
    """
    found = _SPAN.fullmatch(text)
    if found is None:
        raise KxError(
            ErrorCode.USAGE,
            "{value} is no span of time",
            hint="write 30m, 12h, 7d or 2w",
            value=text,
        )
    return int(found[1]) * _SPAN_S[found[2]]


def _write_new(path: Path, data: bytes) -> None:
    """Write where nothing is yet: an export overwrites nobody's file."""
    try:
        with path.open("xb") as opened:
            opened.write(data)
    except OSError as error:
        raise unwritable(path, error) from error


def _told(context: Context, done: Remembered, *, is_json: bool) -> None:
    if is_json:
        context.say(as_json(document(record=done.record, is_new=done.is_new)))
        return
    if not done.is_new:
        context.tell("it is remembered already")
    context.say(memory_text(done.record, context.catalogue, context.paint))
