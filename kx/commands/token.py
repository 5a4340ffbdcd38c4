"""`kx token`: access tokens for agents that come over HTTP."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from kx.context import Context
from kx.render import as_json
from kx.terminal import visible
from shared.access import PROFILES, SCOPES, AccessToken, Scope
from shared.access_tokens import AccessTokens
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId, is_instance_id
from shared.settings import ensure_home

DEFAULT_EXPIRY = "90d"
_SPAN = re.compile(r"([1-9]\d{0,3})([dh])")
_NO_PROJECT: frozenset[Scope] = frozenset({"knowledge:read", "knowledge:write"})  # bases belong to spaces
_SPAN_S = {"d": 86_400, "h": 3_600}
_PRINCIPAL = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}")


@click.group("token", epilog="Example: kx token create --scope search --expires 30d")
def command() -> None:
    """Make, list and revoke the tokens that let agents in over HTTP."""


@command.command("create", epilog="Example: kx token create --name laptop --scope search --scope ingest --expires 30d")
@click.option(
    "--scope", "scopes", multiple=True, type=click.Choice(SCOPES), help="What it allows; repeatable (default: search)."
)
@click.option(
    "--project",
    "projects",
    multiple=True,
    help="A project it is good for, by instance or path; repeatable (default: the one of the working directory; "
    "knowledge over /api/v1 needs none).",
)
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    default="ordinary-full",
    show_default=True,
    help="The kind of client, which decides the tools it is shown.",
)
@click.option(
    "--expires",
    default=DEFAULT_EXPIRY,
    show_default=True,
    help="When it ends: 30d, 12h, a date such as 2030-01-31 (UTC), or never.",
)
@click.option("--principal", default="", help="On whose behalf it acts (default: a name of its own).")
@click.option("--name", default="", help="A word to recognise it by.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")
@click.pass_obj
def create(
    context: Context,
    /,
    scopes: tuple[Scope, ...],
    projects: tuple[str, ...],
    expires: str,
    *,
    is_json: bool,
    **said: Any,
) -> None:
    """Make a token and print it, once: kx keeps only its hash."""
    ensure_home(context.settings)
    now_s = int(time.time())
    _check_principal(said["principal"])
    wanted = AccessToken(
        id="",  # given by the store
        scopes=tuple(scope for scope in SCOPES if scope in scopes) or ("search",),
        instances=tuple(dict.fromkeys(_instances(context, projects, scopes))),
        created_s=now_s,
        expires_s=expiry(expires, now_s),
        **said,
    )
    token, text = AccessTokens(context.settings.home).create(wanted)
    if is_json:
        context.say(as_json({"schema": 1, "token": text, **_row(token, now_s)}))
        return
    context.say(text)
    context.tell("this is shown once; send it as: Authorization: Bearer TOKEN")


@command.command("list", epilog="Example: kx token list --json")
@click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")
@click.pass_obj
def list_tokens(context: Context, *, is_json: bool) -> None:
    """Show the tokens that were made and what each allows; never the tokens themselves."""
    now_s = int(time.time())
    tokens = AccessTokens(context.settings.home).all()
    if is_json:
        context.say(as_json({"schema": 1, "tokens": [_row(token, now_s) for token in tokens]}))
        return
    if not tokens:
        context.tell("there is no token; make one with: kx token create")
    for token in tokens:
        ends = "never" if token.expires_s is None else _date(token.expires_s)
        words = [token.id, context.catalogue.text(token.state(now_s)), ends, token.profile, ",".join(token.scopes)]
        words += [",".join(token.instances), token.principal, token.name]
        context.say(visible("  ".join(word for word in words if word)))


@command.command("revoke", epilog="Example: kx token revoke 0a1b2c3d")
@click.argument("token_id", metavar="ID")
@click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")
@click.pass_obj
def revoke(context: Context, token_id: str, *, is_json: bool) -> None:
    """Make the token called ID worthless, at once and for good."""
    now_s = int(time.time())
    token = AccessTokens(context.settings.home).revoke(token_id, now_s)
    if is_json:
        context.say(as_json({"schema": 1, **_row(token, now_s)}))
        return
    context.tell("the token {token} lets nobody in any more", token=token.id)


def expiry(text: str, now_s: int) -> int | None:
    """Read when a token ends, as Unix time; None is never.

    >>> expiry("12h", 1_000), expiry("never", 0), expiry("1970-01-02", 0)
    (44200, None, 86400)

    Raises:
        KxError: USAGE when it is no such time, or is over already.
    """
    if text == "never":
        return None
    if span := _SPAN.fullmatch(text):
        return now_s + int(span[1]) * _SPAN_S[span[2]]
    try:
        ends_s = int(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp())
    except (ValueError, OverflowError):
        ends_s = -1
    if ends_s <= now_s:
        raise KxError(
            ErrorCode.USAGE,
            "{flag} is {found}, expected {expected}",
            flag="--expires",
            found=text,
            expected="30d, 12h, a date to come such as 2030-01-31, or never",
        )
    return ends_s


def _check_principal(name: str) -> None:
    if name and not _PRINCIPAL.fullmatch(name):
        raise KxError(
            ErrorCode.USAGE,
            "{name} cannot be a principal",
            hint="use at most 64 lower-case letters, digits, and . _ @ -",
            name=name,
        )


def _instances(context: Context, projects: tuple[str, ...], scopes: tuple[Scope, ...]) -> list[InstanceId]:
    if not projects:
        try:
            return [context.registered(None).instance]
        except KxError as error:
            if error.code is ErrorCode.INDEX_MISSING and scopes and _NO_PROJECT.issuperset(scopes):
                return []
            raise
    return [
        (context.registry.get(one) if is_instance_id(one) else context.registered(Path(one))).instance
        for one in projects
    ]


def _row(token: AccessToken, now_s: int) -> dict[str, object]:
    row = msgspec.to_builtins(token)
    times = {name: None if row[f"{name}_s"] is None else _date(row[f"{name}_s"]) for name in ("created", "expires")}
    return {
        "id": token.id,
        "state": token.state(now_s),
        **times,
        "scopes": row["scopes"],
        "instances": row["instances"],
        "profile": token.profile,
        "principal": token.principal,
        "name": token.name,
    }


def _date(unix_s: int) -> str:
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
