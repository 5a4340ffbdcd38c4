"""`kx kb audit`, `link`, `unlink`, `links` and `limits`: what stands around the items."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec import Struct

from kx.commands.activity import IN, JSON, STACK
from kx.context import Context
from kx.knowledge.asking import ASK_S, ME, ask, with_knowledge
from kx.knowledge.documents import document, limits_json
from kx.knowledge.finding import find_base, item_id, pinned
from kx.knowledge.text import audit_text, limits_text, link_text
from kx.render import as_json
from shared.bus import Bus
from shared.knowledge_messages import PERSONAL
from shared.knowledge_upkeep_messages import Audit, AuditRequest, AuditRow, LimitsRequest, Links, LinksRequest, SetLink
from shared.registry import Project
from shared.subjects import AUDIT, LIMITS, LINK_SET, LINKS


@click.command("audit", epilog="Example: kx kb audit --space 'Platform team' --json > audit.json")
@click.option("--space", default=PERSONAL, help="The space, by name or id (default: your own).")
@JSON
@STACK
@click.pass_obj
def audit(context: Context, *, space: str, is_json: bool, stack: bool | None) -> None:
    """List what was done in a space, the oldest first: who, when, what."""

    async def asked(bus: Bus) -> list[AuditRow]:
        rows: list[AuditRow] = []
        page: Audit | None = None
        while page is None or not page.complete:
            message = AuditRequest(caller=ME, space=space, after=rows[-1].number if rows else 0)
            page = await bus.request(AUDIT, message, timeout_s=ASK_S)
            rows += page.rows
            if not page.rows:
                break
        return rows

    found = with_knowledge(context, asked, stack=stack)
    if is_json:
        context.say(as_json(document(space=space, rows=found)))
        return
    for one in found:
        context.say(audit_text(one))


class _Linked(Struct, frozen=True):
    project: str
    links: Links


@click.command("link", epilog="Example: kx kb link runbooks")
@click.argument("target", metavar="BASE_OR_ITEM")
@JSON
@IN
@STACK
@click.pass_obj
def link(context: Context, target: str, path: Path | None, *, is_json: bool, stack: bool | None) -> None:
    """Tie a base or an item to the project: what is recalled there may then come from it."""
    _set(context, context.enrol(path), target, linked=True, is_json=is_json, stack=stack)


@click.command("unlink", epilog="Example: kx kb unlink runbooks")
@click.argument("target", metavar="BASE_OR_ITEM")
@JSON
@IN
@STACK
@click.pass_obj
def unlink(context: Context, target: str, path: Path | None, *, is_json: bool, stack: bool | None) -> None:
    """Untie a base or an item from the project; nothing else changes."""
    _set(context, context.enrol(path), target, linked=False, is_json=is_json, stack=stack)


@click.command("links", epilog="Example: kx kb links --in ~/src/shop")
@JSON
@IN
@STACK
@click.pass_obj
def links(context: Context, path: Path | None, *, is_json: bool, stack: bool | None) -> None:
    """List the bases and items tied to the project."""
    name = _name(context.enrol(path))
    found = ask(context, LINKS, LinksRequest(caller=ME, project=name), stack=stack)
    _told(context, _Linked(name, found), is_json=is_json)


@click.command("limits", epilog="Example: kx kb limits")
@JSON
@STACK
@click.pass_obj
def limits(context: Context, *, is_json: bool, stack: bool | None) -> None:
    """Say how large what may be, and which files are taken."""
    found = ask(context, LIMITS, LimitsRequest(), stack=stack)
    if is_json:
        context.say(as_json(limits_json(found)))
    else:
        context.say(limits_text(found, context.catalogue))


def _set(context: Context, project: Project, target: str, *, linked: bool, is_json: bool, stack: bool | None) -> None:
    name = _name(project)

    async def asked(bus: Bus) -> _Linked:
        base = await find_base(bus, target)
        known = base.id if base is not None else await item_id(bus, pinned(target).item)
        message = SetLink(caller=ME, project=name, target=known, linked=linked)
        return _Linked(name, await bus.request(LINK_SET, message, timeout_s=ASK_S))

    _told(context, with_knowledge(context, asked, stack=stack), is_json=is_json)


def _told(context: Context, found: _Linked, *, is_json: bool) -> None:
    if is_json:
        context.say(as_json(document(project=found.project, links=found.links.links)))
        return
    if not found.links.links:
        context.tell("nothing is tied to this project; tie a base with: kx kb link BASE")
    for one in found.links.links:
        context.say(link_text(one, context.catalogue))


def _name(project: Project) -> str:
    return project.project_id or project.instance
