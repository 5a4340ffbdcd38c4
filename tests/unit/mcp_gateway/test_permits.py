"""Every tool × scope × profile: what is listed can be called, and nothing else."""

from __future__ import annotations

import itertools

import pytest

from services.mcp_gateway.core.permits import LOCAL, Permit, listed
from services.mcp_gateway.core.tool import Tool
from services.mcp_gateway.core.tools import BY_NAME, TOOLS
from shared.access import PROFILES, SCOPES
from shared.errors import ErrorCode, KxError
from tests.support.rows import passed

# The whole promise, by hand: a new tool has to be entered here.
TOOLS_OF_SCOPE = {
    "search": {"search", "status", "megabrain_status", "megabrain_get", "megabrain_artifacts"},
    "ingest": {"ingest", "reindex"},
    "megabrain:write": {"megabrain_add", "megabrain_update", "megabrain_artifact_add", "megabrain_artifact_link"},
    "knowledge:read": {"search_knowledge"},
    "knowledge:write": set(),
    "memory:read": {"recall_context"},
    "memory:write": {"remember", "forget"},
}
EVERYTHING = set().union(*TOOLS_OF_SCOPE.values())
NOT_PUBLIC = {"search_knowledge"}


def a_tool(name: str) -> Tool:
    """Give a row, made up where the tool is still to come."""
    scope = next(scope for scope, names in TOOLS_OF_SCOPE.items() if name in names)
    row = BY_NAME["search"]
    return BY_NAME.get(name) or Tool(
        name=name, title=name, description="", takes=row.takes, gives=row.gives, hints=row.hints, scope=scope
    )


def expected(scopes: set[str], profile: str) -> set[str]:
    given = EVERYTHING if "admin" in scopes else set().union(*(TOOLS_OF_SCOPE[scope] for scope in scopes))
    return given - (NOT_PUBLIC if profile.endswith("public") else set())


def test_the_table_names_every_tool():
    """No tool comes without someone saying who may use it."""
    assert {tool.name for tool in TOOLS} == EVERYTHING
    assert [tool.name for tool in TOOLS if tool.name not in TOOLS_OF_SCOPE[tool.scope]] == []


@pytest.mark.parametrize("profile", PROFILES)
def test_what_a_permit_lists_is_what_it_allows(profile):
    """MISSION 5.2: every set of scopes, every profile, every tool; the rest is refused with its code."""
    tools = [a_tool(name) for name in sorted(EVERYTHING)]
    cases = 0
    for count in (0, 1, 2, 3):
        for scopes in itertools.combinations(SCOPES, count):
            permit = Permit(principal="token-1", scopes=frozenset(scopes), profile=profile)
            assert {tool.name for tool in listed(tools, permit)} == expected(set(scopes), profile)
            for tool in tools:
                cases += 1
                if permit.allows(tool):
                    permit.check(tool)
                    continue
                with pytest.raises(KxError) as refused:
                    permit.check(tool)
                assert refused.value.code is ErrorCode.TOOL_FORBIDDEN
    passed("tools-scopes-profiles", profile=profile, cases=cases)


def test_who_sits_at_this_machine_may_do_everything():
    """The local socket is open to this user alone: principal `local`, all scopes."""
    assert LOCAL.principal == "local"
    assert listed(TOOLS, LOCAL) == list(TOOLS)
