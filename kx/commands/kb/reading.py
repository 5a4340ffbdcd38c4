"""`kx kb read`, `revisions`, `diff` and `search`: what is said, and what was said."""

from __future__ import annotations

import difflib
from typing import Any, get_args

import click

from kx.commands.activity import JSON, STACK
from kx.context import Context
from kx.knowledge.asking import ME, WholeRevision, ask, read_whole, uses_stack, with_knowledge
from kx.knowledge.documents import document, read_json, search_json
from kx.knowledge.finding import item_id, pinned
from kx.knowledge.finding import revisions as all_revisions
from kx.knowledge.text import revision_text, search_text
from kx.render import as_json
from kx.terminal import visible
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import RevisionRow, SearchKnowledge, SearchMode
from shared.subjects import KNOWLEDGE_SEARCH


@click.command("read", epilog="Examples: kx kb read knowledge:9f3c2a…@4b1d…    kx kb read 9f3c2a… --raw > restart.md")
@click.argument("item", metavar="ITEM[@REVISION]")
@click.option("--raw", is_flag=True, help="The exact bytes to stdout, and nothing else.")
@JSON
@STACK
@click.pass_obj
def read(context: Context, item: str, *, raw: bool, is_json: bool, stack: bool | None) -> None:
    """Print what ITEM says now, or what it said in REVISION; a citation is taken as it is."""
    pin = pinned(item)

    async def asked(bus: Bus) -> WholeRevision:
        return await read_whole(bus, await item_id(bus, pin.item), pin.revision)

    found = with_knowledge(context, asked, stack=stack)
    if raw:
        context.give(found.content)
    elif is_json:
        context.say(as_json(read_json(found)))
    else:
        item_row, revision = found.part.item, found.part.revision
        title, number, when = item_row.title, revision.number, revision.created
        context.tell("{title} · revision {number} of {when}", title=title, number=number, when=when)
        context.say(visible(found.content.decode("utf-8", "replace")).rstrip("\n"))


@click.command("revisions", epilog="Example: kx kb revisions 9f3c2a…")
@click.argument("item")
@JSON
@STACK
@click.pass_obj
def revisions(context: Context, item: str, *, is_json: bool, stack: bool | None) -> None:
    """List the revisions of ITEM, the newest first, with where each comes from."""

    async def asked(bus: Bus) -> tuple[RevisionRow, ...]:
        return await all_revisions(bus, await item_id(bus, pinned(item).item))

    found = with_knowledge(context, asked, stack=stack)
    if is_json:
        context.say(as_json(document(revisions=found)))
        return
    for one in found:
        context.say(revision_text(one, context.catalogue, context.paint))


@click.command("diff", epilog="Examples: kx kb diff 9f3c2a…    kx kb diff 9f3c2a… 1 3")
@click.argument("item")
@click.argument("old", required=False)
@click.argument("new", required=False)
@JSON
@STACK
@click.pass_obj
def diff(context: Context, item: str, old: str | None, new: str | None, *, is_json: bool, stack: bool | None) -> None:
    """Show what changed in ITEM from revision OLD to NEW, by number or id; without them in its last edit."""

    async def asked(bus: Bus) -> list[WholeRevision]:
        known = await item_id(bus, pinned(item).item)
        rows = await all_revisions(bus, known)
        pair = (_chosen(rows, old, rows[min(1, len(rows) - 1)]), _chosen(rows, new, rows[0]))
        return [await read_whole(bus, known, row.id) for row in pair]

    before, after = with_knowledge(context, asked, stack=stack)
    lines = difflib.unified_diff(_lines(before), _lines(after), _name(before), _name(after), lineterm="")
    if is_json:
        told = {"old": before.part.revision, "new": after.part.revision, "diff": "\n".join(lines)}
        context.say(as_json(document(item=after.part.item, **told)))
        return
    for line in lines:
        context.say(visible(line))


@click.command("search", epilog="Example: kx kb search 'restart the gateway' --base runbooks --top 3")
@click.argument("query")
@click.option("--space", help="Only this space, by name or id.")
@click.option("--base", help="Only this base, by name or id.")
@click.option("--top", type=click.IntRange(1, 100), default=10, show_default=True, help="How many results.")
@click.option(
    "--offset", type=click.IntRange(0, 10_000), default=0, show_default=True, help="Results to leave out, for paging."
)
@click.option(
    "--mode",
    type=click.Choice(get_args(SearchMode)),
    default="hybrid",
    show_default=True,
    help="How the lanes are put together.",
)
@click.option(
    "--k", type=click.IntRange(1, 1000), default=60, show_default=True, help="Constant of reciprocal rank fusion."
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Hybrid mode: 1 words only, 0 meaning only.",
)
@JSON
@STACK
@click.pass_obj
def search(context: Context, /, query: str, *, is_json: bool, stack: bool | None, **asked: Any) -> None:
    """Show the published passages that answer QUERY, best first, each with its citation."""
    message = SearchKnowledge(caller=ME, query=query.encode("utf-8", "replace").decode(), **asked)
    reply = ask(context, KNOWLEDGE_SEARCH, message, stack=stack)
    if reply.pending.text and not uses_stack(context, stack):  # whoever wrote it was cut off before it was indexed
        reply = ask(context, KNOWLEDGE_SEARCH, message, stack=stack, writes=True)
    context.say(as_json(search_json(reply)) if is_json else search_text(reply, context.catalogue, context.paint))
    if not reply.results and not is_json:
        context.tell("only what is published in a base that is not archived is found; see: kx kb items")


def _lines(one: WholeRevision) -> list[str]:
    return one.content.decode("utf-8", "replace").split("\n")


def _name(one: WholeRevision) -> str:
    return f"r{one.part.revision.number} {one.part.revision.id}"


def _chosen(rows: tuple[RevisionRow, ...], text: str | None, default: RevisionRow) -> RevisionRow:
    if text is None:
        return default
    for row in rows:
        if text in {row.id, str(row.number), f"r{row.number}"}:
            return row
    raise KxError(
        ErrorCode.KNOWLEDGE_UNKNOWN,
        "there is no revision {revision}",
        hint="see them with: kx kb revisions ITEM",
        revision=text,
    )
