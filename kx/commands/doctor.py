"""`kx doctor`: what is wrong with this machine, this installation or this home, and what to do about it."""

from __future__ import annotations

import click

from kx.context import Context
from kx.doctor import Finding, examine
from kx.exits import Exit
from kx.render import as_json
from kx.terminal import visible
from shared.errors import fill

JSON_SCHEMA = 1
_SIGNS = {"ok": "✓", "warning": "!", "error": "✗"}


@click.command("doctor", epilog="Examples: kx doctor    kx doctor --json")
@click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")
@click.pass_obj
def command(context: Context, *, is_json: bool) -> int:
    """Check installation, database, model, documents, home, stack, tokens and every project; change nothing.

    The exit code is 1 where something is wrong; warnings leave it 0.
    """
    findings = list(examine(context.settings))
    is_wrong = any(one.state == "error" for one in findings)
    if is_json:
        found = [_json(one) for one in findings]
        context.say(as_json({"schema": JSON_SCHEMA, "sound": not is_wrong, "checks": found}))
    else:
        context.say("\n".join(line for one in findings for line in _lines(one, context)))
    return Exit.FAILED if is_wrong else Exit.DONE


def _lines(one: Finding, context: Context) -> list[str]:
    params = {
        name: context.catalogue.sentence(value) if name == "problem" else value for name, value in one.params.items()
    }
    sign, found = _SIGNS[one.state], context.catalogue.text(one.found, **params)
    head = visible(f"{sign} {context.catalogue.text(one.check)}: {found}" + (f" [{one.code}]" if one.code else ""))
    return [head, *([visible("  → " + context.catalogue.text(one.hint, **params))] if one.hint else [])]


def _json(one: Finding) -> dict[str, str]:
    return {
        "check": one.check,
        "state": one.state,
        "found": fill(one.found, one.params),
        "hint": fill(one.hint, one.params),
        "code": one.code,
    }
