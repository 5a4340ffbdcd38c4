"""`kx kb delete`: destroy a base or an item, for good and to the bytes."""

from __future__ import annotations

import shlex
import sys

import click

from kx import counted
from kx.commands.activity import JSON, STACK
from kx.context import Context
from kx.knowledge.asking import ME, with_knowledge
from kx.knowledge.documents import document
from kx.knowledge.finding import find_base, item_id, pinned
from kx.render import as_json
from kx.terminal import visible
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import BaseRow, DeleteBase, DeleteItem, Erased
from shared.subjects import BASE_DELETE, ITEM_DELETE

ERASE_S = 300.0  # the database and an index are written anew


@click.command(
    "delete",
    epilog="Examples: kx kb delete runbooks    kx kb delete runbooks --confirm runbooks    kx kb delete 9f3c2a…",
)
@click.argument("target", metavar="BASE_OR_ITEM")
@click.option("--confirm", help="The name of the base, or the id of the item: deletes without asking.")
@JSON
@STACK
@click.pass_obj
def delete(context: Context, target: str, *, confirm: str | None, is_json: bool, stack: bool | None) -> None:
    """Destroy a base with all its items, or one item, and every revision, for good; kx kb archive only hides."""

    async def asked(bus: Bus) -> Erased:
        base = await find_base(bus, target)
        if base is not None:
            message = DeleteBase(caller=ME, base=base.id, confirm=_base_confirmed(context, base, confirm))
            return await bus.request(BASE_DELETE, message, timeout_s=ERASE_S)
        item = await item_id(bus, pinned(target).item)
        return await bus.request(
            ITEM_DELETE,
            DeleteItem(caller=ME, item=item, confirm=_item_confirmed(context, item, confirm)),
            timeout_s=ERASE_S,
        )

    erased = with_knowledge(context, asked, stack=stack, writes=True)
    if is_json:
        context.say(as_json(document(items=erased.items, revisions=erased.revisions, residue=erased.residue)))
    else:
        count = erased.revisions
        revisions = context.catalogue.text("{count} revisions" if count != 1 else "1 revision", count=count)
        items = counted.items(erased.items, context.catalogue)
        context.tell("destroyed: {items}, {revisions}", items=items, revisions=revisions)
    if erased.residue:
        raise KxError(
            ErrorCode.INTERNAL,
            "bytes of what was destroyed were still found in {count} files",
            hint="stop whatever else reads them (kx down), then delete once more; the rows are gone",
            count=erased.residue,
        )


def _base_confirmed(context: Context, base: BaseRow, confirm: str | None) -> str:
    if confirm is not None:
        return confirm
    if not sys.stdin.isatty():
        raise _unconfirmed(base.name, f"kx kb delete {base.id} --confirm {shlex.quote(base.name)}")
    context.tell(
        "the base {name} with {items} is destroyed for good; type its name to go on:",
        name=base.name,
        items=counted.items(base.items, context.catalogue),
    )
    typed = sys.stdin.readline().rstrip("\n")
    if typed != base.name:
        raise _unconfirmed(base.name, f"kx kb delete {base.id}")
    return typed


def _item_confirmed(context: Context, item: str, confirm: str | None) -> str:
    if confirm is not None:
        return confirm
    if not context.confirm("Destroy the item {item} and all its revisions for good?", item=item):
        raise _unconfirmed(item, f"kx kb delete {item} --confirm {item}")
    return item


def _unconfirmed(name: str, command: str) -> KxError:
    return KxError(
        ErrorCode.USAGE,
        "{name} was not confirmed; nothing was destroyed",
        hint="to mean it: {command}",
        name=visible(name),
        command=command,
    )
