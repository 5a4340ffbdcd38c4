"""`kx down`: end the stack of this home, in order."""

from __future__ import annotations

import os
import signal
import time

import click

from kx.bus_server import bus_is_running
from kx.context import Context
from kx.render import JSON_SCHEMA, as_json
from kx.stack_lock import holder
from kx.supervisor import BUS_STOP_S, STOP_S
from shared.process_identity import ProcessIdentity, is_running

WAIT_S = STOP_S + BUS_STOP_S + 3.0  # the orderly way takes as long at most
KILLED_S = 2.0
POLL_S = 0.02


@click.command("down", epilog="Example: kx down")
@click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")
@click.pass_obj
def command(context: Context, *, is_json: bool) -> None:
    """End the stack: return when none of its processes runs any more."""
    supervisor = holder(context.settings.run_dir)
    if supervisor is not None:
        _end(supervisor)
    if is_json:
        is_foreign = supervisor is None and bus_is_running(context.settings.run_dir)
        context.say(as_json({"schema": JSON_SCHEMA, "ended": supervisor is not None, "foreign": is_foreign}))
    elif supervisor is not None:
        context.tell("the stack has ended")
    elif bus_is_running(context.settings.run_dir):
        context.tell(
            "no stack was started by kx up; end the processes where they were started (honcho, systemd, compose)"
        )
    else:
        context.tell("no stack is running")


def _end(supervisor: ProcessIdentity) -> None:
    """Ask, wait, and in the end kill: its children end with it."""
    os.kill(supervisor.pid, signal.SIGTERM)
    if not _gone(supervisor, WAIT_S):
        os.kill(supervisor.pid, signal.SIGKILL)
        _gone(supervisor, KILLED_S)


def _gone(supervisor: ProcessIdentity, limit_s: float) -> bool:
    give_up = time.monotonic() + limit_s
    while is_running(supervisor):
        if time.monotonic() > give_up:
            return False
        time.sleep(POLL_S)
    return True
