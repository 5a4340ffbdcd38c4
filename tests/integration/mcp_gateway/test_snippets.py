"""How much source an agent is shown: what the call, the project's file and nobody says."""

from __future__ import annotations

import anyio
import pytest

from services.mcp_gateway.adapters.projects import SessionProject
from services.mcp_gateway.calls import Calls
from services.mcp_gateway.core.budget import ENVELOPE_TOKENS
from services.mcp_gateway.core.inputs import MAX_TOKENS
from services.mcp_gateway.core.tools import BY_NAME
from shared.errors import ErrorCode, KxError
from shared.excerpts import Snippets
from shared.registry import canonical_root
from tests.support.gateway_bench import fake_services

pytestmark = pytest.mark.anyio

CASES = [
    ("{}", {}, Snippets()),
    ('{"maxSnippetLines": 7}', {}, Snippets(lines=7)),
    ('{"maxSnippetLines": 9, "maxSnippetResults": 2}', {}, Snippets(lines=9, results=2)),
    ('{"maxSnippetLines": 9}', {"max_snippet_lines": 0, "max_snippet_results": 4}, Snippets(lines=0, results=4)),
]


@pytest.mark.parametrize(("config", "arguments", "asked"), CASES)
async def test_the_read_side_is_asked_for_what_the_agent_shall_see(
    settings, open_project, config, arguments, asked
) -> None:
    """Whole passages by default; a limit that the file sets holds even if it is the usual one; the call wins."""
    (open_project / ".kx.json").write_text(config)
    session = SessionProject(canonical_root(open_project), settings)
    async with fake_services() as (bus, fakes), anyio.create_task_group() as tasks:
        calls = Calls(bus, tasks)
        await calls.call(session, BY_NAME["search"], {"query": "q", **arguments})
        request = next(one for one in fakes.asked if hasattr(one, "snippets"))
        for wrong in ({"max_snippet_lines": 51}, {"max_snippet_results": 21}, {"max_tokens": 199}):
            with pytest.raises(KxError) as refused:
                await calls.call(session, BY_NAME["search"], {"query": "q", **wrong})
            assert refused.value.code is ErrorCode.BAD_REQUEST
        tasks.cancel_scope.cancel()
    assert request.snippets == asked
    assert 0 < request.budget.tokens < MAX_TOKENS - ENVELOPE_TOKENS
