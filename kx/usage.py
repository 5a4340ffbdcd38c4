"""Mistakes on the command line: said like every error of kx, with a code and what to type next."""

from __future__ import annotations

import click
from click.exceptions import NoSuchCommand

from shared.errors import ErrorCode, KxError


def usage_error(error: click.ClickException, command: str) -> KxError:
    """Turn the refusal of the library that reads the command line into ours; `command` is what was called, if known."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    return KxError(
        ErrorCode.USAGE,
        "{problem}",
        hint="see: {command} --help",
        problem=error.format_message(),
        command=context.command_path if context is not None else command,
    )


class SuggestingGroup(click.Group):
    """A group that names the nearest verb when it meets an unknown one, also where verbs are found by import."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb."""
        try:
            return super().resolve_command(ctx, args)
        except NoSuchCommand as error:
            known = self.list_commands(ctx)
            raise NoSuchCommand(error.command_name, possibilities=known, ctx=ctx) from None
