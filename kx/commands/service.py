"""`kx service`: kx at login, as the user's own service of systemd or launchd."""

from __future__ import annotations

import click

from kx.context import Context
from kx.exits import Exit
from kx.login import Login
from kx.render import as_json
from kx.setup.changes import Change, make, take_back
from kx.setup.machine import Machine, run_program, this_machine
from kx.setup.records import Records
from kx.setup.report import Report
from kx.setup.undo import plan_undo
from shared.errors import ErrorCode, KxError
from shared.stack_file import running_stack

JSON_SCHEMA = 1
JSON = click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")


@click.group("service", epilog="Example: kx service install")
def command() -> None:
    """Start kx at login: install, uninstall, status."""


@command.command("install", epilog="Example: kx service install")
@click.option("--as-root", is_flag=True, help="Install also where you are root: kx then runs as root.")
@JSON
@click.pass_obj
def install(context: Context, *, as_root: bool, is_json: bool) -> int:
    """Start kx at every login, and now: a systemd user unit, or a launchd agent on macOS."""
    machine, records = this_machine(), Records(context.settings)
    login = Login(context.settings, machine, run_program)
    report = Report(context, is_json=is_json)
    change = login.plan(records, as_root=as_root)
    if change.kind in {"refused", "skipped"}:
        raise _refusal(change, machine, as_root=as_root)
    if change.kind == "nothing":
        report.planned(change)
        report.print()
        return Exit.DONE
    report.diff(change)
    make(change, records)
    left = login.activate(was_there=change.target is not None and change.target.text is not None)
    report.ended(change, "done", commands=left, hints=login.hints() if left else ())
    report.print()
    if running_stack(context.settings.run_dir) is not None and not login.is_active():
        context.tell("a stack runs already; this one takes its place when that ends: kx down")
    return Exit.FAILED if left and login.has_manager() else Exit.DONE


@command.command("uninstall", epilog="Example: kx service uninstall")
@JSON
@click.pass_obj
def uninstall(context: Context, *, is_json: bool) -> int:
    """No longer start kx at login; what was written is removed, and the one that runs by it ends."""
    records = Records(context.settings)
    login = Login(context.settings, this_machine(), run_program)
    report = Report(context, is_json=is_json)
    record = records.of("login", login.path)
    if record is None:
        if login.path.exists():
            raise _foreign(login)
        if not is_json:
            context.tell("nothing to change")
        report.print()
        return Exit.DONE
    change = plan_undo(record, context.settings)
    if change.kind != "change":
        take_back(change, records)
        report.planned(change)
        report.print()
        return Exit.FAILED if change.kind == "refused" else Exit.DONE
    left = login.deactivate()
    take_back(change, records)
    report.ended(change, "done", commands=(*left, *login.after_removal()))
    report.print()
    return Exit.DONE


@command.command("status", epilog="Examples: kx service status    kx service status --json")
@JSON
@click.pass_obj
def status(context: Context, *, is_json: bool) -> int:
    """Say whether kx starts at login, and whether it runs; the exit code is 1 where it does not start."""
    login = Login(context.settings, this_machine(), run_program)
    found = {
        "file": str(login.path),
        "installed": login.path.is_file(),
        "enabled": login.is_enabled(),
        "running": login.is_active(),
    }
    if is_json:
        context.say(as_json({"schema": JSON_SCHEMA, **found}))
    elif not found["installed"]:
        context.say(context.catalogue.text("kx does not start at login; to change that: kx service install"))
    else:
        text = context.catalogue.text
        words = [
            text("enabled" if found["enabled"] else "not enabled"),
            text("runs" if found["running"] else "does not run"),
        ]
        context.say(f"{login.path}: {', '.join(words)}")
    return Exit.DONE if found["enabled"] else Exit.FAILED


def _refusal(change: Change, machine: Machine, *, as_root: bool) -> KxError:
    if machine.is_root and not as_root:
        return KxError(
            ErrorCode.USAGE,
            "you are root, and kx would run as root at every login",
            hint="run it as the user who searches, or say that you mean it: kx service install --as-root",
        )
    return KxError(
        ErrorCode.BAD_REQUEST, "{file}: {reason}", hint="see: kx service status", file=change.path, reason=change.why
    )


def _foreign(login: Login) -> KxError:
    return KxError(
        ErrorCode.BAD_REQUEST,
        "{file} was not written by kx",
        hint="remove it by hand: {commands}",
        file=login.path,
        commands=" && ".join(" ".join(command) for command in login.ending()),
    )
