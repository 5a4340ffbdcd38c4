"""What a service says about itself in the NATS micro protocol: answers to PING, INFO and STATS.

Written here rather than taken from nats-py, whose endpoints run one request at a time and count a handler as done
once it is only queued. Source: the NATS service API, ADR-32.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from shared.bus import ServiceContract
from shared.permissions import DISCOVERY
from shared.serving import Counters
from shared.subjects import pattern_of

QUEUE_GROUP = "q"  # the protocol's default: processes of one service share the requests
VERSION = "1.0.0"  # of the messages, `v1` in the subjects
ERROR_HEADER = "Nats-Service-Error"
ERROR_CODE_HEADER = "Nats-Service-Error-Code"


class Identity(Struct, frozen=True, kw_only=True):
    """One process of a service."""

    service_id: str
    started: str  # RFC 3339, UTC


def control_subjects(verb: str, service: str, service_id: str) -> tuple[str, ...]:
    """Give the subjects on which `verb` may be asked: of all services, of this one, of this process."""
    root = f"{DISCOVERY}.{verb}"
    return (root, f"{root}.{service}", f"{root}.{service}.{service_id}")


def describe(verb: str, contract: ServiceContract, identity: Identity, counters: Sequence[Counters]) -> bytes:
    """Write the JSON answer to `verb`."""
    described: dict[str, object] = {
        "type": f"io.nats.micro.v1.{verb.lower()}_response",
        "name": contract.name,
        "id": identity.service_id,
        "version": VERSION,
        "metadata": {},
    }
    if verb == "INFO":
        described |= {"description": contract.description, "endpoints": _endpoints(contract)}
    if verb == "STATS":
        stats = [endpoint | _numbers(counter) for endpoint, counter in zip(_endpoints(contract), counters, strict=True)]
        described |= {"started": identity.started, "endpoints": stats}
    return msgspec.json.encode(described)


def _endpoints(contract: ServiceContract) -> list[dict[str, object]]:
    return [
        {
            "name": endpoint.route.verb,
            "subject": pattern_of(endpoint.route),
            "queue_group": QUEUE_GROUP,
            "metadata": {"request": endpoint.route.request.__name__, "reply": endpoint.route.reply.__name__},
        }
        for endpoint in contract.endpoints
    ]


def _numbers(counters: Counters) -> dict[str, object]:
    return {
        "num_requests": counters.requests,
        "num_errors": counters.errors,
        "last_error": counters.last_error,
        "processing_time": counters.processing_ns,
        "average_processing_time": counters.processing_ns // max(1, counters.requests),
    }
