"""`kx index`: bring the index of a tree up to date, words first, then vectors."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import click
from msgspec import Struct

from kx import counted
from kx.client import services
from kx.context import Context
from kx.indexing import Indexed, index_text, wait_for_vectors
from kx.interrupts import until_interrupted
from kx.progress import Bar
from kx.render import JSON_SCHEMA, as_json
from kx.roots import refuse_huge, refuse_many, refuse_unseen
from shared.bus import Bus
from shared.messages import IndexProgress
from shared.registry import Project
from shared.relpath import encode_path
from shared.stack_file import running_stack


@click.command("index", epilog="Examples: kx index    kx index ~/src/shop --wait text    kx index --full")
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1)
@click.option(
    "--full", is_flag=True, help="Build everything anew; the old index answers until the new one is complete."
)
@click.option(
    "--wait",
    "upto",
    type=click.Choice(["text", "vectors"]),
    default="vectors",
    help="Stop after the words, or go on until every passage has its vector (default).",
)
@click.option("--retry-failed", is_flag=True, help="Try again what was set aside after failing.")
@click.option("--yes", is_flag=True, help="Do not ask before indexing a very large root.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")
@click.option("--stack/--no-stack", default=None, help="Use the running services, or never (default: if they run).")
@click.pass_obj
def command(  # noqa: PLR0913  # one parameter an option
    context: Context,
    paths: Sequence[Path],
    *,
    full: bool,
    upto: str,
    retry_failed: bool,
    yes: bool,
    is_json: bool,
    stack: bool | None,
) -> None:
    """Index the project of each PATH (default: of the working directory).

    A PATH inside a project indexes that part of it. Ctrl+C keeps everything that is done.
    """
    options = Options(full=full, retry_failed=retry_failed, upto=upto, is_meant=yes, is_json=is_json)
    rows = list[dict[str, Any]]()
    for root, subtrees in _by_project(context, paths).items():
        refuse_huge(context, root, is_meant=yes)
        if stack is not False and running_stack(context.settings.run_dir) is not None:
            refuse_unseen(context, root, is_meant=yes)
        project = context.enrol(root)
        run = Run(context, project, tuple(subtrees), options)
        anyio.run(run.go, stack)
        rows.append(run.row())
    if is_json:
        context.say(as_json({"schema": JSON_SCHEMA, "projects": rows}))


class Options(Struct, frozen=True, kw_only=True):
    """What the command line says about a run."""

    full: bool
    retry_failed: bool
    upto: str
    is_meant: bool  # however large the tree is
    is_json: bool = False  # the sentences at the end are left out


class Run:
    """One project's run."""

    def __init__(self, context: Context, project: Project, subtrees: tuple[str, ...], options: Options) -> None:
        self._context = context
        self._project = project
        self._subtrees = subtrees
        self._options = options
        self._indexed: Indexed | None = None
        self._last: IndexProgress | None = None
        self._is_done = False

    async def go(self, stack: bool | None) -> bool:
        """Index until done or interrupted, which gives False; what is committed stays."""
        with Bar(self._context.catalogue) as bar:
            async with services(self._context.settings, writes=True, mode="kx index", stack=stack) as reach:
                self._is_done = await until_interrupted(partial(self._work, reach.bus, bar))
        if not self._options.is_json:
            (self._tell_done if self._is_done else self._tell_interrupted)()
        return self._is_done

    def row(self) -> dict[str, Any]:
        """Give the documented form of what was done; null where it was interrupted before anything was known."""
        last, tree = self._last, None if self._indexed is None else self._indexed.tree
        return {
            "project": self._project.project,
            "root": self._project.root,
            "complete": self._is_done,
            "documents": last and last.documents,
            "chunks": last and last.chunks,
            "vectors": last and {"ready": last.vectors_ready, "missing": last.vectors_missing},
            "failed_texts": last and last.texts_failed,
            "walked": tree and tree.walked,
            "announced": tree and tree.announced,
            "set_aside": (last and last.set_aside) or None,
        }

    async def _work(self, bus: Bus, bar: Bar) -> None:
        instance = self._project.instance
        await refuse_many(self._context, bus, self._project, is_meant=self._options.is_meant)
        self._indexed = await index_text(
            bus,
            instance,
            Recorder(bar, self),
            subtrees=self._subtrees,
            full=self._options.full,
            retry_failed=self._options.retry_failed,
        )
        self._last = self._indexed.progress
        if self._options.upto == "vectors":
            self._last = await wait_for_vectors(bus, instance, Recorder(bar, self))

    def note(self, progress: IndexProgress) -> None:
        """Remember the newest progress, for the sentence at the end."""
        self._last = progress

    def _tell_done(self) -> None:
        last, indexed = self._last, self._indexed
        if last is None or indexed is None:
            return
        self._context.tell(
            "{project}: {documents}, {passages}, {ready} of {total} vectors ready "
            "({announced} of {walked} files looked at again)",
            project=self._project.project,
            documents=counted.documents(last.documents, self._context.catalogue),
            passages=counted.passages(last.chunks, self._context.catalogue),
            ready=last.vectors_ready,
            total=last.vectors_ready + last.vectors_missing,
            announced=indexed.tree.announced,
            walked=indexed.tree.walked,
        )
        if last.set_aside:
            self._context.warn(f"the index was damaged; it was set aside as {last.set_aside} and built anew")
        if last.texts_failed:
            count = last.texts_failed
            self._context.tell(
                "{count} passages could not be embedded; see: kx status"
                if count != 1
                else "1 passage could not be embedded; see: kx status",
                count=count,
            )

    def _tell_interrupted(self) -> None:
        last = self._last
        ready, missing = (last.vectors_ready, last.vectors_missing) if last is not None else (0, 0)
        self._context.tell(
            "stopped; all that is done is kept: {ready} of {total} vectors ready. Go on with: kx index {root}",
            ready=ready,
            total=ready + missing,
            root=self._project.root,
        )


class Recorder:
    """A meter that also keeps the last progress."""

    def __init__(self, bar: Bar, run: Run) -> None:
        self._bar = bar
        self._run = run

    def text(self, progress: IndexProgress) -> None:
        """Show and keep."""
        self._run.note(progress)
        self._bar.text(progress)

    def vectors(self, progress: IndexProgress) -> None:
        """Show and keep."""
        self._run.note(progress)
        self._bar.vectors(progress)


def _by_project(context: Context, paths: Sequence[Path]) -> dict[Path, list[str]]:
    trees: dict[Path, list[str]] = {}
    for path in paths or (None,):
        found, _ = context.find(path)
        trees.setdefault(found.root, []).append(_subtree(found.root, path))
    return {root: [""] if "" in subtrees else subtrees for root, subtrees in trees.items()}


def _subtree(root: Path, path: Path | None) -> str:
    if path is None:
        return ""
    inside = path.resolve().relative_to(root)
    return "" if inside == Path() else encode_path(os.fsencode(inside))
