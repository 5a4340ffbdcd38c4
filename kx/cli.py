"""The command line: verbs to modules, errors to messages and exit codes.

A verb's module is imported when it is called, because start-up is a budget.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, cast

import click

from kx.catalogue import Catalogue
from kx.context import Context
from kx.exits import Exit, exit_code_of
from kx.help import spoken
from kx.streams import abandon_stdout, ensure_streams
from kx.terminal import visible
from kx.usage import SuggestingGroup, usage_error
from shared.errors import ErrorCode, KxError
from shared.settings import fallback_language, harden_process, load_settings

VERBS = (
    "init", "index", "search", "why-not", "status", "watch", "activity", "artifact", "kb", "memory", "recall-context",
    "mcp", "setup", "up", "down", "service", "project", "doctor", "vacuum", "purge", "token", "bus", "serve",
)  # fmt: skip


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_OF_THE_MACHINE = _FULL | {errno.EACCES, errno.EPERM, errno.EROFS}  # no fault of ours, whatever was being written


class Verbs(SuggestingGroup):
    """The verbs, found by name; each speaks the language of the run."""

    catalogue = Catalogue()

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """Give the verbs in the order they are met."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        """Import one verb."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"kx.commands.{cmd_name.replace('-', '_')}").command
        return spoken(command, self.catalogue)

    def in_language_of(self, catalogue: Catalogue) -> Verbs:
        """Give a copy that speaks the catalogue's language."""
        told = cast("Verbs", spoken(self, catalogue))
        told.catalogue = catalogue
        return told


EPILOG = """\b
Try it:   kx search --index 'how are errors retried'
Keep it:  kx setup

\b
Exit codes:
  0    it worked
  1    it failed, and will until someone acts
  2    the command line, or a value in it, is wrong
  3    no index or no such project yet; the message says how to begin
  75   busy or unreachable: try again
  78   the configuration or the installation is wrong
  130  interrupted"""


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EPILOG,
)
@click.version_option(package_name="kx", prog_name="kx", message="%(prog)s %(version)s")
@click.option("--home", type=click.Path(), help="Folder kx keeps everything in (default ~/.kx).")
@click.option(
    "--lang", type=click.Choice(["en", "pt"]), help="Language of help and messages (default: KX_LANG, the locale)."
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="Least severe log line (default: warning).",
)
@click.option(
    "--threads", type=click.IntRange(0, 256), help="Threads the model may use (default 0: one for each core)."
)
@click.option(
    "--model-dir",
    type=click.Path(),
    help="Folder of another 384-dimensional sentence encoder (default: the one that came with kx).",
)
@click.option("--bus-port", type=click.IntRange(0, 65535), help="Port of the local bus (default 0: any free one).")
@click.pass_context
def main(ctx: click.Context, /, **flags: Any) -> None:
    """Search a project's docs, code, configuration and notes by meaning and by exact words, on this machine."""
    settings = load_settings({name: value for name, value in flags.items() if value is not None})
    if ctx.invoked_subcommand != "mcp":  # a pump logs nothing; loading this would cost each agent 10 MB and 80 ms
        from shared import logs

        logs.configure(settings.log_level)
    ctx.obj = Context(settings)
    if ctx.invoked_subcommand != "serve":  # a stack has six of them; whoever started it has said so
        for warning in settings.warnings:
            ctx.obj.warn(warning)


def run(arguments: Sequence[str]) -> int:
    """Run the command and give its exit code; no traceback and no apology reaches the user."""
    ensure_streams()
    harden_process()
    # SIGPIPE stays ignored: click ends quietly where the reader of an answer is gone (`kx search … | head`), and a peer
    # that goes away on a socket must not end the command.
    return execute(arguments)


def execute(arguments: Sequence[str]) -> int:
    """Do what the arguments say, in a process that is prepared."""
    catalogue = _catalogue(arguments)
    try:
        result = main.in_language_of(catalogue).main(args=list(arguments), prog_name="kx", standalone_mode=False)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return Exit.USAGE
    except click.ClickException as error:
        return _fail(usage_error(error, _called(arguments)), catalogue)
    except (click.Abort, KeyboardInterrupt):
        return Exit.INTERRUPTED
    except Exception as error:  # noqa: BLE001  # the edge: ours become messages, anything else is raised again
        return _fail(_known(error), catalogue)
    return int(result) if isinstance(result, int) else Exit.DONE


def _called(arguments: Sequence[str]) -> str:
    return " ".join(["kx", *[word for word in arguments if word in VERBS][:1]])


def _catalogue(arguments: Sequence[str]) -> Catalogue:
    """Choose the language before anything is run, because help and refusals are printed before that."""
    flags = main.make_context("kx", list(arguments), resilient_parsing=True).params
    try:
        return Catalogue(load_settings({name: flags.get(name) for name in ("home", "lang")}).lang)
    except KxError:  # the settings are what is wrong; the run will say so
        return Catalogue(fallback_language(flags.get("lang")))


def _known(error: BaseException) -> KxError:
    """Find our error inside the groups that task groups raise; anything else is a fault of kx and is raised."""
    if isinstance(error, KxError):
        return error
    if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
        return _unwritable(error)
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            try:
                return _known(inner)
            except BaseException:  # noqa: BLE001, S112  # looked for among the others; raised below if it is alone
                continue
    raise error


def _unwritable(error: OSError) -> KxError:
    """Say what the machine refuses: a file or folder, or with no name of one the output."""
    if error.filename is None:
        abandon_stdout()
        return KxError(
            ErrorCode.DISK_FULL,
            "the output could not be written: {reason}",
            hint="free some space where the output goes",
            reason=error.strerror,
        )
    is_full = error.errno in _FULL
    return KxError(
        ErrorCode.DISK_FULL if is_full else ErrorCode.CONFIG_UNREADABLE,
        "{path} cannot be used: {reason}",
        hint="free some space" if is_full else "make it and its folder your own and writable",
        path=os.fsdecode(error.filename),
        reason=error.strerror,
    )


def _fail(error: KxError, catalogue: Catalogue) -> Exit:
    message, hint = catalogue.error(error)
    print(visible(f"{error.code}: {message}"), file=sys.stderr)
    if hint:
        print(visible(hint), file=sys.stderr)
    return exit_code_of(error)
