"""`kx vacuum`: give back the space that deleted text, old vectors and the log take."""

from __future__ import annotations

from pathlib import Path

import anyio
import click

from kx.client import services
from kx.context import Context
from kx.render import JSON_SCHEMA, as_json
from kx.upkeep import until_tidy
from shared.index_files import size_of, wal_bytes
from shared.registry import Project
from shared.subjects import COMPACT
from shared.upkeep_messages import CompactIndex

_MIB = 1024 * 1024


@click.command("vacuum", epilog="Example: kx vacuum --in ~/src/shop")
@click.option(
    "--in",
    "path",
    type=click.Path(path_type=Path),
    help="The project, by any path in it (default: the working directory).",
)
@click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")
@click.option("--stack/--no-stack", default=None, help="Use the running services, or never (default: if they run).")
@click.pass_obj
def command(context: Context, path: Path | None, *, is_json: bool, stack: bool | None) -> None:
    """Make the index file of a project as small as it can be; searching goes on meanwhile."""
    project = context.registered(path)
    before = _bytes(project)
    anyio.run(_compact, context, project, stack)
    after = _bytes(project)
    if is_json:
        sizes = {"bytes_before": before, "bytes_after": after}
        context.say(as_json({"schema": JSON_SCHEMA, "project": project.project, **sizes}))
        return
    context.tell(
        "{project}: {before} MiB before, {after} MiB now",
        project=project.project,
        before=f"{before / _MIB:.1f}",
        after=f"{after / _MIB:.1f}",
    )


async def _compact(context: Context, project: Project, stack: bool | None) -> None:
    async with services(context.settings, writes=True, mode="kx vacuum", stack=stack) as reach:
        await reach.bus.request(COMPACT, CompactIndex(instance=project.instance))
        await until_tidy(reach.bus, project.instance)


def _bytes(project: Project) -> int:
    return size_of(project.index_path) + wal_bytes(project.index_path)
