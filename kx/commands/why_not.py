"""`kx why-not`: why a question shows a file or not."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, cast

import anyio
import click

from kx.client import services
from kx.commands.asked import answered, asked, grouped, in_project
from kx.context import Context, working_directory
from kx.examination import why_not_json, why_not_text
from kx.exits import Exit
from kx.render import as_json
from shared.errors import ErrorCode, KxError
from shared.messages import Group, KindFilter, Mode, SearchRequest
from shared.registry import Project
from shared.relpath import decode_path, encode_path
from shared.search_messages import WhyNotReply, WhyNotRequest
from shared.subjects import WHY_NOT

TIMEOUT_S = 30.0  # a cold model folds its weights first

_WITH_LINE = re.compile(r"(?P<path>.+?):(?P<line>[1-9][0-9]{0,8})(?:-[0-9]+)?", re.DOTALL)


@click.command(
    "why-not",
    epilog="Examples: kx why-not 'retry policy' docs/retries.md    kx why-not 'retry policy' src/retry.py:120 --top 5",
)
@click.argument("query")
@click.argument("place", metavar="PATH[:LINE]")
@in_project
@asked
@grouped
@answered
@click.pass_obj
def command(context: Context, /, query: str, place: str, path: Path | None, **options: Any) -> int:
    """Say why the answer to QUERY shows the file PATH or not, and its passage at LINE.

    PATH is relative to the project, as answers print it, or to the working directory. Exit code 0: it is shown; 1: it
    is not, and the reason is printed.
    """
    is_json = bool(options.pop("is_json"))
    stack = cast("bool | None", options.pop("stack"))
    project = context.registered(path)
    name, line = _place_of(project, place)
    request = WhyNotRequest(instance=project.instance, search=_request(project, query, options), path=name, line=line)
    reply = anyio.run(_ask, context, request, stack)
    context.say(as_json(why_not_json(reply)) if is_json else why_not_text(reply, context.catalogue, context.paint))
    return Exit.DONE if reply.outcome == "shown" else Exit.FAILED


def _request(project: Project, query: str, options: dict[str, Any]) -> SearchRequest:
    kind = options.pop("kind")
    return SearchRequest(
        instance=project.instance,
        query=query.encode("utf-8", "replace").decode(),
        kinds=() if kind == "all" else (cast("KindFilter", kind),),
        mode=cast("Mode", options.pop("mode")),
        group=cast("Group", options.pop("group")),
        **options,
    )


async def _ask(context: Context, request: WhyNotRequest, stack: bool | None) -> WhyNotReply:
    async with services(context.settings, writes=False, mode="kx why-not", stack=stack) as reach:
        reply: WhyNotReply = await reach.bus.request(WHY_NOT, request, timeout_s=TIMEOUT_S)
        return reply


def _place_of(project: Project, place: str) -> tuple[str, int]:
    """Read PATH[:LINE]; a file whose name ends like a line number is that file."""
    found = _WITH_LINE.fullmatch(place)
    if found is None or os.path.lexists(project.root_path / place) or Path(place).exists():
        return _inside(project, place), 0
    return _inside(project, found["path"]), int(found["line"])


def _inside(project: Project, typed: str) -> str:
    """Give the project's path of what was typed; links are not followed, the file need not exist."""
    root = os.fspath(project.root_path)
    from_here = os.path.normpath(working_directory() / typed)
    from_root = os.path.normpath(project.root_path / typed)
    is_here = os.path.lexists(from_here) and not os.path.lexists(from_root)
    real = from_here if is_here or Path(typed).is_absolute() else from_root
    if not os.path.lexists(real):
        real = os.fsdecode(decode_path(real))
    folder = os.path.realpath(os.path.dirname(real))  # noqa: PTH120 - the last component is judged as it is
    inside = os.path.join(folder, os.path.basename(real))  # noqa: PTH118, PTH119
    if not inside.startswith(root.rstrip("/") + "/"):
        raise KxError(
            ErrorCode.PATH_OUTSIDE_ROOT,
            "the path {path} is not inside the project",
            hint="give a path below the project's root",
            path=typed,
        )
    return encode_path(os.fsencode(inside[len(root.rstrip("/")) + 1 :]))
