"""`kx kb edit`: another revision, from a file or from an editor."""

from __future__ import annotations

import os
import sys
import tempfile

import click
from msgspec import Struct
from msgspec.structs import replace

from kx.commands.activity import JSON, STACK
from kx.commands.kb.items import tell_written
from kx.context import Context
from kx.knowledge.asking import ASK_S, ME, WholeRevision, Written, handed_over, read_whole, with_knowledge
from kx.knowledge.finding import item_id, pinned
from kx.knowledge.given import given_bytes
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import EditItem, ItemWritten
from shared.subjects import ITEM_EDIT


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
    data = given_bytes(file, given.pop("content"))
    text = handed_over(context, data, name=file or "--content") if data is not None else None
    change = _Change(text=text, **given)
    if not change.is_empty():
        tell_written(context, _write(context, item, change, stack=stack), is_json=is_json)
        return
    found = _opened(context, item, change.if_revision, stack=stack)
    made = click.edit(found.content, extension=".md")
    data = found.content if made is None else made  # closed without saving
    try:
        text = handed_over(context, data, name="the edited text")
        revision = change.if_revision or found.part.revision.id
        written = _write(context, found.part.item.id, replace(change, text=text, if_revision=revision), stack=stack)
    except (KxError, ExceptionGroup):  # embedded, it comes out of the services around it
        if data != found.content:
            context.tell("what you wrote is kept in {path}", path=_kept(data))
        raise
    tell_written(context, written, is_json=is_json)


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


def _write(context: Context, item: str, change: _Change, *, stack: bool | None) -> ItemWritten:
    async def asked(bus: Bus) -> ItemWritten:
        known = await item_id(bus, pinned(item).item)
        return await bus.request(ITEM_EDIT, change.message(known), timeout_s=ASK_S)

    return with_knowledge(context, asked, stack=stack, writes=True)


def _opened(context: Context, item: str, revision: str | None, *, stack: bool | None) -> WholeRevision:
    """Read what is to be edited; nothing is held while the editor is open."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise KxError(
            ErrorCode.USAGE,
            "nothing was given to change",
            hint="name a FILE, - for stdin, --content TEXT, --title or --locator",
        )

    async def asked(bus: Bus) -> WholeRevision:
        return await read_whole(bus, await item_id(bus, pinned(item).item), revision)

    return with_knowledge(context, asked, stack=stack)


def _kept(data: bytes) -> str:
    descriptor, path = tempfile.mkstemp(prefix="kx-edit-", suffix=".md")
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    return path
