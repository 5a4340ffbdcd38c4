"""`kx up`: run the whole stack and start again whatever dies; `-d` in the background."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from functools import partial

import anyio
import click

from kx.context import Context
from kx.exits import Exit
from kx.interrupts import until_interrupted
from kx.stack_health import end_when_idle, wait_until_ready
from kx.stack_lock import adopt, hold
from kx.stack_start import refuse_second_bus, start_detached
from kx.supervisor import Supervisor, starter, supervise
from shared.settings import ensure_home


@click.command("up", epilog="Examples: kx up    kx up -d")
@click.option(
    "-d", "--detach", is_flag=True, help="Return once every service answers; the stack goes on in the background."
)
@click.option("--linger", type=float, hidden=True, help="End these seconds after the last client left.")
@click.option("--held", type=int, hidden=True, help="The open lock file of whoever starts us in the background.")
@click.pass_obj
def command(context: Context, *, detach: bool, linger: float | None, held: int | None) -> int:
    """Run every service of kx, start again what dies, and stop all in order on Ctrl+C or `kx down`."""
    if detach:
        start_detached(context.settings)
        if not anyio.run(until_interrupted, partial(wait_until_ready, context.settings)):
            return Exit.INTERRUPTED  # of the waiting: the stack goes on starting
        context.tell("the stack is ready; see how it is with: kx status; end it with: kx down")
        return Exit.DONE
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    ensure_home(context.settings)
    in_background = held is not None
    lock = adopt(held) if held is not None else hold(context.settings.run_dir)
    try:
        refuse_second_bus(context.settings)
        anyio.run(_run, context, linger, in_background)
    finally:
        os.close(lock)
    return Exit.DONE


async def _run(context: Context, linger_s: float | None, in_background: bool) -> None:
    supervisor = Supervisor(starter(context.settings, logs_to_files=in_background))

    async def say_ready() -> None:
        await wait_until_ready(context.settings, limit_s=None)
        with suppress(OSError):  # whoever read it has gone; the stack has not
            context.tell("the stack is ready; Ctrl+C ends it")

    async def end_unused() -> None:
        await end_when_idle(context.settings, linger_s or 0.0, supervisor.stop)

    beside = [*([] if in_background else [say_ready]), *([] if linger_s is None else [end_unused])]
    await supervise(supervisor, *beside)
