"""The command reference and the command line are one list."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import click
import pytest

from kx.catalogue import Catalogue
from tests.support.markdown import sections
from tests.support.repository import text_of

COMMANDS = {heading: text for heading, text in sections("docs/commands.md").items() if heading.startswith("kx ")}


def walk(command, name: str = "kx"):
    """Every command that does something, with its full name."""
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command)
    for verb in command.list_commands(context):
        yield from walk(command.get_command(context, verb), f"{name} {verb}")


def groups(command, name: str = "kx"):
    """Every command that only leads to others, with its full name."""
    if isinstance(command, click.Group):
        yield name, command
        context = click.Context(command)
        for verb in command.list_commands(context):
            yield from groups(command.get_command(context, verb), f"{name} {verb}")


@pytest.fixture(scope="module")
def commands() -> dict:
    return dict(walk(importlib.import_module("kx.cli").main))


def long_options(command) -> set[str]:
    shown = (parameter for parameter in command.params if not getattr(parameter, "hidden", False))
    options = (name for parameter in shown for name in (*parameter.opts, *parameter.secondary_opts))
    return {name for name in options if name.startswith("--") and name != "--help"}


def flags_of_settings() -> set[str]:
    """What docs/settings.md describes need not be repeated for each command."""
    return set(re.findall(r"`(--[a-z-]+)", text_of(Path("docs/settings.md"))))


def test_every_command_is_described_and_none_is_invented(commands: dict):
    """docs/commands.md has a section for each command."""
    assert set(COMMANDS) == set(commands)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_described_and_none_is_invented(name: str, commands: dict):
    """A section names the options of its command, each at least once; settings have a page of their own."""
    named, offered = set(re.findall(r"`(--[a-z-]+)", COMMANDS[name])), long_options(commands[name])
    assert offered - flags_of_settings() <= named <= offered


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does(name: str, commands: dict):
    """`--help` has a sentence and, at the end, an example to type."""
    text = commands[name].help or ""
    assert text.strip()
    assert name in text + (commands[name].epilog or "")


def test_every_command_answers_programs(commands: dict):
    """TARGETS U: `--json` everywhere, but where a protocol is spoken or logs are written."""
    without = {name for name, command in commands.items() if "--json" not in long_options(command)}
    assert without == {"kx mcp", "kx serve"}


def test_every_group_shows_an_example_and_no_line_of_its_list_is_cut_off():
    """TARGETS U: `--help` with an example, of what has commands below it too."""
    for name, group in groups(importlib.import_module("kx.cli").main.in_language_of(Catalogue("pt"))):
        context = group.context_class(group, info_name=name, terminal_width=80)
        shown = group.get_help(context)
        assert "..." not in shown.replace("[ARGUMENTOS]...", ""), name
        assert f"{name} " in (group.epilog or ""), name
