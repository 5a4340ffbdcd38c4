"""Every subject of the bus."""

from __future__ import annotations

import re

import pytest

from shared.identity import InstanceId
from shared.messages import InstanceMessage
from shared.subjects import (
    COMMAND,
    EMBED,
    EVENT_ROUTES,
    REQUEST_ROUTES,
    SEARCH,
    SERVICES,
    TOOL,
    instance_of,
    pattern_of,
    service_status,
    subject_of,
)

INSTANCE = InstanceId("0123456789abcdef")
ROUTES = (*REQUEST_ROUTES, *EVENT_ROUTES)


def test_no_two_routes_share_a_subject() -> None:
    """One subject carries one message type."""
    patterns = [pattern_of(route) for route in ROUTES]
    assert len(set(patterns)) == len(patterns)


@pytest.mark.parametrize("route", ROUTES, ids=pattern_of)
def test_subject_names_service_and_verb(route) -> None:
    """DESIGN 3: `kx.v1.{instance}.{service}.{verb}`, without a project `kx.v1.{service}.{verb}`."""
    subject = subject_of(route, INSTANCE if route.per_instance else None)
    assert re.fullmatch(r"kx\.v1\.([0-9a-f]{16}\.)?[a-z_]+\.[a-z_]+", subject)
    assert subject.endswith(f".{route.service}.{route.verb}")
    assert instance_of(subject) == (INSTANCE if route.per_instance else None)


@pytest.mark.parametrize("route", ROUTES, ids=pattern_of)
def test_route_about_a_tree_carries_a_message_about_a_tree(route) -> None:
    """The receiver can compare the subject's instance with the message's."""
    carried = route.request if route in REQUEST_ROUTES else route.event
    assert issubclass(carried, InstanceMessage) == route.per_instance


@pytest.mark.parametrize("route", ROUTES, ids=pattern_of)
def test_both_ends_of_a_route_are_known(route) -> None:
    """STYLE 4: each subject has a publisher and a subscriber."""
    others = route.callers if route in REQUEST_ROUTES else route.subscribers
    assert route.service in SERVICES
    assert others
    assert set(others) <= {*SERVICES, COMMAND, TOOL}


@pytest.mark.parametrize(("route", "instance"), [(SEARCH, None), (EMBED, INSTANCE)])
def test_instance_is_given_exactly_where_it_belongs(route, instance: InstanceId | None) -> None:
    """A subject without its instance would match nobody."""
    with pytest.raises(ValueError, match="per_instance"):
        subject_of(route, instance)


@pytest.mark.parametrize("service", SERVICES)
def test_every_service_has_a_health_route(service: str) -> None:
    """Issue 3: status tells the truth about services."""
    assert service_status(service) in REQUEST_ROUTES
