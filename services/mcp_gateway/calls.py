"""What the tools do: one handler for each row of the table, all of it requests to other services.

Every call passes the gate first. Nothing here waits for indexing: an answer says how far it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import structlog
from anyio import to_thread
from anyio.abc import TaskGroup
from structlog.typing import FilteringBoundLogger

from services.mcp_gateway.adapters.ingest_path import admitted_path
from services.mcp_gateway.adapters.projects import SessionProject
from services.mcp_gateway.call import Call, Report, unreported
from services.mcp_gateway.core.answers import IngestAnswer, ReindexAnswer, SearchAnswer, StatusAnswer
from services.mcp_gateway.core.budget import budget_of
from services.mcp_gateway.core.guard import assertion_of
from services.mcp_gateway.core.inputs import IngestInput, ReindexInput, SearchInput, StatusInput
from services.mcp_gateway.core.note_answers import AnyAnswer
from services.mcp_gateway.core.permits import LOCAL, Permit
from services.mcp_gateway.core.tool import Tool
from services.mcp_gateway.core.tools import parse
from services.mcp_gateway.core.writing import (
    MAX_ENTRIES,
    indexing_of,
    ingest_answer,
    reindex_answer,
    search_answer,
    snippets_of,
    status_answer,
)
from services.mcp_gateway.notes import NOTE_HANDLERS
from services.mcp_gateway.recall import RECALL_HANDLERS
from shared.bus import Bus
from shared.errors import ErrorCode, KxError
from shared.excerpts import Snippets
from shared.identity import InstanceId
from shared.messages import (
    IndexProgress,
    ListingRequest,
    ListingRow,
    ProgressRequest,
    RebuildIndex,
    ReconcileTree,
    SearchRequest,
    ServiceStatus,
    ServiceStatusRequest,
    StatusReply,
    StatusRequest,
    TreeReconciled,
    Upto,
    Urgency,
)
from shared.project_config import LoadedConfig
from shared.subjects import (
    LISTING,
    PROGRESS,
    REBUILD,
    RECONCILE,
    SEARCH,
    SERVICES,
    STATUS,
    service_status,
)

SEARCH_S = 30.0  # a cold model folds its weights first
STATUS_S = 10.0
PROGRESS_S = 1.0  # an answer does not wait for a busy indexer to tell how far it is
HEALTH_S = 1.0
WALK_S = 3_600.0  # goes on in the background
WALK_WAIT_S = 5.0  # how much of it a call waits for
TEXT_WAIT_S = 3.0  # of an ingest, until the words are there
REPORT_MS = 500  # between two reports of how far that is
REBUILD_S = 30.0

_log: FilteringBoundLogger = structlog.get_logger()


class Calls:
    """Carries calls out. `tasks` takes the walks that go on after an answer."""

    def __init__(self, bus: Bus, tasks: TaskGroup) -> None:
        self._bus = bus
        self._tasks = tasks

    async def call(
        self,
        session: SessionProject,
        tool: Tool,
        arguments: Mapping[str, object],
        *,
        permit: Permit = LOCAL,
        report: Report = unreported,
    ) -> AnyAnswer:
        """Gate, read the arguments, do it.

        Raises:
            KxError: of the gate before anything else; BAD_REQUEST; what the services refuse.
        """
        loaded = await to_thread.run_sync(session.admit, assertion_of(arguments))
        asked = parse(tool.takes, arguments)
        project, is_new = await to_thread.run_sync(session.enrolled, loaded)
        if is_new:
            self._start_walk(project.instance, ("",))
        call = Call(
            session=session, loaded=loaded, instance=project.instance, asked=asked, permit=permit, report=report
        )
        handler = HANDLERS.get(tool.name)
        if handler is not None:
            return await handler(self, call)
        return await (NOTE_HANDLERS.get(tool.name) or RECALL_HANDLERS[tool.name])(self._bus, call)

    async def search(self, call: Call[SearchInput]) -> SearchAnswer:
        """Ask the read side; how far indexing is is asked for only where the answer says that it goes on."""
        asked = call.asked
        request = SearchRequest(
            instance=call.instance,
            query=asked.query.encode("utf-8", "replace").decode(),
            top=asked.top,
            offset=asked.offset,
            kinds=() if asked.type == "all" else (asked.type,),
            path_glob=asked.path.encode("utf-8", "replace").decode(),
            mode=asked.mode,
            k=asked.k,
            alpha=asked.alpha,
            group=asked.group,
            explain=asked.explain,
            snippets=snippets_of(asked, _set_snippets(call.loaded)),
            budget=budget_of(asked.max_tokens),
        )
        reply = await self._bus.request(SEARCH, request, timeout_s=SEARCH_S)
        is_behind = reply.state != "ready" or reply.pending.text or reply.pending.vectors
        progress = await self._progress(call.instance) if is_behind else None
        return search_answer(reply, asked, progress)

    async def ingest(self, call: Call[IngestInput]) -> IngestAnswer:
        """Have a part of the tree read again, ahead of bulk work. Idempotent."""
        rel = await to_thread.run_sync(admitted_path, call.session.root, call.loaded, call.asked.path)
        await call.report(0, "comparing with the index")
        tree = await self._walked(call.instance, (rel,), force=True, urgency="live")
        if tree is not None and not tree.walked and not tree.announced:
            raise KxError(
                ErrorCode.PATH_NOT_FOUND,
                "there is nothing at {path}",
                hint="give a path that exists in the project",
                path=rel,
            )
        progress = await self._read_to_the_end(call) if tree is not None else None
        return ingest_answer(rel, tree, progress, await self._skipped_below(call.instance, rel))

    async def reindex(self, call: Call[ReindexInput]) -> ReindexAnswer:
        """Have the whole tree compared, with `full` into a new epoch. Idempotent: a rebuild under way goes on."""
        if call.asked.full:
            await self._bus.request(REBUILD, RebuildIndex(instance=call.instance), timeout_s=REBUILD_S)
        await call.report(0, "comparing with the index")
        tree = await self._walked(call.instance, ("",))
        return reindex_answer(full=call.asked.full, tree=tree, progress=await self._progress(call.instance))

    async def status(self, call: Call[StatusInput]) -> StatusAnswer:
        """Ask what the index holds, how far the indexer is and how the services are, all at once."""
        found: dict[str, ServiceStatus | None] = dict.fromkeys(SERVICES)
        told: list[IndexProgress | None] = []
        replies: list[StatusReply] = []

        async def ask_index() -> None:
            request = StatusRequest(instance=call.instance)
            replies.append(await self._bus.request(STATUS, request, timeout_s=STATUS_S))

        async def ask_progress() -> None:
            told.append(await self._progress(call.instance))

        async def ask_service(name: str) -> None:
            try:
                found[name] = await self._bus.request(service_status(name), ServiceStatusRequest(), timeout_s=HEALTH_S)
            except KxError:
                found[name] = None

        async with anyio.create_task_group() as asking:
            asking.start_soon(ask_progress)
            for name in SERVICES:
                asking.start_soon(ask_service, name)
            await ask_index()
        return status_answer(replies[0], told[0], found)

    async def _read_to_the_end(self, call: Call[Any]) -> IndexProgress | None:
        """Wait for a while until no file is to be read; others may have asked for more by the time it is told."""
        give_up = anyio.current_time() + TEXT_WAIT_S
        for step in itertools.count(1):
            left_ms = max(int((give_up - anyio.current_time()) * 1000), 0)
            progress = await self._progress(call.instance, until="text", wait_ms=min(left_ms, REPORT_MS))
            if progress is None or not progress.text_pending or progress.stalled or not left_ms:
                break
            await call.report(step, indexing_of(progress))
        return progress

    async def _progress(
        self, instance: InstanceId, *, until: Upto | None = None, wait_ms: int = 0
    ) -> IndexProgress | None:
        request = ProgressRequest(instance=instance, until=until, wait_ms=wait_ms)
        try:
            return await self._bus.request(PROGRESS, request, timeout_s=PROGRESS_S + wait_ms / 1000)
        except KxError:
            return None  # the answer stands without it

    async def _skipped_below(self, instance: InstanceId, rel: str) -> list[ListingRow]:
        request = ListingRequest(instance=instance, listing="skipped", after=_just_before(rel), limit=200)
        try:
            page = await self._bus.request(LISTING, request, timeout_s=STATUS_S)
        except KxError:
            return []
        below = [row for row in page.rows if not rel or row.path.rstrip("/") == rel or row.path.startswith(rel + "/")]
        return below[: MAX_ENTRIES + 1]

    async def _walked(
        self, instance: InstanceId, subtrees: tuple[str, ...], *, force: bool = False, urgency: Urgency = "bulk"
    ) -> TreeReconciled | None:
        """Walk and wait for a while; None when it goes on in the background."""
        walk = self._start_walk(instance, subtrees, force=force, urgency=urgency)
        with anyio.move_on_after(WALK_WAIT_S):
            await walk.ended.wait()
        if walk.error is not None:
            raise walk.error
        return walk.tree

    def _start_walk(
        self, instance: InstanceId, subtrees: tuple[str, ...], *, force: bool = False, urgency: Urgency = "bulk"
    ) -> _Walk:
        walk = _Walk()
        message = ReconcileTree(instance=instance, subtrees=subtrees, force=force, urgency=urgency)
        self._tasks.start_soon(walk.run, self._bus, message)
        return walk


class _Walk:
    """A walk that may outlast the call it was started for."""

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.tree: TreeReconciled | None = None
        self.error: KxError | None = None

    async def run(self, bus: Bus, message: ReconcileTree) -> None:
        try:
            self.tree = await bus.request(RECONCILE, message, timeout_s=WALK_S)
        except KxError as error:
            self.error = error
            _log.warning("walk.failed", instance=message.instance, error_code=error.code.value)
        finally:
            self.ended.set()


def _set_snippets(loaded: LoadedConfig) -> Snippets:
    """Give what the project's file sets; an agent is not held to the defaults, which are meant for a terminal."""
    lines = loaded.config.max_snippet_lines if "maxSnippetLines" in loaded.keys else None
    results = loaded.config.max_snippet_results if "maxSnippetResults" in loaded.keys else None
    return Snippets(lines=lines, results=results)


def _just_before(rel: str) -> str:
    """Give a path after which a listing begins with `rel` or what lies below it."""
    if not rel:
        return ""
    return rel[:-1] + (chr(ord(rel[-1]) - 1) + "\U0010ffff" if ord(rel[-1]) > ord(" ") else "")


HANDLERS: Mapping[str, Callable[[Calls, Call[Any]], Awaitable[AnyAnswer]]] = {
    "search": Calls.search,
    "ingest": Calls.ingest,
    "reindex": Calls.reindex,
    "status": Calls.status,
}
