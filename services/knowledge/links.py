"""What the endpoints about links do: tie an item or a base to a project, untie it, list. Works inside one transaction."""

from __future__ import annotations

import re

from services.knowledge.access import find_base, require_scope, seen_item
from services.knowledge.adapters.store import Tables
from services.knowledge.changes import Done, Moment
from services.knowledge.core.roles import Right
from services.knowledge.pages import fitting
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import Caller
from shared.knowledge_upkeep_messages import LinkRow, Links, LinksRequest, SetLink

_PROJECT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
MAX_LINKS = 1_000  # of a project


def put(tables: Tables, asked: SetLink, moment: Moment) -> Done[Links]:
    """Tie what the caller may read to a project, or untie it; nothing else is changed. Idempotent.

    Raises:
        KxError: BAD_REQUEST, KNOWLEDGE_UNKNOWN, KNOWLEDGE_FORBIDDEN.
    """
    _check(asked.project)
    require_scope(asked.caller, Right.READ)
    target, space = _target(tables, asked.caller, asked.target)
    require_scope(asked.caller, Right.ITEM_WRITE)
    if asked.linked and len(tables.journal.linked(asked.project)) >= MAX_LINKS:
        raise KxError(
            ErrorCode.BAD_REQUEST, "a project has at most {limit} links", hint="link a base instead", limit=MAX_LINKS
        )
    if asked.linked:
        is_changed = tables.journal.link(asked.project, target, moment.at)
    else:
        is_changed = tables.journal.unlink(asked.project, target)
    if is_changed:
        action = "link.set" if asked.linked else "link.removed"
        moment.record(tables, space, action, target, project=asked.project)
    return Done(reply=_links(tables, asked.caller, asked.project))


def listed(tables: Tables, asked: LinksRequest) -> Links:
    """List what is linked to a project, as far as the caller may read it.

    Raises:
        KxError: BAD_REQUEST, KNOWLEDGE_FORBIDDEN.
    """
    _check(asked.project)
    require_scope(asked.caller, Right.READ)
    return _links(tables, asked.caller, asked.project)


def _target(tables: Tables, caller: Caller, typed: str) -> tuple[str, str]:
    item = seen_item(tables, caller, typed)
    if item is not None:
        return item.item.id, item.base.space
    base = find_base(tables, caller, typed, Right.READ).base
    return base.id, base.space


def _links(tables: Tables, caller: Caller, project: str) -> Links:
    rows = (_row(tables, caller, target) for target in tables.journal.linked(project))
    return Links(links=fitting(row for row in rows if row is not None))


def _row(tables: Tables, caller: Caller, target: str) -> LinkRow | None:
    item = seen_item(tables, caller, target)
    if item is not None:
        return LinkRow(target=target, kind="item", name=item.item.title)
    if tables.spaces.base(target) is None:
        return None
    try:
        return LinkRow(target=target, kind="base", name=find_base(tables, caller, target, Right.READ).base.name)
    except KxError:  # not for this caller
        return None


def _check(project: str) -> None:
    if not _PROJECT.fullmatch(project):
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{project} is no project id",
            hint="use the projectId of .kx.json, or the instance of: kx project list",
            project=project[:200],
        )
