"""`kx kb items`, `add` and `edit`: items and what they say."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, get_args

import click
from msgspec import Struct

from kx.commands.activity import JSON, STACK
from kx.context import Context
from kx.knowledge.asking import ASK_S, ME, Written, ask, handed_over, read_whole, with_knowledge
from kx.knowledge.documents import document, written_json
from kx.knowledge.finding import item_id, pinned
from kx.knowledge.text import item_text, items_text
from kx.render import as_json
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.kinds import classify
from shared.knowledge_messages import CreateItem, EditItem, ItemsRequest, ItemStatus, ItemWritten
from shared.subjects import ITEM_CREATE, ITEM_EDIT, ITEMS

STDIN = "-"


@click.command("items", epilog="Example: kx kb items runbooks --status draft")
@click.argument("base", required=False)
@click.option("--status", type=click.Choice(get_args(ItemStatus)), help="Only items of this state.")
@click.option("--limit", type=click.IntRange(1, 500), default=100, show_default=True, help="How many.")
@click.option("--offset", type=click.IntRange(0), default=0, help="How many to leave out first.")
@JSON
@STACK
@click.pass_obj
def items(context: Context, /, base: str | None, *, is_json: bool, stack: bool | None, **asked: Any) -> None:
    """List the items of BASE, or of all your bases."""
    message = ItemsRequest(caller=ME, base=base, **asked)
    found = ask(context, ITEMS, message, stack=stack)
    if is_json:
        context.say(as_json(document(total=found.total, items=found.items)))
    else:
        context.say(items_text(found.items, found.total, context.catalogue, context.paint))


@click.command(
    "add",
    epilog="Examples: kx kb add runbooks --title 'Restart the gateway' restart.md --publish    "
    "kx kb add notes --title Idea --content 'Retry twice'",
)
@click.argument("base")
@click.argument("file", required=False)
@click.option("--title", required=True, help="What it is called.")
@click.option("--content", help="What it says, in the place of FILE.")
@click.option("--format", "text_format", help="markdown, json, python … (default: what FILE's name says).")
@click.option("--locator", default="", help="Where it comes from or belongs: a path, an address.")
@click.option("--publish", is_flag=True, help="Publish it at once.")
@JSON
@STACK
@click.pass_obj
def add(context: Context, /, base: str, file: str | None, *, is_json: bool, stack: bool | None, **given: Any) -> None:
    """Write an item into BASE from FILE (`-` is stdin): a draft, until it is published."""
    data = _given(file, given.pop("content"))
    text_format = given.pop("text_format")
    if data is None:
        raise KxError(
            ErrorCode.USAGE,
            "nothing was given to write",
            hint="name a FILE, - for stdin, or --content TEXT",
        )
    text = handed_over(context, data, name=file or "--content")
    message = CreateItem(
        caller=ME,
        base=base,
        content=text.content,
        spool=text.spool,
        format=text_format or _format_of(file),
        **given,
    )
    _told(context, ask(context, ITEM_CREATE, message, stack=stack, writes=True), is_json=is_json)


@click.command(
    "edit",
    epilog="Examples: kx kb edit 9f3c2a… restart.md    kx kb edit 9f3c2a… --title 'Restart the gateway safely'",
)
@click.argument("item")
@click.argument("file", required=False)
@click.option("--title", help="What it is called.")
@click.option("--content", help="What it says, in the place of FILE.")
@click.option("--format", "text_format", help="markdown, json, python …")
@click.option("--locator", help="Where it comes from or belongs.")
@click.option("--if-revision", help="Only if this revision is still the current one.")
@JSON
@STACK
@click.pass_obj
def edit(
    context: Context, /, item: str, file: str | None, *, is_json: bool, stack: bool | None, **given: str | None
) -> None:
    """Change ITEM: another content is a new revision, the old one stays as it was.

    With nothing given, the content opens in your editor.
    """
    data = _given(file, given.pop("content"))
    text = handed_over(context, data, name=file or "--content") if data is not None else None
    change = _Change(text=text, **given)

    async def asked(bus: Bus) -> ItemWritten:
        known = await item_id(bus, pinned(item).item)
        made = change if not change.is_empty() else await _edited(context, bus, known, change.if_revision)
        return await bus.request(ITEM_EDIT, made.message(known), timeout_s=ASK_S)

    _told(context, with_knowledge(context, asked, stack=stack, writes=True), is_json=is_json)


class _Change(Struct, frozen=True, kw_only=True):
    title: str | None = None
    locator: str | None = None
    text_format: str | None = None
    if_revision: str | None = None
    text: Written | None = None

    def is_empty(self) -> bool:
        return self.text is None and self.title is None and self.locator is None and self.text_format is None

    def message(self, item: str) -> EditItem:
        text = self.text
        return EditItem(
            caller=ME,
            item=item,
            title=self.title,
            locator=self.locator,
            content=None if text is None or text.spool else text.content,
            spool=text.spool if text is not None else "",
            format=self.text_format,
            if_revision=self.if_revision,
        )


async def _edited(context: Context, bus: Bus, item: str, if_revision: str | None) -> _Change:
    """Let the person edit the current content; what somebody else wrote meanwhile is not overwritten."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise KxError(
            ErrorCode.USAGE,
            "nothing was given to change",
            hint="name a FILE, - for stdin, --content TEXT, --title or --locator",
        )
    current = await read_whole(bus, item)
    made = click.edit(current.content, extension=".md")
    if made is None:  # closed without saving
        made = current.content
    revision = if_revision or current.part.revision.id
    return _Change(text=handed_over(context, made, name="the edited text"), if_revision=revision)


def _given(file: str | None, content: str | None) -> bytes | None:
    if file is not None and content is not None:
        raise KxError(ErrorCode.USAGE, "give FILE or --content, not both", hint="leave one of them out")
    if content is not None:
        return content.encode("utf-8", "surrogateescape")
    if file == STDIN:
        return sys.stdin.buffer.read()
    return _read(Path(file)) if file is not None else None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise KxError(
            ErrorCode.PATH_NOT_FOUND,
            "{path} cannot be read: {problem}",
            hint="name a file that is there",
            path=path,
            problem=error.strerror or str(error),
        ) from error


def _format_of(file: str | None) -> str:
    return classify(Path(file).name).language if file not in {None, STDIN} else "markdown"


def _told(context: Context, written: ItemWritten, *, is_json: bool) -> None:
    for note in written.notes:
        context.warn(note)
    if is_json:
        context.say(as_json(written_json(written)))
        return
    if not written.is_changed:
        context.tell("it was so before; nothing was changed")
    context.say(item_text(written.item, context.catalogue, context.paint))
