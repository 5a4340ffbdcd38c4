"""What each user of the bus may do, derived from the subject tables (pure)."""

from __future__ import annotations

from msgspec import Struct

from shared.identity import InstanceId
from shared.subjects import (
    COMMAND,
    EVENT_ROUTES,
    REQUEST_ROUTES,
    SERVICES,
    TOOL,
    pattern_of,
    subject_of,
)

USERS = (*SERVICES, COMMAND)  # one each; other tools get users of their own, by `tool_permissions`
FORBIDDEN = ("$SYS.>", "$JS.>")
DISCOVERY = "$SRV"  # the control subjects of the NATS micro protocol
DISCOVERY_VERBS = ("PING", "INFO", "STATS")
_DISCOVERY_OF_ALL = f"{DISCOVERY}.>"


class Permissions(Struct, frozen=True, kw_only=True):
    """What one user may publish and subscribe; with `responds` also one reply to each request it got."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    responds: bool = False


def inbox_prefix(user: str) -> str:
    """Give the subjects below which `user`, and nobody else, may receive replies.

    >>> inbox_prefix("query")
    '_INBOX_query'
    """
    return f"_INBOX_{user}"


def permissions_of(user: str) -> Permissions:
    """Derive the rights of a service or of the command; a user the tables do not name may do nothing."""
    asks = [pattern_of(route) for route in REQUEST_ROUTES if user in route.callers]
    tells = [pattern_of(route) for route in EVENT_ROUTES if user == route.service]
    answers = [pattern_of(route) for route in REQUEST_ROUTES if user == route.service]
    hears = [pattern_of(route) for route in EVENT_ROUTES if user in route.subscribers]
    if user == COMMAND:
        asks.append(_DISCOVERY_OF_ALL)
    inbox = [f"{inbox_prefix(user)}.>"] if asks or answers else []
    return Permissions(
        publish=(*asks, *tells),
        subscribe=(*inbox, *answers, *hears, *(discovery_subjects(user) if answers else ())),
        responds=bool(answers),
    )


def tool_permissions(user: str, instance: InstanceId) -> Permissions:
    """Give another program's rights: ask about one instance and which services there are, receive the replies."""
    asks = tuple(
        subject_of(route, instance) for route in REQUEST_ROUTES if TOOL in route.callers and route.per_instance
    )
    finds = tuple(
        subject for verb in DISCOVERY_VERBS for root in [f"{DISCOVERY}.{verb}"] for subject in (root, f"{root}.>")
    )
    return Permissions(publish=(*asks, *finds), subscribe=(f"{inbox_prefix(user)}.>",))


def discovery_subjects(service: str) -> tuple[str, ...]:
    """Give the discovery subjects that a service listens to: asked of all, of its name, of one process of it.

    The verbs are spelt out: the server lets whoever may subscribe `$SRV.*` subscribe `$SRV.>` as well (2.15).
    """
    roots = [f"{DISCOVERY}.{verb}" for verb in DISCOVERY_VERBS]
    return tuple(subject for root in roots for subject in (root, f"{root}.{service}", f"{root}.{service}.*"))
