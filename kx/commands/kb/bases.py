"""`kx kb list`, `create` and `update`: the bases."""

from __future__ import annotations

import click
from msgspec import Struct

from kx.commands.activity import JSON, STACK
from kx.context import Context
from kx.knowledge.asking import ASK_S, ME, with_knowledge
from kx.knowledge.documents import document
from kx.knowledge.finding import bases
from kx.knowledge.text import base_text
from kx.render import as_json
from shared.bus import Bus
from shared.knowledge_messages import PERSONAL, BaseRow, CreateBase, SpacesRequest, UpdateBase
from shared.subjects import BASE_CREATE, BASE_UPDATE, SPACES


class _Told(Struct, frozen=True):
    bases: tuple[BaseRow, ...]
    spaces: dict[str, str]  # name by id


@click.command("list", epilog="Example: kx kb list --space 'Platform team'")
@click.option("--space", help="Only this space, by name or id.")
@JSON
@STACK
@click.pass_obj
def base_list(context: Context, *, space: str | None, is_json: bool, stack: bool | None) -> None:
    """List the bases of your spaces, with how much is in them."""

    async def asked(bus: Bus) -> _Told:
        return _Told(await bases(bus, space), await _spaces(bus))

    found = with_knowledge(context, asked, stack=stack)
    if is_json:
        context.say(as_json(document(bases=found.bases)))
        return
    if not found.bases:
        context.tell("no base; create one with: kx kb create NAME")
    for one in found.bases:
        context.say(base_text(one, found.spaces.get(one.space, ""), context.catalogue, context.paint))


@click.command("create", epilog="Example: kx kb create runbooks --description 'What to do at night'")
@click.argument("name")
@click.option("--description", default="", help="What it is about.")
@click.option("--space", default=PERSONAL, help="The space it belongs to, by name or id (default: your own).")
@JSON
@STACK
@click.pass_obj
def create(context: Context, name: str, *, description: str, space: str, is_json: bool, stack: bool | None) -> None:
    """Create the base NAME."""

    async def asked(bus: Bus) -> _Told:
        message = CreateBase(caller=ME, name=name, description=description, space=space)
        written = await bus.request(BASE_CREATE, message, timeout_s=ASK_S)
        return _Told((written.base,), await _spaces(bus))

    _told(context, with_knowledge(context, asked, stack=stack), is_json=is_json)


@click.command("update", epilog="Example: kx kb update runbooks --description 'What to do, day and night'")
@click.argument("base")
@click.option("--name", help="Its new name.")
@click.option("--description", help="What it is about.")
@JSON
@STACK
@click.pass_obj
def update(
    context: Context, base: str, *, name: str | None, description: str | None, is_json: bool, stack: bool | None
) -> None:
    """Change the name or the description of BASE; what is not given stays."""

    async def asked(bus: Bus) -> _Told:
        message = UpdateBase(caller=ME, base=base, name=name, description=description)
        written = await bus.request(BASE_UPDATE, message, timeout_s=ASK_S)
        return _Told((written.base,), await _spaces(bus))

    _told(context, with_knowledge(context, asked, stack=stack), is_json=is_json)


def _told(context: Context, found: _Told, *, is_json: bool) -> None:
    base = found.bases[0]
    if is_json:
        context.say(as_json(document(base=base)))
    else:
        context.say(base_text(base, found.spaces.get(base.space, ""), context.catalogue, context.paint))


async def _spaces(bus: Bus) -> dict[str, str]:
    found = await bus.request(SPACES, SpacesRequest(caller=ME), timeout_s=ASK_S)
    return {one.id: one.name for one in found.spaces}
