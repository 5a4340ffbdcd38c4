"""`kx bus`: credentials for other programs on the bus."""

from __future__ import annotations

import time

import click

from kx.bus_probe import is_let_in
from kx.bus_server import bus_is_running, reload_users
from kx.bus_users import ToolUser, forget_user, read_tool_users, tool_user
from kx.context import Context
from kx.render import as_json
from shared.bus_address import read_bus_file
from shared.bus_config import HOST
from shared.errors import ErrorCode, KxError
from shared.settings import ensure_home

RELOAD_S, POLL_S = 3.0, 0.02  # until the bus has read its configuration again: milliseconds, unless it is starting


@click.group("bus", epilog="Example: kx bus credentials --json")
def command() -> None:
    """Give other programs on this machine their own credentials to ask kx over NATS."""


@command.command("credentials", epilog="Example: kx bus credentials --instance 0123456789abcdef --json")
@click.option("--instance", help="The tree it may ask about (default: the one of the working directory).")
@click.option("--name", help="What to call the program, so that its credentials can be revoked alone.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")
@click.pass_obj
def credentials(context: Context, instance: str | None, name: str | None, *, is_json: bool) -> None:
    """Print what a program needs to search one project, and nothing else, over NATS; made on first use."""
    ensure_home(context.settings)
    run_dir = context.settings.run_dir
    project = context.registered(None) if instance is None else context.registry.get(instance)
    user = tool_user(run_dir, project.instance, name)
    reload_users(run_dir)
    server = _server(context, user)
    if server is None:
        context.tell("no bus is running; it will know this user when it starts: kx up -d")
    if is_json:
        context.say(as_json(_described(user, server)))
        return
    for key, value in _described(user, server).items():
        context.say(f"{key}: {value if value is not None else '-'}")


@command.command("list", epilog="Example: kx bus list")
@click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")
@click.pass_obj
def list_users(context: Context, *, is_json: bool) -> None:
    """Show the users that other programs were given; never their passwords."""
    users = read_tool_users(context.settings.run_dir)
    if is_json:
        rows = [{"user": user.name, "instance": user.instance} for user in users]
        context.say(as_json({"schema": 1, "users": rows}))
        return
    for user in users:
        context.say(f"{user.name}  {user.instance}")


@command.command("revoke", epilog="Example: kx bus revoke tool-0123456789abcdef")
@click.argument("name", metavar="NAME")
@click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")
@click.pass_obj
def revoke(context: Context, name: str, *, is_json: bool) -> None:
    """Take back the credentials of one program; a running bus hangs up on it."""
    ensure_home(context.settings)
    if not forget_user(context.settings.run_dir, name):
        raise KxError(ErrorCode.BAD_REQUEST, "the bus has no user {user}", hint="see them with: kx bus list", user=name)
    reload_users(context.settings.run_dir)
    if is_json:
        context.say(as_json({"schema": 1, "user": name}))
        return
    context.tell("{name} may not use the bus any more", name=name)


def _described(user: ToolUser, server: str | None) -> dict[str, object]:
    return {
        "schema": 1,
        "server": server,
        "user": user.name,
        "password": user.password,
        "inbox_prefix": user.inbox_prefix,
        "instance": user.instance,
    }


def _server(context: Context, user: ToolUser) -> str | None:
    """Give the address of a bus that runs, once it knows the user; None when none runs."""
    found = read_bus_file(context.settings.run_dir)
    if found is None or not bus_is_running(context.settings.run_dir):
        return None
    give_up = time.monotonic() + RELOAD_S
    while not is_let_in(found.port, user.name, user.password):
        if time.monotonic() > give_up:
            raise KxError(
                ErrorCode.BUS_UNAVAILABLE,
                "the bus does not let the user {name} in",
                hint="try again in a moment; if it stays so: kx down, then kx up -d",
                retryable=True,
                name=user.name,
            )
        time.sleep(POLL_S)
    return f"nats://{HOST}:{found.port}"
