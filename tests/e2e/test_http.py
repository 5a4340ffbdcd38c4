"""Agents over HTTP on the whole product: a token opens the door, and its end closes it (rows A7, A17, F15)."""

from __future__ import annotations

import http.client
import json
import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.command import Kx
from tests.support.http_bench import modern
from tests.support.processes import eventually, processes_of
from tests.support.rows import passed

pytestmark = [pytest.mark.connected, pytest.mark.timeout(300)]

OPEN_S = 30.0  # the port opens within two seconds of the first token; a test machine may be busy
CANARY = "canary-7f3a"  # stands in a denied file of the tree
WORDS = "breaker retried backoff"


@pytest.fixture(autouse=True)
def nothing_stays(kx: Kx) -> Iterator[None]:
    """End whatever a failed test has left."""
    yield
    kx("down")
    for pid in processes_of(kx.home):
        os.kill(pid, signal.SIGKILL)


def address(kx: Kx) -> str:
    """Where HTTP is, once it says so."""
    path = kx.home / "run" / "http.json"
    return json.loads(path.read_text())["url"] if path.exists() else ""


def call(url: str, token: str, tool: str, arguments: dict[str, object]) -> tuple[int, str]:
    """Call a tool as any HTTP client can."""
    message = modern("tools/call", {"name": tool, "arguments": arguments})
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    connection.request("POST", "/mcp", json.dumps(message), headers)
    answered = connection.getresponse()
    try:
        return answered.status, answered.read().decode()
    finally:
        connection.close()


def refused(url: str) -> bool:
    """Whether nobody listens there any more."""
    try:
        call(url, "x", "status", {})
    except OSError:
        return True
    return False


def test_a_token_opens_http_for_one_project_until_it_is_revoked(kx: Kx, tree: Path):
    """Issue 7: off without a token; scoped, gated, logged without a secret; closed with the stack."""
    assert kx("init", tree).code == 0
    assert kx("index", tree, "--wait", "text", "--no-stack").code == 0
    up = kx("up", "-d", "--http-port", "0")
    assert up.code == 0, up.err
    assert not address(kx)

    made = kx("token", "create", "--project", tree, "--scope", "search", "--json").json()
    token = made["token"]
    url = eventually(partial(address, kx), within_s=OPEN_S)
    named = {
        "expected_project_id": json.loads((tree / ".kx.json").read_text())["mcp"]["projectId"],
        "expected_project_root": str(tree),
    }
    status, found = call(url, token, "search", {"query": WORDS, "format": "text"} | named)
    assert status == 200
    assert "docs/resilience.md" in found
    assert "KX_PROJECT_ASSERTION_REQUIRED" in call(url, token, "search", {"query": WORDS})[1]
    assert "KX_TOOL_FORBIDDEN" in call(url, token, "ingest", {"path": "docs"} | named)[1]
    assert call(url, f"{token}0", "search", {"query": WORDS} | named)[0] == 401

    told = kx("status", "--in", tree, "--json", "--stack").out + kx("token", "list").out
    assert kx("token", "revoke", made["id"]).code == 0
    assert call(url, token, "search", {"query": WORDS} | named)[0] == 401
    assert kx("down").code == 0
    assert refused(url)
    assert not address(kx)

    files = [path for path in kx.home.rglob("*") if path.is_file() and path.suffix not in {".sqlite", ".sqlite-wal"}]
    logs = [path for path in files if "log" in path.name]
    assert logs
    for secret in (token, token.rpartition("_")[2], CANARY):
        assert secret not in told
        assert [path for path in files if secret.encode() in path.read_bytes()] == []
    for words in (WORDS, "five failures", "attempts: 3"):
        assert [path for path in logs if words.encode() in path.read_bytes()] == []
    passed("A17", logs=len(logs), tokens=0, canaries=0, texts=0)
