"""A client that asks far too often, as a process of its own: `python -m tests.support.greedy URL RATE SECONDS`.

Reads the whole request from stdin and prints how many answers there were of each status.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from http.client import HTTPConnection
from threading import Thread
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

CONNECTIONS = 32  # more than a token may ask at once, so that some are refused however slow the machine is


class Asked(Struct, frozen=True):
    """One request, again and again."""

    headers: dict[str, str]
    body: str


def ask_on(url: str, asked: Asked, pause_s: float, until_s: float, statuses: Counter[int]) -> None:
    """Ask on one connection, at its pace at most."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=30)
    due_s = time.monotonic()
    while due_s < until_s:
        connection.request("POST", "/mcp", asked.body, asked.headers)
        answered = connection.getresponse()
        answered.read()
        statuses[answered.status] += 1
        due_s = max(due_s + pause_s, time.monotonic() - pause_s)
        time.sleep(max(due_s - time.monotonic(), 0.0))
    connection.close()


def main(url: str, rate: float, seconds: float) -> None:
    """Ask on all connections together at the rate."""
    asked = msgspec.json.decode(sys.stdin.buffer.read(), type=Asked)
    statuses: Counter[int] = Counter()
    until_s = time.monotonic() + seconds
    line = (url, asked, CONNECTIONS / rate, until_s, statuses)
    threads = [Thread(target=ask_on, args=line) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.stdout.write(msgspec.json.encode({str(status): count for status, count in statuses.items()}).decode())


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
