"""Every subject has someone who answers and someone who asks, and is written in one place."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared import subjects
from shared.subjects import COMMAND, PREFIX, REQUEST_ROUTES, TOOL, EventRoute, RequestRoute
from tests.support.repository import modules, names_in, text_of

CONSTANTS = {name: value for name, value in vars(subjects).items() if isinstance(value, RequestRoute | EventRoute)}
REQUESTS = {name: route for name, route in CONSTANTS.items() if isinstance(route, RequestRoute)}
EVENTS = {name: route for name, route in CONSTANTS.items() if isinstance(route, EventRoute)}


def home_of(party: str) -> Path:
    return Path("kx") if party == COMMAND else Path("services") / party


def test_every_route_is_in_the_table():
    """Permissions are derived from the table, so a route outside it could not be used."""
    health = [subjects.service_status(name) for name in subjects.SERVICES]
    assert [*REQUESTS.values(), *health] == list(REQUEST_ROUTES)
    assert list(EVENTS.values()) == list(subjects.EVENT_ROUTES)


@pytest.mark.parametrize("name", REQUESTS)
def test_request_is_answered(name: str):
    """The service a route names registers it in its service.py."""
    assert name in names_in(home_of(REQUESTS[name].service) / "service.py")


@pytest.mark.parametrize("service", subjects.SERVICES)
def test_service_tells_how_it_is(service: str):
    """Every service answers the health route."""
    assert "health_endpoint" in names_in(home_of(service) / "service.py")


@pytest.mark.parametrize(
    ("name", "caller"), [(name, caller) for name, route in REQUESTS.items() for caller in route.callers]
)
def test_caller_asks(name: str, caller: str):
    """Who may use a route does use it; a permission nobody needs is a hole."""
    if caller != TOOL:
        assert name in names_in(home_of(caller))


@pytest.mark.parametrize("name", EVENTS)
def test_event_is_published_and_heard(name: str):
    """A fact has a publisher and its subscribers."""
    route = EVENTS[name]
    for party in (route.service, *route.subscribers):
        assert name in names_in(home_of(party)), party


def test_subjects_are_written_in_one_module():
    """A subject built elsewhere would escape the permission table."""
    elsewhere = [str(path) for path in modules() if PREFIX in text_of(path) and path != Path("shared/subjects.py")]
    assert elsewhere == []
