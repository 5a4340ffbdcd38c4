"""The command line: verbs to modules, errors to messages and exit codes.

A verb's module is imported when it is called, because start-up is a budget.
"""

from __future__ import annotations

import importlib
import signal
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import click

from kx.catalogue import Catalogue
from kx.context import Context
from kx.exits import Exit, exit_code_of
from kx.terminal import visible
from shared import logs
from shared.errors import KxError
from shared.settings import harden_process, load_settings

VERBS = ("init", "index", "search", "status", "project", "serve")


class Verbs(click.Group):
    """The verbs, found by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """Give the verbs in the order they are met."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        """Import one verb."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"kx.commands.{cmd_name}").command
        return command


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Try it: kx search --index 'how are errors retried'.  Keep it: kx init, then kx index.",
)
@click.version_option(version("kx"), prog_name="kx")
@click.option("--home", type=click.Path(), help="Folder kx keeps everything in (default ~/.kx).")
@click.option("--lang", type=click.Choice(["en", "pt"]), help="Language of messages.")
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), help="Least severe log line.")
@click.option("--threads", type=click.IntRange(0, 256), help="Threads the model may use; 0: one for each core.")
@click.option("--model-dir", type=click.Path(), help="Folder of another 384-dimensional sentence encoder.")
@click.option("--bus-port", type=click.IntRange(0, 65535), help="Port of the local bus; 0 takes a free one.")
@click.pass_context
def main(ctx: click.Context, /, **flags: Any) -> None:
    """Search a project's docs, code, configuration and notes by meaning and by exact words, on this machine."""
    settings = load_settings({name: value for name, value in flags.items() if value is not None})
    logs.configure(settings.log_level)
    ctx.obj = Context(settings)


def run(arguments: Sequence[str]) -> int:
    """Run the command and give its exit code; no traceback and no apology reaches the user."""
    harden_process()
    # A reader that goes away (`kx search … | head`) ends the command quietly.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        result = main.main(args=list(arguments), prog_name="kx", standalone_mode=False)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as error:
        error.show()
        return Exit.USAGE
    except (click.Abort, KeyboardInterrupt):
        return Exit.INTERRUPTED
    except Exception as error:  # noqa: BLE001  # the edge: ours become messages, anything else is raised again
        return _fail(_known(error))
    return int(result) if isinstance(result, int) else Exit.DONE


def _known(error: BaseException) -> KxError:
    """Find our error inside the groups that task groups raise; anything else is a fault of kx and is raised."""
    if isinstance(error, KxError):
        return error
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            try:
                return _known(inner)
            except BaseException:  # noqa: BLE001, S112  # looked for among the others; raised below if it is alone
                continue
    raise error


def _fail(error: KxError) -> Exit:
    catalogue = Catalogue(_language())
    message, hint = catalogue.error(error)
    print(visible(f"{error.code}: {message}"), file=sys.stderr)
    if hint:
        print(visible(hint), file=sys.stderr)
    return exit_code_of(error)


def _language() -> str:
    try:
        return load_settings().lang
    except KxError:
        return "en"  # the settings themselves may be what is wrong
