"""The configuration text of our nats-server (pure): loopback, a user per service, nothing kept.

The format is NATS's own; of it only quoted strings, numbers, booleans, lists and blocks are used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from msgspec import Struct

from shared.permissions import FORBIDDEN, Permissions

HOST = "127.0.0.1"
HEADER_BYTES = 16 * 1024  # the server counts headers as payload; ours have under 1 KiB
MAX_CONNECTIONS = 256
# How long a request may be answered. Waiting for an index to be complete is the longest one.
REPLY_WITHIN = "60m"


class BusUser(Struct, frozen=True, kw_only=True):
    """One user of the server."""

    name: str
    password: str
    permissions: Permissions


def server_config(port: int, users: Sequence[BusUser], *, max_message_bytes: int) -> str:
    """Write the configuration file of the bus.

    JetStream stays off, no user is assumed for a connection without credentials, nobody may touch the server's own
    subjects, and whoever answers may publish one reply per request besides its own subjects.
    """
    return "\n".join(
        [
            f"host: {_quoted(HOST)}",
            f"port: {port}",
            'server_name: "kx"',
            f"max_payload: {max_message_bytes + HEADER_BYTES}",
            f"max_connections: {MAX_CONNECTIONS}",
            "debug: false",
            "trace: false",
            "authorization {",
            "  timeout: 5",
            "  users: [",
            *(_user(user) for user in users),
            "  ]",
            "}",
            "",
        ]
    )


def _user(user: BusUser) -> str:
    rights = user.permissions
    # A user that may only answer has an empty allow list, which the server would read as "everything".
    publish = f"allow: {_list(rights.publish)}, deny: {_list(FORBIDDEN)}" if rights.publish else 'deny: ">"'
    responses = f', allow_responses: {{ max: 1, expires: "{REPLY_WITHIN}" }}' if rights.responds else ""
    return (
        f"    {{ user: {_quoted(user.name)}, password: {_quoted(user.password)}, permissions: {{ "
        f"publish: {{ {publish} }}, "
        f"subscribe: {{ allow: {_list(rights.subscribe)}, deny: {_list(FORBIDDEN)} }}{responses} }} }}"
    )


def _list(subjects: Iterable[str]) -> str:
    return "[" + ", ".join(_quoted(subject) for subject in subjects) + "]"


def _quoted(text: str) -> str:
    return json.dumps(text)
