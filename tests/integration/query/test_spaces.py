"""Trees that `knowledge` writes: searched on a route of their own, and there for nobody else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from services.megabrain.service import service as megabrain
from services.query.service import service as query
from shared.bus import Bus
from shared.bus_memory import MemoryBus
from shared.errors import ErrorCode, KxError
from shared.megabrain_messages import ActivitiesRequest
from shared.messages import (
    CandidatesRequest,
    InstanceMessage,
    ListingRequest,
    ManifestRequest,
    SearchRequest,
    StatusRequest,
)
from shared.project_config import load_project_config
from shared.registry import Project, Registry
from shared.search_messages import WhyNotRequest
from shared.settings import Settings, ensure_home
from shared.subjects import (
    ACTIVITIES,
    CANDIDATES,
    LISTING,
    MANIFEST,
    REQUEST_ROUTES,
    SEARCH,
    SPACE_SEARCH,
    STATUS,
    TOOL,
    WHY_NOT,
)
from tests.support.configs import make_root, make_settings, write_json

pytestmark = pytest.mark.anyio


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = make_settings(tmp_path)
    ensure_home(settings)
    return settings


def space_in(settings: Settings) -> Project:
    """Make a derived tree."""
    root = settings.spaces_dir / "s1"
    write_json(root / ".kx.json", {"project": "space-s1"})
    return Registry(settings).enrol_space(root, load_project_config(root, settings))


@asynccontextmanager
async def served(settings: Settings) -> AsyncIterator[Bus]:
    """Serve what could show a tree."""
    async with MemoryBus() as bus, query(bus, settings), megabrain(bus, settings):
        yield bus


@pytest.mark.parametrize(
    ("route", "message"),
    [
        (SEARCH, SearchRequest),
        (CANDIDATES, CandidatesRequest),
        (STATUS, StatusRequest),
        (LISTING, ListingRequest),
        (ACTIVITIES, ActivitiesRequest),
    ],
    ids=lambda value: getattr(value, "verb", ""),
)
async def test_no_other_route_shows_a_space(settings: Settings, route, message: type[InstanceMessage]) -> None:
    """ADR 8: nobody reaches a team's texts around the roles."""
    asked = {"query": "x"} if "query" in message.__struct_fields__ else {}
    asked |= {"listing": "documents"} if message is ListingRequest else {}
    async with served(settings) as bus:
        with pytest.raises(KxError) as caught:
            await bus.request(route, message(instance=space_in(settings).instance, **asked))
    assert caught.value.code is ErrorCode.PROJECT_UNKNOWN


async def test_why_not_says_nothing_of_a_space(settings: Settings) -> None:
    """An explanation is an answer too."""
    async with served(settings) as bus:
        instance = space_in(settings).instance
        asked = WhyNotRequest(
            instance=instance, search=SearchRequest(instance=instance, query="x"), path="kb/a/b/c/_x_.md"
        )
        with pytest.raises(KxError) as caught:
            await bus.request(WHY_NOT, asked)
    assert caught.value.code is ErrorCode.PROJECT_UNKNOWN


async def test_space_search_shows_no_project(settings: Settings, tmp_path: Path) -> None:
    """A right that is not needed is a hole: `knowledge` is no way into a project."""
    root = make_root(tmp_path)
    project = Registry(settings).enrol(root, load_project_config(root, settings))
    async with served(settings) as bus:
        with pytest.raises(KxError) as caught:
            await bus.request(SPACE_SEARCH, SearchRequest(instance=project.instance, query="x"))
        assert caught.value.code is ErrorCode.PROJECT_UNKNOWN
        reply = await bus.request(SPACE_SEARCH, SearchRequest(instance=space_in(settings).instance, query="x"))
        assert reply.state == "not_indexed"


async def test_the_watcher_compares_a_space_as_any_tree(settings: Settings) -> None:
    """What nobody may search has to be indexed all the same."""
    async with served(settings) as bus:
        page = await bus.request(MANIFEST, ManifestRequest(instance=space_in(settings).instance))
    assert page.complete


def test_no_outside_program_may_search_spaces() -> None:
    """The right is one service's."""
    assert SPACE_SEARCH in REQUEST_ROUTES
    assert SPACE_SEARCH.callers == ("knowledge",)
    assert TOOL not in SPACE_SEARCH.callers
