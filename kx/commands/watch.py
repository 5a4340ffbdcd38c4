"""`kx watch`: bring projects up to date, then follow their files through a stack until Ctrl+C."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import click

from kx import counted
from kx.client import services
from kx.context import Context
from kx.indexing import index_text, progress_of, wait_for_vectors
from kx.interrupts import until_interrupted
from kx.progress import Bar
from kx.render import JSON_SCHEMA, as_json
from kx.roots import refuse_unseen
from kx.stack_start import ensure_stack
from kx.tally import Tally
from kx.terminal import visible
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.registry import Project
from shared.stack_file import running_stack

AGAIN_S = 0.5  # until a service that was away is asked again
LOST_S = 15.0  # a gateway that died is back within this, or nobody starts it again
_CLEAR_LINE = "\r\x1b[2K"


@click.command("watch", epilog="Examples: kx watch    kx watch ~/src/shop ~/src/docs --no-start")
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1)
@click.option("--start/--no-start", default=True, help="Start a stack when none runs (default), or never.")
@click.option("--yes", is_flag=True, help="Do not ask before indexing a very large root.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")
@click.pass_obj
def command(context: Context, paths: Sequence[Path], *, start: bool, yes: bool, is_json: bool) -> None:
    """Index the project of each PATH (default: of the working directory), then follow every change.

    Ctrl+C stops it and says what was done. The work is the stack's: it goes on for other clients.
    """
    for path in paths or (None,):
        refuse_unseen(context, context.find(path)[0].root, is_meant=yes)
    projects = {project.instance: project for project in map(context.enrol, paths or (None,))}
    anyio.run(Watch(context, tuple(projects.values()), may_start=start, is_json=is_json).go)


class Watch:
    """One run of `kx watch`."""

    def __init__(self, context: Context, projects: tuple[Project, ...], *, may_start: bool, is_json: bool) -> None:
        self._context = context
        self._may_start = may_start
        self._is_json = is_json
        self._tallies = {project: Tally() for project in projects}
        self._is_indexed = False
        self._answered = 0.0  # by the clock of the loop; 0 until a stack answered
        self._is_live = sys.stderr.isatty()

    async def go(self) -> None:
        """Index and follow until interrupted, then tell what was done."""
        began = time.monotonic()
        await until_interrupted(self._work)
        took = timedelta(seconds=int(time.monotonic() - began))
        self._clear()
        if self._is_json:
            rows = [_row(project, tally) for project, tally in self._tallies.items()]
            self._context.say(as_json({"schema": JSON_SCHEMA, "seconds": int(took.total_seconds()), "projects": rows}))
            return
        for project, tally in self._tallies.items():
            self._context.tell(
                "{project}: {files} indexed, {passages} embedded in {took}",
                project=project.project,
                files=counted.files(tally.files, self._context.catalogue),
                passages=counted.passages(tally.texts, self._context.catalogue),
                took=took,
            )

    async def _work(self) -> None:
        """Go on over every restart of what answers; what cannot pass by itself ends it."""
        while True:
            if self._may_start:
                if running_stack(self._context.settings.run_dir) is None:
                    self._context.tell("no stack is running; starting one in the background")
                await anyio.to_thread.run_sync(ensure_stack, self._context.settings, abandon_on_cancel=True)
            try:
                async with services(self._context.settings, writes=True, mode="kx watch", stack=True) as reach:
                    if not self._is_indexed:
                        await self._index(reach.bus)
                    await self._follow(reach.bus)
            except (KxError, ExceptionGroup) as error:
                if not self._may_pass(error):
                    raise
            await anyio.sleep(AGAIN_S)

    def _may_pass(self, error: Exception) -> bool:
        """Tell a service or gateway that is being started again from what needs somebody to act."""
        if isinstance(error, ExceptionGroup):  # several requests at once, each with its own
            return all(map(self._may_pass, error.exceptions))
        if not isinstance(error, KxError):
            return False
        lost_s = anyio.current_time() - self._answered
        is_lost = error.code is ErrorCode.BUS_UNAVAILABLE and bool(self._answered) and lost_s < LOST_S
        return error.retryable or is_lost

    async def _index(self, bus: Bus) -> None:
        with Bar(self._context.catalogue) as bar:
            for project, tally in self._tallies.items():
                tally.observe(await progress_of(bus, project.instance, until=None))
                await index_text(bus, project.instance, tally.meter(bar))
                await wait_for_vectors(bus, project.instance, tally.meter(bar))
        self._is_indexed = True
        for project, tally in self._tallies.items():
            self._tell(project, tally)

    async def _follow(self, bus: Bus) -> None:
        while True:
            for project, tally in self._tallies.items():
                tally.observe(await progress_of(bus, project.instance, until=None))
                self._answered = anyio.current_time()
                if tally.has_news():
                    self._tell(project, tally)

    def _tell(self, project: Project, tally: Tally) -> None:
        """Say where one project stands: on a terminal in one line that is written over, else a line a burst."""
        last = tally.told()
        if last is None:
            return
        catalogue = self._context.catalogue
        sentence = catalogue.text(
            "{project}: following; {documents}, {passages}, {files} indexed since the start",
            project=project.project,
            documents=counted.documents(last.documents, catalogue),
            passages=counted.passages(last.chunks, catalogue),
            files=counted.files(tally.files, catalogue),
        )
        self._clear()
        sys.stderr.write(visible(sentence) + ("" if self._is_live else "\n"))
        sys.stderr.flush()

    def _clear(self) -> None:
        if self._is_live:
            sys.stderr.write(_CLEAR_LINE)


def _row(project: Project, tally: Tally) -> dict[str, Any]:
    last = tally.told()
    return {
        "project": project.project,
        "root": project.root,
        "documents": last and last.documents,
        "chunks": last and last.chunks,
        "files": tally.files,
        "texts": tally.texts,
    }
