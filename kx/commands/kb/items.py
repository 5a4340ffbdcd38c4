"""`kx kb items` and `add`: items and what they say."""

from __future__ import annotations

from typing import Any, get_args

import click

from kx.commands.activity import JSON, STACK
from kx.context import Context
from kx.knowledge.asking import ME, ask, handed_over
from kx.knowledge.documents import document, written_json
from kx.knowledge.given import format_of, given_bytes
from kx.knowledge.text import item_text, items_text
from kx.render import as_json
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import CreateItem, ItemsRequest, ItemStatus, ItemWritten
from shared.subjects import ITEM_CREATE, ITEMS


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
    data = given_bytes(file, given.pop("content"))
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
        format=text_format or format_of(file),
        **given,
    )
    tell_written(context, ask(context, ITEM_CREATE, message, stack=stack, writes=True), is_json=is_json)


def tell_written(context: Context, written: ItemWritten, *, is_json: bool) -> None:
    """Say what became of an item."""
    for note in written.notes:
        context.warn(note)
    if is_json:
        context.say(as_json(written_json(written)))
        return
    if not written.is_changed:
        context.tell("it was so before; nothing was changed")
    context.say(item_text(written.item, context.catalogue, context.paint))
