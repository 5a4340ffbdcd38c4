"""What the endpoints about spaces do: list, found, members. Everything here works inside one transaction."""

from __future__ import annotations

import re

from services.knowledge.access import find_space, require_scope, standings
from services.knowledge.adapters.ids import fresh
from services.knowledge.adapters.store import Tables
from services.knowledge.changes import Done, Moment
from services.knowledge.core.limits import MAX_MEMBERS, MAX_NAME_CHARS, MAX_SPACES
from services.knowledge.core.records import Space
from services.knowledge.core.roles import Right, Standing, rights, scope_rights, sees_base
from services.knowledge.core.words import folded, name_of
from services.knowledge.pages import fitting
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import (
    Caller,
    CreateSpace,
    SetMember,
    SpaceRow,
    Spaces,
    SpacesRequest,
    SpaceWritten,
)

PERSONAL_NAME = "personal"
_PRINCIPAL = re.compile(r"[a-z0-9._@-]{1,64}")  # as `kx token create` takes them


def listed(tables: Tables, asked: SpacesRequest, moment: Moment) -> Done[Spaces]:
    """List the spaces of the caller; makes the personal one of who may write. Idempotent."""
    if Right.ITEM_WRITE in scope_rights(asked.caller.scopes):
        personal(tables, asked.caller, moment)
    rows = fitting(_row(tables, one) for one in standings(tables, asked.caller))
    return Done(reply=Spaces(spaces=rows))


def personal(tables: Tables, caller: Caller, moment: Moment) -> Standing:
    """Give the caller's own space, made when it is used first.

    Raises:
        KxError: KNOWLEDGE_FORBIDDEN without the scope to write.
    """
    require_scope(caller, Right.ITEM_WRITE)
    for one in standings(tables, caller):
        if one.space.kind == "personal":
            return one
    space = Space(id=fresh("spc"), kind="personal", name=PERSONAL_NAME, owner=caller.principal, created=moment.at)
    tables.spaces.add(space)
    moment.record(tables, space.id, "space.created", space.id, kind=space.kind)
    return Standing(space=space, role="owner", rights=rights("owner", caller.scopes))


def create(tables: Tables, asked: CreateSpace, moment: Moment) -> Done[SpaceWritten]:
    """Found a team space of which the caller is the owner.

    Raises:
        KxError: BAD_REQUEST, KNOWLEDGE_FORBIDDEN; KNOWLEDGE_EXISTS when the caller has a space of this name.
    """
    require_scope(asked.caller, Right.ITEM_WRITE)
    name = name_of("name", asked.name, MAX_NAME_CHARS)
    mine = standings(tables, asked.caller)
    if any(folded(one.space.name) == folded(name) for one in mine) or folded(name) == PERSONAL_NAME:
        raise exists(name)
    _require_room(tables, asked.caller.principal)
    space = Space(id=fresh("spc"), kind="team", name=name, owner=asked.caller.principal, created=moment.at)
    tables.spaces.add(space)
    moment.record(tables, space.id, "space.created", space.id, kind=space.kind)
    standing = Standing(space=space, role="owner", rights=rights("owner", asked.caller.scopes))
    return Done(reply=SpaceWritten(space=_row(tables, standing)))


def set_member(tables: Tables, asked: SetMember, moment: Moment) -> Done[SpaceWritten]:
    """Give a principal a role in a team space, or take it away. Idempotent.

    Raises:
        KxError: BAD_REQUEST, KNOWLEDGE_UNKNOWN, KNOWLEDGE_FORBIDDEN.
    """
    standing = find_space(tables, asked.caller, asked.space, Right.SPACE_ADMIN)
    space = standing.space
    if space.kind == "personal":
        raise KxError(
            ErrorCode.KNOWLEDGE_FORBIDDEN,
            "a personal space has its owner and nobody else",
            hint="found a team space: kx kb space create",
        )
    _check_member(space, asked)
    members = {one.principal: one.role for one in tables.spaces.members(space.id)}
    if members.get(asked.principal) != asked.role:
        if asked.role is not None and asked.principal not in members:
            if len(members) >= MAX_MEMBERS:
                raise _full(MAX_MEMBERS)
            _require_room(tables, asked.principal)
        tables.spaces.set_member(space.id, asked.principal, asked.role)
        moment.record(tables, space.id, "member.set", space.id, member=asked.principal, role=asked.role or "none")
    return Done(reply=SpaceWritten(space=_row(tables, standing)))


def exists(name: str) -> KxError:
    """Make the error of a name that is taken."""
    return KxError(
        ErrorCode.KNOWLEDGE_EXISTS, "the name {name} is taken", hint="use it, or choose another name", name=name
    )


def _check_member(space: Space, asked: SetMember) -> None:
    if not _PRINCIPAL.fullmatch(asked.principal):
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "{name} cannot be a principal",
            hint="use at most 64 lower-case letters, digits, and . _ @ -",
            name=asked.principal[:100],
        )
    if asked.principal == space.owner or asked.role == "owner":
        raise KxError(
            ErrorCode.BAD_REQUEST,
            "a space has one owner, who stays: {owner}",
            hint="give the role admin, member or viewer to another principal",
            owner=space.owner,
        )


def _require_room(tables: Tables, principal: str) -> None:
    if tables.spaces.count_of(principal) >= MAX_SPACES:
        raise _full(MAX_SPACES)


def _full(limit: int) -> KxError:
    return KxError(
        ErrorCode.BAD_REQUEST,
        "a space has at most {limit} members, and a principal at most {limit} spaces",
        hint="use one that is there",
        limit=limit,
    )


def _row(tables: Tables, standing: Standing) -> SpaceRow:
    space = standing.space
    is_told = Right.SPACE_ADMIN in standing.rights
    return SpaceRow(
        id=space.id,
        kind=space.kind,
        name=space.name,
        role=standing.role,
        bases=sum(sees_base(standing, base) for base in tables.spaces.bases(space.id)),
        members=tables.spaces.members(space.id) if is_told else (),
    )
