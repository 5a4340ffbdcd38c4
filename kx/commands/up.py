"""`kx up`: run the whole stack and start again whatever dies; `-d` in the background."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
import click
from msgspec.structs import replace

from kx.bus_server import find_nats_server
from kx.context import Context
from kx.exits import Exit
from kx.interrupts import until_interrupted
from kx.render import JSON_SCHEMA, as_json
from kx.roots import refuse_unseen_projects
from kx.stack_health import end_when_idle, wait_until_ready
from kx.stack_lock import adopt, hold, holder
from kx.stack_start import refuse_second_bus, start_detached
from kx.supervisor import Supervisor, starter, supervise
from shared.settings import ensure_home


@click.command("up", epilog="Examples: kx up    kx up -d")
@click.option(
    "-d", "--detach", is_flag=True, help="Return once every service answers; the stack goes on in the background."
)
@click.option("--http", is_flag=True, help="Serve agents over HTTP, also before there is a token.")
@click.option("--http-port", type=click.IntRange(0, 65535), help="Port of HTTP (default 5959; 0: any free one).")
@click.option(
    "--http-host",
    type=click.Choice(["127.0.0.1", "0.0.0.0"]),  # noqa: S104 - only when it is asked for
    help="Where HTTP listens (default 127.0.0.1); 0.0.0.0 is every address of this machine, never without a token.",
)
@click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")
@click.option("--linger", type=float, hidden=True, help="End these seconds after the last client left.")
@click.option("--held", type=int, hidden=True, help="The open lock file of whoever starts us in the background.")
@click.pass_obj
def command(
    context: Context,
    /,
    *,
    detach: bool,
    http: bool,
    is_json: bool,
    linger: float | None,
    held: int | None,
    **http_at: Any,
) -> int:
    """Run every service of kx, start again what dies, and stop all in order on Ctrl+C or `kx down`."""
    told = {"http": "on"} if http else {}
    told |= {name: value for name, value in http_at.items() if value is not None}
    context.settings = replace(context.settings, **told)
    if held is None and context.can_ask():  # what starts it at login has nobody to ask
        refuse_unseen_projects(context)
    if detach:
        start_detached(context.settings)
        if not anyio.run(until_interrupted, partial(wait_until_ready, context.settings)):
            return Exit.INTERRUPTED  # of the waiting: the stack goes on starting
        if is_json:
            supervisor = holder(context.settings.run_dir)
            _say_ready(context, None if supervisor is None else supervisor.pid)
        else:
            context.tell("the stack is ready; see how it is with: kx status; end it with: kx down")
        return Exit.DONE
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    ensure_home(context.settings)
    find_nats_server()
    in_background = held is not None
    lock = adopt(held) if held is not None else hold(context.settings.run_dir)
    try:
        refuse_second_bus(context.settings)
        anyio.run(_run, context, linger, in_background, is_json)
    finally:
        os.close(lock)
    return Exit.DONE


async def _run(context: Context, linger_s: float | None, in_background: bool, is_json: bool) -> None:
    supervisor = Supervisor(starter(context.settings, logs_to_files=in_background))

    async def say_ready() -> None:
        await wait_until_ready(context.settings, limit_s=None)
        with suppress(OSError):  # whoever read it has gone; the stack has not
            if is_json:
                _say_ready(context, os.getpid())
            else:
                context.tell("the stack is ready; Ctrl+C ends it")

    async def end_unused() -> None:
        await end_when_idle(context.settings, linger_s or 0.0, supervisor.stop)

    beside = [*([] if in_background else [say_ready]), *([] if linger_s is None else [end_unused])]
    await supervise(supervisor, *beside)


def _say_ready(context: Context, pid: int | None) -> None:
    context.say(as_json({"schema": JSON_SCHEMA, "ready": True, "pid": pid}))
