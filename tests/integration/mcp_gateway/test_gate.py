"""The project gate as a table: every tool, every way of naming a project (row A5)."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from services.mcp_gateway.adapters.projects import SessionProject
from services.mcp_gateway.calls import Calls
from services.mcp_gateway.core.tools import BY_NAME, TOOLS
from services.query.service import service as query_service
from shared.bus_memory import MemoryBus
from shared.errors import ErrorCode, KxError
from shared.index_open import AUDIT_EVENT
from tests.support.gateway_bench import OTHER_ID, PROJECT_ID, fake_services, make_project
from tests.support.rows import passed

pytestmark = pytest.mark.anyio

ARGUMENTS = {
    "search": {"query": "breaker"}, "ingest": {"path": "docs"}, "reindex": {}, "status": {},
    "megabrain_add": {"title": "T"}, "megabrain_update": {"ref": "1", "kind": "done"}, "megabrain_status": {},
    "megabrain_get": {"ref": "1"}, "megabrain_artifact_add": {"url": "https://x/"}, "megabrain_artifacts": {},
    "megabrain_artifact_link": {"url": "https://x/", "activity": "1"}, "search_knowledge": {"query": "breaker"},
    "recall_context": {"query": "breaker"}, "remember": {"text": "T"}, "forget": {"ids": ["m1"]},
}  # fmt: skip
TOOL_NAMES = [tool.name for tool in TOOLS]
OPENED: list[tuple[str, str]] = []


def _hear(event: str, arguments: tuple) -> None:
    if event == AUDIT_EVENT:
        OPENED.append(arguments)


sys.addaudithook(_hear)  # a hook cannot be taken back; this one only counts opens of an index


@pytest.fixture
def opened() -> Iterator[list[tuple[str, str]]]:
    OPENED.clear()
    return OPENED


@pytest.fixture
def places(gated: Path, tmp_path: Path) -> Path:
    """Beside the project: another one, a prefix sibling, links."""
    make_project(tmp_path / "other", project_id=OTHER_ID)
    make_project(tmp_path / "shop-old")
    for name, target in {"link": gated, "link2": tmp_path / "link", "hop": tmp_path}.items():
        (tmp_path / name).symlink_to(target)
    return tmp_path


def absent(root: Path) -> list[dict[str, object]]:
    given: list[object] = [None, ""]
    nothing = [
        {"expected_project_id": one, "expected_project_root": two} for one, two in itertools.product(given, given)
    ]
    return [
        {},
        *nothing,
        {"expected_project_id": PROJECT_ID},
        {"expected_project_id": OTHER_ID},
        {"expected_project_root": str(root)},
        {"expected_project_id": PROJECT_ID, "expected_project_root": None},
        {"expected_project_id": "", "expected_project_root": str(root)},
    ]


def different(root: Path) -> list[dict[str, object]]:
    beside = root.parent
    roots: list[object] = [
        beside, root / "docs", beside / "shop-old", beside / "other", "/", f"{root}-old", str(root)[:-1], f"{root}x",
        f"{root}/..", f"{root}/../shop", f"{beside}/other/../shop", f"{beside}/hop/other", str(root).upper(),
        beside / "Shop", f"{root}\\", "shop", ".", "./shop", "~/shop", f" {root}", f"{root}\0", f"{root}/docs/", f"{root}/./docs",
        7, True, ["x"], {"root": str(root)}, beside / "nowhere", "x" * 70_000,
    ]  # fmt: skip
    ids: list[object] = [
        OTHER_ID,
        PROJECT_ID[:-1],
        f"{{{PROJECT_ID}}}",
        PROJECT_ID.replace("-", ""),
        "shop",
        7,
        [PROJECT_ID],
        f" {PROJECT_ID}",
    ]
    cases: list[dict[str, object]] = [
        {"expected_project_id": PROJECT_ID, "expected_project_root": str(one) if isinstance(one, Path) else one}
        for one in roots
    ]
    cases += [{"expected_project_id": one, "expected_project_root": str(root)} for one in ids]
    cases += [
        {"expected_project_id": OTHER_ID, "expected_project_root": str(beside / "other")},
        {"expected_project_id": OTHER_ID, "expected_project_root": str(beside / "shop-old")},
        {"expected_project_id": PROJECT_ID, "expected_project_root": str(beside / "other")},
    ]
    return cases


def right(root: Path) -> list[dict[str, object]]:
    beside = root.parent
    spellings = [
        root,
        beside / "link",
        beside / "link2",
        beside / "hop" / "shop",
        f"{root}/",
        f"{beside}/link/",
        f"{root}/.",
        f"/{root}",
    ]
    named = [{"expected_project_id": PROJECT_ID, "expected_project_root": str(one)} for one in spellings]
    return [*named, {"expected_project_id": PROJECT_ID.upper(), "expected_project_root": str(root)}]


def session_of(root: Path, settings) -> SessionProject:
    return SessionProject(Path(os.path.realpath(root)), settings)


@asynccontextmanager
async def calls_of(bus):
    async with anyio.create_task_group() as tasks:
        yield Calls(bus, tasks)
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("tool", TOOLS, ids=TOOL_NAMES)
async def test_who_does_not_name_the_project_gets_its_code_and_nothing_is_touched(
    tool, settings, gated, places, opened
):
    """Row A5: ten ways to say too little, forty to say something else; no request leaves, no registry entry is made."""
    session = session_of(gated, settings)
    table = [(case, ErrorCode.PROJECT_ASSERTION_REQUIRED) for case in absent(gated)]
    table += [(case, ErrorCode.PROJECT_MISMATCH) for case in different(gated)]
    assert (len(absent(gated)), len(different(gated))) == (10, 40)
    async with fake_services() as (bus, fakes), calls_of(bus) as calls:
        for case, code in table:
            with pytest.raises(KxError) as refused:
                await calls.call(session, tool, ARGUMENTS[tool.name] | case)
            assert refused.value.code is code, case
            assert str(gated) not in str(refused.value) + refused.value.hint + "".join(refused.value.params.values())
        assert fakes.asked == []
    assert opened == []
    assert list(settings.projects_dir.iterdir()) == []
    passed("A5", tool=tool.name, unnamed=len(absent(gated)), mismatched=len(different(gated)), opens=len(opened))


@pytest.mark.parametrize("tool", TOOLS, ids=TOOL_NAMES)
async def test_every_spelling_that_leads_to_the_right_root_is_let_in(tool, settings, gated, places):
    """Row A5: symlinked spellings of the right root are accepted."""
    session = session_of(gated, settings)
    async with fake_services() as (bus, fakes), calls_of(bus) as calls:
        for case in right(gated):
            await calls.call(session, tool, ARGUMENTS[tool.name] | case)
        assert fakes.asked
    passed("A5", tool=tool.name, accepted=len(right(gated)))


async def test_the_query_service_opens_an_index_only_for_who_was_let_in(settings, gated, places, opened):
    """Row A5: proven by the opener's audit event, with the real read side."""
    session = session_of(gated, settings)
    tool = next(tool for tool in TOOLS if tool.name == "search")
    async with MemoryBus() as bus, query_service(bus, settings), calls_of(bus) as calls:
        for case in (*absent(gated), *different(gated)):
            with pytest.raises(KxError):
                await calls.call(session, tool, {"query": "breaker"} | case)
        assert opened == []
        answer = await calls.call(session, tool, {"query": "breaker"} | right(gated)[0])
        assert answer.state == "not_indexed"
        assert opened != []


async def test_an_open_project_asks_for_nothing_and_still_checks_what_is_said(settings, open_project):
    """MISSION 1.8: `kx init --open` makes assertions optional, not meaningless."""
    session = session_of(open_project, settings)
    tool = BY_NAME["status"]
    async with fake_services() as (bus, _), calls_of(bus) as calls:
        await calls.call(session, tool, {})
        await calls.call(session, tool, {"expected_project_root": str(open_project)})
        for case in ({"expected_project_root": "/"}, {"expected_project_id": PROJECT_ID}):
            with pytest.raises(KxError) as refused:
                await calls.call(session, tool, case)
            assert refused.value.code is ErrorCode.PROJECT_MISMATCH


async def test_a_gate_that_is_written_or_broken_later_holds_at_once(settings, open_project):
    """MISSION 1.8: a malformed `mcp` block is an error, not an open door."""
    session = session_of(open_project, settings)
    tool = BY_NAME["status"]
    async with fake_services() as (bus, fakes), calls_of(bus) as calls:
        for content, code in (
            (f'{{"mcp": {{"projectId": "{PROJECT_ID}"}}}}', ErrorCode.PROJECT_ASSERTION_REQUIRED),
            ('{"mcp": {"projectID": "x"}}', ErrorCode.CONFIG_INVALID),
            ('{"mcp": {}}', ErrorCode.CONFIG_INVALID),
        ):
            (open_project / ".kx.json").write_text(content)
            with pytest.raises(KxError) as refused:
                await calls.call(session, tool, {})
            assert refused.value.code is code
        assert fakes.asked == []
