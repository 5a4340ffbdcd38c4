"""What an agent may have indexed: inside the project and not denied (case 40)."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from services.mcp_gateway.adapters.projects import SessionProject
from services.mcp_gateway.calls import Calls
from services.mcp_gateway.core.tools import BY_NAME
from shared import messages as m
from shared.errors import ErrorCode, KxError
from shared.settings import load_settings
from tests.support.configs import write_json
from tests.support.gateway_bench import fake_services

pytestmark = pytest.mark.anyio


@pytest.fixture
def session(settings, open_project, tmp_path) -> SessionProject:
    (tmp_path / "outside.txt").write_text("canary-9d1f")
    (open_project / "link").symlink_to(tmp_path / "outside.txt")
    (open_project / "folder-link").symlink_to(tmp_path)
    (open_project / "public.md").symlink_to(".env")
    return SessionProject(Path(os.path.realpath(open_project)), settings)


@pytest.fixture
def allowing(settings, open_project) -> SessionProject:
    """A project of which the user lets in one denied file."""
    (open_project / ".env.example").write_text("PORT=80\n")
    write_json(settings.home / "config.json", {"projects": {str(open_project): {"allowDenied": [".env.example"]}}})
    told = load_settings({"home": str(settings.home)}, {"HOME": str(settings.home.parent)})
    return SessionProject(Path(os.path.realpath(open_project)), told)


@asynccontextmanager
async def ingesting(session):
    async with fake_services() as (bus, fakes), anyio.create_task_group() as tasks:
        calls = Calls(bus, tasks)

        async def ingest(path: str):
            return await calls.call(session, BY_NAME["ingest"], {"path": path})

        session.enrolled(session.configuration())
        yield ingest, fakes
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (".env", ErrorCode.PATH_DENIED),
        ("sub/../.env", ErrorCode.PATH_DENIED),
        ("SUB/.ENV", ErrorCode.PATH_DENIED),
        ("sub/.env.local", ErrorCode.PATH_DENIED),
        ("public.md", ErrorCode.PATH_DENIED),
        (".vault/private", ErrorCode.PATH_DENIED),
        (".vault/private/diary.md", ErrorCode.PATH_DENIED),
        ("../outside.txt", ErrorCode.PATH_OUTSIDE_ROOT),
        ("/etc/passwd", ErrorCode.PATH_OUTSIDE_ROOT),
        ("link", ErrorCode.PATH_OUTSIDE_ROOT),
        ("folder-link/outside.txt", ErrorCode.PATH_OUTSIDE_ROOT),
        ("a\0b", ErrorCode.PATH_OUTSIDE_ROOT),
    ],
)
async def test_a_path_that_may_not_be_indexed_is_refused_by_name_and_announced_to_nobody(path, code, session):
    """Case 40: each with a named reason."""
    async with ingesting(session) as (ingest, fakes):
        with pytest.raises(KxError) as refused:
            await ingest(path)
        assert refused.value.code is code
        assert fakes.asked == []


async def test_what_the_user_allows_may_be_indexed_and_the_rest_stays_denied(allowing):
    """MISSION 1.4: `allowDenied` of the user's own file counts here as it does for the indexer."""
    async with ingesting(allowing) as (ingest, _):
        assert (await ingest(".env.example")).path == ".env.example"
        with pytest.raises(KxError) as refused:
            await ingest(".env")
        assert refused.value.code is ErrorCode.PATH_DENIED


async def test_a_folder_with_something_denied_in_it_says_what_was_left_out(session):
    """Case 40: a directory that contains `.vault/private`."""
    rows = (m.ListingRow(path=".vault/private/", reason="denied"), m.ListingRow(path="zz/other.bin", reason="binary"))
    async with ingesting(session) as (ingest, fakes):
        fakes.listing = m.ListingPage(rows=rows, complete=True)
        answer = await ingest(".vault")
    assert [(one.path, one.reason) for one in answer.skipped] == [(".vault/private/", "denied")]


@pytest.mark.parametrize("path", ["sub/deep", "./sub/deep/", "sub/../sub/deep", "{root}/sub/deep"])
async def test_a_folder_is_walked_again_ahead_of_bulk_work(path, session, open_project):
    """MISSION 5.1: every spelling of a place inside is that place; files are read also when they seem unchanged."""
    async with ingesting(session) as (ingest, fakes):
        answer = await ingest(path.format(root=open_project))
        asked = next(one for one in fakes.asked if isinstance(one, m.ReconcileTree))
    assert (asked.subtrees, asked.force, asked.urgency) == (("sub/deep",), True, "live")
    assert (answer.path, answer.searchable) == ("sub/deep", True)


async def test_nothing_at_a_path_is_said(session):
    """A typing mistake is told as such; a deleted file would have been announced."""
    async with ingesting(session) as (ingest, fakes):
        fakes.tree = replace(fakes.tree, walked=0, announced=0)
        with pytest.raises(KxError) as refused:
            await ingest("nowhere.md")
        assert refused.value.code is ErrorCode.PATH_NOT_FOUND


async def test_a_long_walk_is_not_waited_for(session, monkeypatch):
    """Case 38: the answer comes while the walk goes on."""
    monkeypatch.setattr("services.mcp_gateway.calls.WALK_WAIT_S", 0.0)
    async with ingesting(session) as (ingest, fakes):
        fakes.walk_may_end = anyio.Event()
        answer = await ingest(".")
    assert (answer.searchable, answer.indexing) == (False, "the tree is being walked")
