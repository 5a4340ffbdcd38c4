"""The configuration of the bus: who may do what, and what is off."""

from __future__ import annotations

import re

import pytest

from shared.bus_config import HEADER_BYTES, BusUser, server_config
from shared.identity import InstanceId
from shared.permissions import USERS, Permissions, permissions_of, tool_permissions
from shared.subjects import COMMAND, EMBEDDER, EVENT_ROUTES, REQUEST_ROUTES, SERVICES, TOOL, pattern_of

LIMIT = 1_000
NOBODY = Permissions(publish=(), subscribe=())


def config_of(*users: BusUser) -> str:
    return server_config(4222, users, max_message_bytes=LIMIT)


def test_server_listens_on_loopback_and_keeps_nothing() -> None:
    """RELIABILITY rule 10: loopback only, no work is kept on the bus."""
    config = config_of(BusUser(name="query", password="p", permissions=permissions_of("query")))
    assert 'host: "127.0.0.1"' in config
    assert f"max_payload: {LIMIT + HEADER_BYTES}" in config
    assert "jetstream" not in config.lower()
    assert "no_auth_user" not in config
    assert "0.0.0.0" not in config


@pytest.mark.parametrize("user", USERS)
def test_nobody_may_touch_the_servers_own_subjects(user: str) -> None:
    """DESIGN 3: `$SYS.>` and `$JS.>` are denied to everybody."""
    line = config_of(BusUser(name=user, password="p", permissions=permissions_of(user)))
    assert re.search(r'publish: \{ (deny: ">"|allow: .*, deny: \["\$SYS\.>", "\$JS\.>"\]) \}', line)
    assert re.search(r'subscribe: \{ allow: .*, deny: \["\$SYS\.>", "\$JS\.>"\] \}', line)


def test_user_without_subjects_of_its_own_may_publish_nothing() -> None:
    """An empty allow list would mean "everything" to the server."""
    assert 'publish: { deny: ">" }' in config_of(BusUser(name="x", password="p", permissions=NOBODY))


def test_only_services_may_reply() -> None:
    """DESIGN 3: `allow_responses` for responders."""
    responds = {
        user
        for user in USERS
        if "allow_responses" in config_of(BusUser(name=user, password="p", permissions=permissions_of(user)))
    }
    assert responds == set(SERVICES)


def test_values_cannot_break_out_of_their_quotes() -> None:
    """A name or password is data, whatever it holds."""
    config = config_of(BusUser(name='a" }\nhost: "0.0.0.0', password='"', permissions=NOBODY))
    assert '\nhost: "0.0.0.0' not in config
    assert 'password: "\\""' in config


# --- permissions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", REQUEST_ROUTES, ids=pattern_of)
def test_route_may_be_asked_by_its_callers_alone_and_answered_by_its_service_alone(route) -> None:
    """STYLE: permissions follow the subject table."""
    asks = {user for user in USERS if pattern_of(route) in permissions_of(user).publish}
    answers = {user for user in USERS if pattern_of(route) in permissions_of(user).subscribe}
    assert asks == set(route.callers) - {TOOL}
    assert answers == {route.service}


@pytest.mark.parametrize("route", EVENT_ROUTES, ids=pattern_of)
def test_event_may_be_told_by_its_publisher_alone_and_heard_by_its_subscribers_alone(route) -> None:
    """STYLE: permissions follow the subject table."""
    tells = {user for user in USERS if pattern_of(route) in permissions_of(user).publish}
    hears = {user for user in USERS if pattern_of(route) in permissions_of(user).subscribe}
    assert (tells, hears) == ({route.service}, set(route.subscribers))


@pytest.mark.parametrize("user", USERS)
def test_inbox_of_a_user_is_its_own(user: str) -> None:
    """FACTS L: with one inbox prefix for all, B received A's reply."""
    inboxes = [subject for subject in permissions_of(user).subscribe if "INBOX" in subject]
    assert inboxes in ([f"_INBOX_{user}.>"], [])


def test_service_that_only_answers_has_nothing_to_publish() -> None:
    """The embedder asks nobody."""
    assert permissions_of(EMBEDDER).publish == ()
    assert permissions_of(EMBEDDER).responds


def test_command_may_discover_services() -> None:
    """Issue 3: `nats micro` works with the command's credentials."""
    assert "$SRV.>" in permissions_of(COMMAND).publish


def test_unknown_user_may_do_nothing() -> None:
    """Rights come from the table only."""
    assert permissions_of("nobody") == NOBODY


def test_tool_may_ask_about_its_one_instance_and_nothing_else() -> None:
    """DESIGN 3: another program gets `query.*` of one instance, and may ask which services there are."""
    rights = tool_permissions("tool-1", InstanceId("0123456789abcdef"))
    assert rights.subscribe == ("_INBOX_tool-1.>",)
    questions = [subject for subject in rights.publish if not subject.startswith("$SRV.")]
    assert questions
    assert all(re.fullmatch(r"kx\.v1\.0123456789abcdef\.query\.[a-z]+", subject) for subject in questions)
    assert {"$SRV.PING", "$SRV.INFO.>", "$SRV.STATS"} <= set(rights.publish)
    assert not rights.responds
