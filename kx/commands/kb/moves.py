"""`kx kb publish`, `archive` and `restore`: what is seen, and what is not."""

from __future__ import annotations

from collections.abc import Sequence

import click
from msgspec import Struct

from kx.commands.activity import JSON, STACK
from kx.context import Context
from kx.knowledge.asking import ASK_S, ME, with_knowledge
from kx.knowledge.documents import document
from kx.knowledge.finding import find_base, item_id, pinned
from kx.knowledge.text import base_text, item_text
from kx.render import as_json
from shared.bus import Bus
from shared.knowledge_messages import BaseMove, BaseRow, ItemMove, ItemRow, MoveBase, MoveItem
from shared.subjects import BASE_MOVE, ITEM_MOVE


class _Moved(Struct, frozen=True):
    bases: list[BaseRow]
    items: list[ItemRow]


@click.command("publish", epilog="Example: kx kb publish 9f3c2a…")
@click.argument("items", nargs=-1, required=True, metavar="ITEM…")
@JSON
@STACK
@click.pass_obj
def publish(context: Context, items: Sequence[str], *, is_json: bool, stack: bool | None) -> None:
    """Publish items, by id or title: from now on their current revision is found and can be cited."""

    async def asked(bus: Bus) -> _Moved:
        return _Moved([], [await _move_item(bus, text, "publish") for text in items])

    _told(context, with_knowledge(context, asked, stack=stack, writes=True), is_json=is_json)


@click.command("archive", epilog="Example: kx kb archive runbooks")
@click.argument("targets", nargs=-1, required=True, metavar="BASE_OR_ITEM…")
@JSON
@STACK
@click.pass_obj
def archive(context: Context, targets: Sequence[str], *, is_json: bool, stack: bool | None) -> None:
    """Hide bases and items at once, by id or name; nothing of them is lost."""
    _move(context, targets, "archive", is_json=is_json, stack=stack)


@click.command("restore", epilog="Example: kx kb restore runbooks")
@click.argument("targets", nargs=-1, required=True, metavar="BASE_OR_ITEM…")
@JSON
@STACK
@click.pass_obj
def restore(context: Context, targets: Sequence[str], *, is_json: bool, stack: bool | None) -> None:
    """Make archived bases and items what they were before."""
    _move(context, targets, "restore", is_json=is_json, stack=stack)


def _move(context: Context, targets: Sequence[str], move: BaseMove, *, is_json: bool, stack: bool | None) -> None:
    async def asked(bus: Bus) -> _Moved:
        moved = _Moved([], [])
        for text in targets:
            base = await find_base(bus, text)
            if base is None:
                moved.items.append(await _move_item(bus, text, move))
            else:
                message = MoveBase(caller=ME, base=base.id, move=move)
                moved.bases.append((await bus.request(BASE_MOVE, message, timeout_s=ASK_S)).base)
        return moved

    _told(context, with_knowledge(context, asked, stack=stack, writes=True), is_json=is_json)


async def _move_item(bus: Bus, text: str, move: ItemMove) -> ItemRow:
    message = MoveItem(caller=ME, item=await item_id(bus, pinned(text).item), move=move)
    return (await bus.request(ITEM_MOVE, message, timeout_s=ASK_S)).item


def _told(context: Context, moved: _Moved, *, is_json: bool) -> None:
    if is_json:
        context.say(as_json(document(bases=moved.bases, items=moved.items)))
        return
    for base in moved.bases:
        context.say(base_text(base, "", context.catalogue, context.paint))
    for item in moved.items:
        context.say(item_text(item, context.catalogue, context.paint))
