"""The options that say what is asked and which results count, of `kx search` and `kx why-not` alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

KINDS = ("docs", "code", "config", "vault")
MODES = ("auto", "rrf", "hybrid", "semantic", "lexical")

in_project = click.option(
    "--in",
    "path",
    type=click.Path(path_type=Path),
    help="The project, by any path in it (default: the working directory).",
)

_RESULTS = (
    click.option("--top", type=click.IntRange(1, 100), default=10, show_default=True, help="How many results."),
    click.option(
        "--offset",
        type=click.IntRange(0, 10_000),
        default=0,
        show_default=True,
        help="Results to leave out, for paging.",
    ),
    click.option(
        "--type",
        "kind",
        type=click.Choice([*KINDS, "all"]),
        default="all",
        show_default=True,
        help="Only this kind of file.",
    ),
    click.option("--path", "path_glob", default="", help="Only paths that match, e.g. 'src/**/*.py'."),
    click.option(
        "--mode",
        type=click.Choice(MODES),
        default="auto",
        show_default=True,
        help="How the lanes are put together.",
    ),
)

grouped = click.option(
    "--group",
    type=click.Choice(["file", "passage"]),
    default="file",
    show_default=True,
    help="One result a file, or a flat list of passages.",
)

_OUTPUT = (
    click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md)."),
    click.option("--stack/--no-stack", default=None, help="Use the running services, or never (default: if they run)."),
)


def asked(function: F) -> F:
    """Give a verb the options from `--top` to `--mode`."""
    return _with(_RESULTS, function)


def answered(function: F) -> F:
    """Give a verb `--json` and `--stack`."""
    return _with(_OUTPUT, function)


def _with(options: tuple[Callable[[F], F], ...], function: F) -> F:
    for option in reversed(options):
        function = option(function)
    return function
