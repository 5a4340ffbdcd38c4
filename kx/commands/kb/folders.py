"""`kx kb import` and `export`: files and folders in and out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from msgspec import Struct

from kx import counted
from kx.commands.activity import JSON, STACK
from kx.context import Context
from kx.exits import Exit
from kx.knowledge.asking import ASK_S, with_knowledge
from kx.knowledge.documents import document
from kx.knowledge.exporting import Export, export_base
from kx.knowledge.finding import known_base
from kx.knowledge.importing import Import
from kx.knowledge.outcomes import Imported, import_json, outcome_text, summary_text
from kx.knowledge.sources import sources
from kx.progress import Bar
from kx.render import as_json
from shared.bus import Bus
from shared.knowledge_messages import BaseRow
from shared.knowledge_upkeep_messages import LimitsRequest
from shared.subjects import LIMITS


class _Imported(Struct, frozen=True):
    base: BaseRow
    outcomes: list[Imported]


class _Exported(Struct, frozen=True):
    base: BaseRow
    told: Export


@click.command(
    "import",
    epilog="Examples: kx kb import runbooks docs/runbooks manual.pdf --publish    kx kb import copy exported/",
)
@click.argument("base")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH…")
@click.option("--publish", is_flag=True, help="Publish what is imported.")
@JSON
@STACK
@click.pass_obj
def import_files(
    context: Context, base: str, paths: tuple[Path, ...], *, publish: bool, is_json: bool, stack: bool | None
) -> int:
    """Make items of files and folders: texts as they are, documents extracted.

    A file that was imported before gets a new revision, an unchanged one nothing. A folder written by `kx kb export`
    comes back with its contents, titles and states.
    """

    async def asked(bus: Bus) -> _Imported:
        known = await known_base(bus, base)
        limits = await bus.request(LIMITS, LimitsRequest(), timeout_s=ASK_S)
        found = list(sources(paths, limits))
        with Bar(context.catalogue, quiet=is_json) as bar:
            return _Imported(known, await Import(context, bus, known, limits, publish=publish).run(found, bar))

    done = with_knowledge(context, asked, stack=stack, writes=True)
    if is_json:
        context.say(as_json(import_json(done.base, done.outcomes)))
    else:
        _tell(context, done.outcomes)
    return Exit.FAILED if any(one.is_fault for one in done.outcomes) else Exit.DONE


def _tell(context: Context, outcomes: Sequence[Imported]) -> None:
    for one in outcomes:
        context.say(outcome_text(one, context.catalogue, context.paint))
    context.say(summary_text(outcomes, context.catalogue))


@click.command("export", epilog="Example: kx kb export runbooks ~/backup/runbooks --revisions")
@click.argument("base")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--revisions", is_flag=True, help="Every revision, not only the current ones.")
@JSON
@STACK
@click.pass_obj
def export(context: Context, base: str, folder: Path, *, revisions: bool, is_json: bool, stack: bool | None) -> None:
    """Write BASE into FOLDER as Markdown files with front matter, which `kx kb import` reads back.

    What is archived nobody reads: restore it first.
    """

    async def asked(bus: Bus) -> _Exported:
        known = await known_base(bus, base)
        return _Exported(known, await export_base(bus, known, folder, revisions=revisions))

    done = with_knowledge(context, asked, stack=stack)
    told = done.told
    if is_json:
        context.say(as_json(document(base=done.base, folder=str(folder), **_counts(told))))
        return
    for title in told.archived:
        context.tell("left out, because it is archived: {title}", title=title)
    for title in told.empty:
        context.tell("left out, because it has no content: {title}", title=title)
    files = counted.files(told.files, context.catalogue)
    items = counted.items(told.items, context.catalogue)
    context.tell("written to {path}: {items} in {files}", items=items, files=files, path=folder)


def _counts(told: Export) -> dict[str, object]:
    return {"items": told.items, "files": told.files, "archived": told.archived, "empty": told.empty}
