"""Lines of a pump: whole, in order, and never half a message to an agent."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kx.pump import whole_lines

HEAVY = ("anyio", "apsw", "asyncio", "mcp", "nats", "numpy", "onnxruntime", "services", "structlog")


@pytest.mark.parametrize(
    ("takes_rest", "expected"),
    [(True, [b"one\n", b"\n", b"two three\n", b"rest\n"]), (False, [b"one\n", b"\n", b"two three\n"])],
)
def test_lines_are_whole_however_they_arrive(takes_rest, expected):
    """A gateway killed in the middle of a message must not leave half of it on stdout (case 37)."""
    parts = iter([b"on", b"e\n\ntwo", b" thr", b"ee\nre", b"st", b""])
    assert list(whole_lines(lambda: next(parts), takes_rest=takes_rest)) == expected


def test_what_an_agent_starts_loads_nothing_heavy():
    """Issue 3: no bus client, no numbers, no MCP library, no event loop: 14 MB and a quarter of a second."""
    script = f"import sys, kx.cli, kx.commands.mcp; print([name for name in {HEAVY} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
