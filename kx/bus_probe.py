"""Whether the bus lets a user in, asked in NATS's own words: importing a client would cost ten times as much."""

from __future__ import annotations

import json
import socket

from shared.bus_config import HOST

_ANSWER_S = 2.0
_LINE_BYTES = 64 * 1024


def is_let_in(port: int, user: str, password: str) -> bool:
    """Log in and hang up; also False when nobody listens there."""
    connect = json.dumps({"user": user, "pass": password, "verbose": False, "pedantic": False, "lang": "kx"})
    try:
        with (
            socket.create_connection((HOST, port), timeout=_ANSWER_S) as connection,
            connection.makefile("rb") as answers,
        ):
            answers.readline(_LINE_BYTES)  # INFO
            connection.sendall(f"CONNECT {connect}\r\nPING\r\n".encode())
            return answers.readline(_LINE_BYTES).startswith(b"PONG")
    except OSError:
        return False
