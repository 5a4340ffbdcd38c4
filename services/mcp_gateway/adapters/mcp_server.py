"""The tools as the MCP library serves them: one server for every session, both families of the protocol.

The only module that imports the library; importing it costs over a second, so that it is done in the background.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from typing import Any, Protocol

import mcp_types as types
import msgspec
import structlog
from anyio import to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from structlog.typing import FilteringBoundLogger

from services.mcp_gateway.adapters.callers import CALLER, Caller
from services.mcp_gateway.adapters.projects import SessionProject
from services.mcp_gateway.core.answers import SearchAnswer
from services.mcp_gateway.core.guard import assertion_of
from services.mcp_gateway.core.knowledge_answers import KnowledgeToolAnswer, Recalled
from services.mcp_gateway.core.knowledge_text import (
    full_knowledge_text,
    short_knowledge_text,
    without_knowledge_text,
)
from services.mcp_gateway.core.note_answers import AnyAnswer, Listed, NoteAnswer
from services.mcp_gateway.core.note_text import full_note_text, short_note_text, without_note_text
from services.mcp_gateway.core.permits import Permit, listed
from services.mcp_gateway.core.text import error_text, full_text, short_text, without_passages
from services.mcp_gateway.core.tool import Hints, Tool
from services.mcp_gateway.core.tools import BY_NAME, INSTRUCTIONS, TOOLS, input_schema, output_schema
from shared import logs
from shared.errors import ErrorCode, KxError

BOUNDARY_BYTES = 8  # of randomness: no file can hold the boundary of an answer


class CallTool(Protocol):
    """Carries a call out."""

    async def __call__(
        self,
        session: SessionProject,
        tool: Tool,
        arguments: Mapping[str, object],
        *,
        permit: Permit,
        report: Callable[[float, str], Awaitable[None]],
    ) -> AnyAnswer:
        """Gate, read the arguments, do it."""


Context = ServerRequestContext[Caller | None]
ToolServer = Server[Caller | None]

_log: FilteringBoundLogger = structlog.get_logger()


def make_server(call: CallTool) -> ToolServer:
    """Make the server; a session's caller is its lifespan context, a request's caller stands in its scope."""

    async def list_tools(ctx: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        caller = _caller(ctx)
        is_gated = await to_thread.run_sync(caller.is_gated)
        return types.ListToolsResult(tools=[_shown(tool, is_gated=is_gated) for tool in listed(TOOLS, caller.permit)])

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = BY_NAME.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, "there is no such tool; list them with tools/list")
        arguments, root = params.arguments or {}, ""

        async def report(progress: float, doing: str) -> None:
            await ctx.session.report_progress(progress, message=doing)

        caller = _caller(ctx)
        try:
            async with caller.turn():
                caller.permit.check(tool)
                session = await to_thread.run_sync(caller.project, assertion_of(arguments))
                root = session.shown_root
                answer = await call(session, tool, arguments, permit=caller.permit, report=report)
        except KxError as error:
            return _refused(error, root)
        except Exception as failure:  # noqa: BLE001 - the edge: an agent gets a sentence, the log the place
            _log.error("tool.failed", tool=tool.name, **logs.error_fields(failure))
            return _refused(_internal(tool.name), root)
        return _given(answer, arguments)

    logging.getLogger("mcp").setLevel(logging.ERROR)  # its warnings repeat what a client sent
    return Server(
        "kx",
        version=version("kx"),
        title="kx",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda _: None,  # no argument is mirrored in a header, so none is to be compared
    )


def _caller(ctx: Context) -> Caller:
    caller: Caller | None = ctx.lifespan_context if ctx.request is None else ctx.request.scope[CALLER]
    assert caller is not None
    return caller


def _shown(tool: Tool, *, is_gated: bool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool.takes, is_gated=is_gated),
        output_schema=output_schema(tool.gives),
        annotations=_annotations(tool.hints),
    )


def _annotations(hints: Hints) -> types.ToolAnnotations:
    """Say what is not taken for granted anyway: the list of tools stands in every agent's context."""
    if hints.read_only:
        return types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    return types.ToolAnnotations(
        destructive_hint=hints.destructive, idempotent_hint=hints.idempotent or None, open_world_hint=False
    )


def _given(answer: AnyAnswer, arguments: Mapping[str, Any]) -> types.CallToolResult:
    """Put the passages either into the structured content or into the text, never into both."""
    as_text = arguments.get("format") == "text"
    boundary = f"=== {secrets.token_hex(BOUNDARY_BYTES)} ==="
    if isinstance(answer, SearchAnswer) and as_text:
        text = full_text(answer, boundary)
        answer = without_passages(answer)
    elif isinstance(answer, Listed) and as_text:
        text = full_note_text(answer, boundary)
        answer = without_note_text(answer)
    elif isinstance(answer, Recalled) and as_text:
        text = full_knowledge_text(answer, boundary)
        answer = without_knowledge_text(answer)
    elif isinstance(answer, NoteAnswer):
        text = short_note_text(answer)
    elif isinstance(answer, KnowledgeToolAnswer):
        text = short_knowledge_text(answer)
    else:
        text = short_text(answer)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content=msgspec.to_builtins(answer)
    )


def _refused(error: KxError, root: str) -> types.CallToolResult:
    """Tell a refusal as text alone: clients hold structured content to the schema of the answer."""
    text = error_text(error, root)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def _internal(tool: str) -> KxError:
    return KxError(
        ErrorCode.INTERNAL,
        "the tool {tool} failed unexpectedly",
        hint="the log of mcp_gateway names the place; please report it",
        tool=tool,
    )
