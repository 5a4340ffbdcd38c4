"""`kx mcp`: what an agent starts to reach kx; a thin pump to the running stack."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import click

from kx.context import Context, working_directory
from kx.pump import pump
from shared.errors import ErrorCode, KxError
from shared.local_link import PROTOCOL, Hello
from shared.settings import Settings
from shared.stack_file import greet, running_stack


@click.command("mcp", epilog="Example: kx mcp --strict-project-root --project-root ~/src/shop")
@click.option(
    "--project-root",
    "roots",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Root of the project to serve; it must have a .kx.json (default: the project of the working directory).",
)
@click.option("--strict-project-root", "strict", count=True, help="Refuse to start unless the root is named.")
@click.option("--session", help="Name of the session, recorded with activities (default: KX_SESSION_ID).")
@click.option("--no-start", count=True, help="Do not start a stack when none runs.")
@click.pass_obj
def command(context: Context, roots: tuple[Path, ...], *, strict: int, session: str | None, no_start: int) -> None:
    """Serve one project to an agent over stdin and stdout (Model Context Protocol)."""
    for option, count in (("--project-root", len(roots)), ("--strict-project-root", strict), ("--no-start", no_start)):
        if count > 1:
            raise KxError(
                ErrorCode.USAGE, "{option} is given {count} times", hint="give it once", option=option, count=count
            )
    settings = context.settings
    root = _root(settings, roots[0] if roots else None)
    hello = Hello(
        kx=PROTOCOL,
        role="mcp",
        project_root=None if root is None else os.fspath(root),
        strict_project_root=bool(strict),
        cwd=os.fspath(working_directory()),
        session_id=session or settings.session_id or None,
    )

    def connect() -> socket.socket:
        return _connected(settings, hello, may_start=not no_start)

    pump(connect)


def _root(settings: Settings, given: Path | None) -> Path | None:
    """Choose between flag and KX_PROJECT_ROOT, which must not contradict each other."""
    from_environment = settings.project_root
    if given is None:
        return from_environment
    chosen = Path(os.path.abspath(given))  # noqa: PTH100 - links stay as they were typed
    if from_environment is not None and from_environment != chosen:
        raise KxError(
            ErrorCode.USAGE,
            "--project-root is {flag} and KX_PROJECT_ROOT is {variable}",
            hint="give one of the two",
            flag=chosen,
            variable=from_environment,
        )
    return chosen


def _connected(settings: Settings, hello: Hello, *, may_start: bool) -> socket.socket:
    found = running_stack(settings.run_dir)
    if found is None:
        if not may_start:
            raise KxError(
                ErrorCode.BUS_UNAVAILABLE,
                "no stack of {home} is running, and --no-start forbids to start one",
                hint="start one with: kx up -d",
                home=settings.home,
            )
        from kx.stack_start import ensure_stack  # where a stack runs it is not needed

        ensure_stack(settings)
        found = running_stack(settings.run_dir)
    if found is None:
        raise KxError(
            ErrorCode.STACK_UNREACHABLE, "the stack ended while it was being reached", hint="try again", retryable=True
        )
    return greet(found, hello)
