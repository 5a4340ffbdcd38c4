"""Collect from the source the English templates that reach a person."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import click

from tests.support.repository import ROOT

PACKAGES = ("kx", "services", "shared")
_SAYING = {"text", "tell", "t", "confirm"}  # of the catalogue and of the context of a run
_WORDED = {  # functions that make an error or a note, and which of their arguments are words
    "KxError": (1,),
    "_not_trusted": (3, 4),
    "invalid": (3,),
    "_invalid": (1,),
    "_not_private": (1,),
    "_syntax": (1,),
    "off": (0,),
    "_skip": (1,),
    "_prune": (1,),
    "_skip_read": (1,),
}
_WORDED_KEYWORDS = {"detail", "hint", "note", "problem", "repair"}


class Template(NamedTuple):
    """A template, and where it is written."""

    text: str
    place: str
    is_filled: bool  # an f-string: it is met with its values in it, and recognised by its form


def placeholders(template: str) -> list[str]:
    """Give the names in braces, sorted, as often as they occur."""
    return sorted(re.findall(r"\{(\w+)\}", template))


def skeleton(template: str) -> str:
    """Give a template without the names of its placeholders."""
    return re.sub(r"\{\w*\}", "{}", template)


@cache
def spoken_templates() -> tuple[Template, ...]:
    """Templates given to the catalogue by the command itself."""
    return tuple(_collect(_said, ("kx",)))


@cache
def worded_templates() -> tuple[Template, ...]:
    """Templates of errors, and sentences inside replies; a value in an f-string is a placeholder."""
    return tuple(_collect(_worded, PACKAGES))


def _collect(of_call: Callable[[ast.Call], Iterator[ast.expr]], packages: tuple[str, ...]) -> Iterator[Template]:
    for name, tree in _trees().items():
        if not name.startswith(packages):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                for words in of_call(node):
                    is_filled = any(isinstance(part, ast.JoinedStr) for part in ast.walk(words))
                    yield from (Template(text, f"{name}:{node.lineno}", is_filled) for text in _texts(words))


@cache
def _trees() -> dict[str, ast.Module]:
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    ours = [path for path in paths if "portuguese" not in path.parts]
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in ours}


def _said(call: ast.Call) -> Iterator[ast.expr]:
    if _name(call.func) in _SAYING:
        yield from call.args[:1]


def _worded(call: ast.Call) -> Iterator[ast.expr]:
    name = _name(call.func)
    if isinstance(call.func, ast.Attribute) and name == "append" and _name(call.func.value) == "notes":
        yield from call.args
    for position in _WORDED.get(name, ()):
        yield from call.args[position : position + 1]
    yield from (keyword.value for keyword in call.keywords if keyword.arg in _WORDED_KEYWORDS)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from _texts(node.body)
        yield from _texts(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{" + _inside(part) + "}" for part in node.values
        )


def _inside(part: ast.expr) -> str:
    value = part.value if isinstance(part, ast.FormattedValue) else part
    if isinstance(value, ast.Call) and value.args:
        value = value.args[0]
    return _name(value).lower()


@cache
def literals() -> frozenset[str]:
    """Every text the packages hold, except their Portuguese; a value in an f-string is a placeholder."""
    return frozenset(
        text
        for tree in _trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.expr)
        for text in _texts(node)
    )


def help_texts(command: click.Command) -> Iterator[str]:
    """Give the help of a command, of its options and of all commands below it, cleaned of its indentation."""
    options = (getattr(parameter, "help", None) for parameter in command.params if not getattr(parameter, "hidden", 0))
    yield from (inspect.cleandoc(text) for text in (command.help, *options) if text)
    if command.epilog and ":\n  kx " not in command.epilog:  # examples are the same in any language
        yield inspect.cleandoc(command.epilog)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from help_texts(below)


def is_filled(template: str, text: str) -> bool:
    """Tell whether `text` may be `template` with values in its placeholders."""
    pieces = re.split(r"\{\w+\}", template)
    return re.fullmatch(".+".join(map(re.escape, pieces)), text, re.DOTALL) is not None
