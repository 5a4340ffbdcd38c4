"""`kx recall-context`: what bears on a question, from a project's memory and, where asked, from knowledge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kx.commands.activity import IN, JSON, STACK
from kx.context import Context
from kx.knowledge.asking import ME, ask
from kx.knowledge.documents import recalled_json
from kx.knowledge.text import recalled_text
from kx.render import as_json
from shared.memory_messages import RecallContext
from shared.subjects import RECALL


def _dashed(token: str) -> str:
    return token.replace("_", "-")  # `--include_knowledge true`, as skills write it


@click.command(
    "recall-context",
    context_settings={"token_normalize_func": _dashed},
    epilog="Example: kx recall-context --query 'how do we deploy' --include-knowledge --max-tokens 2000",
)
@click.option("--query", required=True, help="What is about to be done, or asked.")
@click.option(
    "--include-knowledge",
    type=click.BOOL,
    is_flag=False,
    flag_value=True,
    default=False,
    help="Knowledge too: what is tied to the project, and what is team-wide.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1, 100_000),
    default=4_000,
    show_default=True,
    help="How long all of it together may be.",
)
@click.option("--top", type=click.IntRange(1, 50), default=10, show_default=True, help="How many of each.")
@JSON
@IN
@STACK
@click.pass_obj
def command(
    context: Context, /, path: Path | None, *, query: str, is_json: bool, stack: bool | None, **asked: Any
) -> None:
    """Show what the project remembers that bears on a question, within a budget of tokens."""
    message = RecallContext(
        instance=context.enrol(path).instance,
        caller=ME,
        query=query.encode("utf-8", "replace").decode(),
        **asked,
    )
    found = ask(context, RECALL, message, stack=stack, writes=True)
    if is_json:
        context.say(as_json(recalled_json(found)))
    else:
        context.say(recalled_text(found, context.catalogue, context.paint))
