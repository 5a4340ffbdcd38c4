"""Several agents on several projects share one gateway, and nothing of one reaches the other."""

from __future__ import annotations

from collections import Counter

import anyio
import pytest

from shared import messages as m
from shared.project_config import load_project_config
from shared.registry import Registry
from tests.support.gateway_bench import OTHER_ID, PROJECT_ID, fake_services, make_project, running_gateway
from tests.support.mcp_client import agent, text_of

pytestmark = pytest.mark.anyio

ROUNDS = 25


async def test_four_agents_on_two_projects_never_meet(settings, tmp_path):
    """Issue 3: each call goes out for the instance of its own session; the other project's two values are a mismatch."""
    roots = {PROJECT_ID: make_project(tmp_path / "a"), OTHER_ID: make_project(tmp_path / "b", project_id=OTHER_ID)}
    registry = Registry(settings)
    instances = {key: registry.enrol(root, load_project_config(root, settings)).instance for key, root in roots.items()}

    async with fake_services() as (bus, fakes), running_gateway(bus, settings) as stack:

        async def work(ours: str, theirs: str, mode: str) -> None:
            named = {"expected_project_id": ours, "expected_project_root": str(roots[ours])}
            wrong = {"expected_project_id": theirs, "expected_project_root": str(roots[theirs])}
            async with agent(stack, roots[ours], mode=mode) as client:
                for number in range(ROUNDS):
                    query = {"query": f"{ours} {number}"}
                    assert not (await client.call_tool("search", named | query)).is_error
                    assert "KX_PROJECT_MISMATCH" in text_of(await client.call_tool("search", wrong | query))
                    assert not (await client.call_tool("ingest", named | {"path": "docs"})).is_error

        async with anyio.create_task_group() as agents:
            for mode in ("auto", "legacy"):
                agents.start_soon(work, PROJECT_ID, OTHER_ID, mode)
                agents.start_soon(work, OTHER_ID, PROJECT_ID, mode)
        searches = [one for one in fakes.asked if isinstance(one, m.SearchRequest)]
        assert {one.instance for one in searches if one.query.startswith(PROJECT_ID)} == {instances[PROJECT_ID]}
        assert {one.instance for one in searches if one.query.startswith(OTHER_ID)} == {instances[OTHER_ID]}
        walks = Counter(one.instance for one in fakes.asked if isinstance(one, m.ReconcileTree))
        assert walks == dict.fromkeys(instances.values(), 2 * ROUNDS)
