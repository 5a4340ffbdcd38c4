"""`kx kb spaces` and `kx kb space`: who shares what."""

from __future__ import annotations

import shlex
from typing import Any, get_args

import click

from kx.commands.activity import JSON, STACK
from kx.context import Context
from kx.knowledge.asking import ME, ask
from kx.knowledge.documents import document
from kx.knowledge.text import space_text
from kx.render import as_json
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import CreateSpace, Role, SetMember, SpacesRequest, SpaceWritten
from shared.subjects import SPACE_CREATE, SPACE_MEMBER, SPACES


@click.command("spaces", epilog="Example: kx kb spaces --json")
@JSON
@STACK
@click.pass_obj
def space_list(context: Context, *, is_json: bool, stack: bool | None) -> None:
    """List your spaces, the personal one first, with their members and roles."""
    found = ask(context, SPACES, SpacesRequest(caller=ME), stack=stack)
    if is_json:
        context.say(as_json(document(spaces=found.spaces)))
        return
    for one in found.spaces:
        context.say(space_text(one, context.catalogue, context.paint))


@click.group("space", epilog="Example: kx kb space create 'Platform team'")
def space() -> None:
    """Found a team space, and say who is in it."""


@space.command("create", epilog="Example: kx kb space create 'Platform team'")
@click.argument("name")
@JSON
@STACK
@click.pass_obj
def create(context: Context, name: str, *, is_json: bool, stack: bool | None) -> None:
    """Found the team space NAME; you are its owner."""
    _told(context, ask(context, SPACE_CREATE, CreateSpace(caller=ME, name=name), stack=stack), is_json=is_json)


@space.command("member", epilog="Example: kx kb space member 'Platform team' ana --role member")
@click.argument("space_name", metavar="SPACE")
@click.argument("principal")
@click.option("--role", type=click.Choice(get_args(Role)), help="What PRINCIPAL may do there.")
@click.option("--remove", is_flag=True, help="Take PRINCIPAL out.")
@JSON
@STACK
@click.pass_obj
def member(
    context: Context, /, space_name: str, principal: str, *, is_json: bool, stack: bool | None, **given: Any
) -> None:
    """Give PRINCIPAL a role in the team space SPACE, or take it away; `kx token create --principal` names one."""
    role: Role | None = given["role"]
    if (role is None) != given["remove"]:
        raise KxError(
            ErrorCode.USAGE,
            "give one of --role and --remove",
            hint="for example: kx kb space member {space} {principal} --role member",
            space=shlex.quote(space_name),
            principal=principal,
        )
    message = SetMember(caller=ME, space=space_name, principal=principal, role=role)
    _told(context, ask(context, SPACE_MEMBER, message, stack=stack), is_json=is_json)


def _told(context: Context, written: SpaceWritten, *, is_json: bool) -> None:
    if is_json:
        context.say(as_json(document(space=written.space)))
    else:
        context.say(space_text(written.space, context.catalogue, context.paint))
