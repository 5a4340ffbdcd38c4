"""The one table of processes: what `kx serve NAME` runs, which services it hosts, in which order a stack starts.

Procfile, compose file and the folders under `services/` say the same, by test. Starting and supervising is not done
here.
"""

from __future__ import annotations

from msgspec import Struct

from shared.errors import ErrorCode, KxError
from shared.subjects import EMBEDDER, GATEWAY, INDEXER, KNOWLEDGE, MEGABRAIN, QUERY, WATCHER

BUS = "bus"


class Process(Struct, frozen=True, kw_only=True):
    """One operating-system process of a stack."""

    name: str
    hosts: tuple[str, ...]  # the services that answer from it; none for the bus, which is nats-server itself
    needs_bus: bool = True
    starts_after_s: float = 0.0  # at a cold start: six interpreters at once on two cores keep an agent waiting


# In start order: the door first, because someone may be waiting at it, and it imports for a second; then who answers
# before who asks. Any other order works too, because every request is repeated; it only takes longer.
PROCESSES = (
    Process(name=BUS, hosts=(), needs_bus=False),
    Process(name=GATEWAY, hosts=(GATEWAY, MEGABRAIN, KNOWLEDGE)),
    Process(name=QUERY, hosts=(QUERY,), starts_after_s=0.8),
    Process(name=INDEXER, hosts=(INDEXER,), starts_after_s=1.2),
    Process(name=WATCHER, hosts=(WATCHER,), starts_after_s=1.4),
    Process(name=EMBEDDER, hosts=(EMBEDDER,), starts_after_s=1.6),
)


def process_named(name: str) -> Process:
    """Find a process by the name that follows `kx serve`; KX_USAGE when there is none."""
    for process in PROCESSES:
        if process.name == name:
            return process
    known = ", ".join(process.name for process in PROCESSES)
    raise KxError(ErrorCode.USAGE, "there is no process {name}", hint="choose one of: {known}", name=name, known=known)
