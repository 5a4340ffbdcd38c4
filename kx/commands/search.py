"""`kx search`: the passages that answer a question."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import anyio
import click

from kx.client import services
from kx.commands.asked import answered, asked, grouped, in_project
from kx.context import Context, not_indexed
from kx.indexing import embed_candidates, index_text
from kx.progress import Bar
from kx.render import as_json, search_json, search_text
from kx.roots import refuse_huge, refuse_many
from shared.bus import Bus
from shared.excerpts import MAX_SNIPPET_LINES, MAX_SNIPPET_RESULTS, Budget, Snippets
from shared.messages import Group, KindFilter, Mode, SearchReply, SearchRequest
from shared.registry import Project
from shared.subjects import SEARCH

EMBED_FIRST_S = 10.0  # `--index`: how long the passages that hold the words are embedded before answering
# What stands around the texts of an answer, estimated like these: of each result, and of the whole.
RESULT_TOKENS, TEXT_TOKENS = 20, 60
JSON_RESULT_TOKENS, JSON_TOKENS = 200, 300
SEARCH_TIMEOUT_S = 30.0  # a cold model folds its weights first


@click.command(
    "search",
    epilog="Examples: kx search 'circuit-open' --top 4    kx search --index 'how are errors retried' --in ~/src/shop"
    "    kx search 'retry policy' --max-tokens 2000",
)
@click.argument("query")
@in_project
@click.option(
    "--index",
    "is_indexing",
    is_flag=True,
    help="Bring the index up to date first: words, and the vectors that matter here.",
)
@asked
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
@grouped
@click.option(
    "--snippet-lines",
    type=click.IntRange(0, MAX_SNIPPET_LINES),
    help="Lines of each excerpt (default: maxSnippetLines of the project, 7).",
)
@click.option(
    "--snippet-results",
    type=click.IntRange(0, MAX_SNIPPET_RESULTS),
    help="So many of the first results have an excerpt (default: maxSnippetResults of the project, 3).",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(100, 100_000),
    help="Pack the best that fits into so many tokens: excerpts are shortened before results are left out.",
)
@click.option("--explain", is_flag=True, help="Show the named parts of each score.")
@answered
@click.pass_obj
def command(context: Context, /, query: str, path: Path | None, **options: Any) -> None:
    """Show the passages of a project that answer QUERY, best first."""
    is_indexing = bool(options.pop("is_indexing"))
    is_json = bool(options.pop("is_json"))
    stack = cast("bool | None", options.pop("stack"))
    options["budget"] = _budget(options.pop("max_tokens"), is_json=is_json)
    if is_indexing:
        refuse_huge(context, context.find(path)[0].root)
    project = context.enrol(path) if is_indexing else context.registered(path)
    request = _request(project, query, options)
    reply = anyio.run(_answer, context, project, request, is_indexing, stack)
    if reply.state == "not_indexed":
        raise not_indexed(project.root_path)
    context.say(as_json(search_json(reply)) if is_json else search_text(reply, context.catalogue, context.paint))


def _request(project: Project, query: str, options: dict[str, Any]) -> SearchRequest:
    kind = options.pop("kind")
    kinds = () if kind == "all" else (cast("KindFilter", kind),)
    mode, group = cast("Mode", options.pop("mode")), cast("Group", options.pop("group"))
    snippets = Snippets(lines=options.pop("snippet_lines"), results=options.pop("snippet_results"))
    return SearchRequest(
        instance=project.instance,
        query=query.encode("utf-8", "replace").decode(),
        kinds=kinds,
        mode=mode,
        group=group,
        snippets=snippets,
        **options,
    )


def _budget(max_tokens: int | None, *, is_json: bool) -> Budget | None:
    if max_tokens is None:
        return None
    per_result, around = (JSON_RESULT_TOKENS, JSON_TOKENS) if is_json else (RESULT_TOKENS, TEXT_TOKENS)
    return Budget(tokens=max(max_tokens - around, 1), per_result=per_result)


async def _answer(
    context: Context, project: Project, request: SearchRequest, is_indexing: bool, stack: bool | None
) -> SearchReply:
    async with services(context.settings, writes=is_indexing, mode="kx search --index", stack=stack) as reach:
        if is_indexing:
            await refuse_many(context, reach.bus, project)
            with Bar(context.catalogue) as bar:
                await _bring_up_to_date(reach.bus, request, bar)
        return await reach.bus.request(SEARCH, request, timeout_s=SEARCH_TIMEOUT_S)


async def _bring_up_to_date(bus: Bus, request: SearchRequest, bar: Bar) -> None:
    await index_text(bus, request.instance, bar)
    await embed_candidates(bus, request.instance, request.query, request.kinds, seconds=EMBED_FIRST_S, meter=bar)
