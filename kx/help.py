"""Help in the language of the run: the verbs' own words, and those of the library that reads the command line.

A verb is written in English with a click decorator and knows nothing of this. `spoken` gives its copy in one language;
what click adds by itself (titles, defaults, its own options) is worded by the formatter of the copy's context.
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Iterable

import click

from kx.catalogue import Catalogue

_EXAMPLES = re.compile(r"Examples?: (?=kx )")
_BETWEEN = "    "  # examples stand in one line of source
_EXTRA = re.compile(r"  \[(?P<items>[^\[\]]*)\]$")
_UNWRAPPED = "\b\n"  # click keeps the lines of such a paragraph


def spoken(command: click.Command, catalogue: Catalogue) -> click.Command:
    """Give a copy of `command`, and of all below it, that speaks the catalogue's language."""
    told = copy.copy(command)
    told.context_class = _context_class(catalogue)
    if command.help:
        told.help = catalogue.text(inspect.cleandoc(command.help))
        told.short_help = " ".join(told.help.split("\n\n")[0].split())  # in a list whole, not cut off by click
    if command.epilog:
        told.epilog = _epilog(command.epilog, catalogue)
    if isinstance(command, click.Group) and isinstance(told, click.Group):
        told.commands = {name: spoken(below, catalogue) for name, below in command.commands.items()}
    return told


def _epilog(epilog: str, catalogue: Catalogue) -> str:
    """Give each example a line of its own; any other epilog is a template."""
    lead = _EXAMPLES.match(epilog)
    if lead is None:
        return catalogue.text(inspect.cleandoc(epilog))
    examples = [f"  {example.strip()}" for example in epilog[lead.end() :].split(_BETWEEN) if example.strip()]
    title = catalogue.text("Example:" if len(examples) == 1 else "Examples:")
    return _UNWRAPPED + "\n".join([title, *examples])


def _context_class(catalogue: Catalogue) -> type[click.Context]:
    class Formatter(click.HelpFormatter):
        """Words what click says by itself."""

        def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
            words = args
            for ours in ("[OPTIONS]", "COMMAND [ARGS]..."):
                words = words.replace(ours, catalogue.text(ours))
            super().write_usage(prog, words, prefix or catalogue.text("Usage:") + " ")

        def write_heading(self, heading: str) -> None:
            super().write_heading(catalogue.text(heading))

        def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
            super().write_dl([(name, _option_help(text, catalogue)) for name, text in rows], col_max, col_spacing)

    class Context(click.Context):
        """Writes help with the formatter above."""

        formatter_class = Formatter

    return Context


def _option_help(text: str, catalogue: Catalogue) -> str:
    """Translate `How many.  [default: 10; 1<=x<=100]`, the sentence and what follows it."""
    extra = _EXTRA.search(text)
    if extra is None:
        return catalogue.text(text)
    items = [catalogue.sentence(item) for item in extra["items"].split("; ")]
    return f"{catalogue.text(text[: extra.start()])}  [{'; '.join(items)}]"
