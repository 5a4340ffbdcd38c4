"""Documents of real programs in a knowledge base, on the whole product: found and cited by an agent and over REST."""

from __future__ import annotations

import http.client
import json
import os
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from tests.support.command import Kx
from tests.support.document_samples import REAL
from tests.support.gateway_bench import make_project
from tests.support.processes import eventually, processes_of

pytestmark = [pytest.mark.connected, pytest.mark.timeout(300), pytest.mark.anyio]

ASKED = {  # a question, and the document that answers it
    "who hands over the rota on Monday": {"handbook.docx", "handbook.pdf"},
    "how long are backups kept": {"runbook.pdf"},
    "what does the object storage cost": {"costs.xlsx"},
    "what was learnt about exact words for error codes": {"roadmap.pptx"},
}


@pytest.fixture
def stack(kx: Kx, tmp_path: Path) -> Iterator[Path]:
    """A stack with a project, and nothing left of it."""
    root = make_project(tmp_path / "shop", project_id=None)
    assert kx("project", "add", root).code == 0
    up = kx("up", "-d", "--http-port", "0")
    assert up.code == 0, up.err
    yield root
    kx("down")
    for pid in processes_of(kx.home):
        os.kill(pid, signal.SIGKILL)


def address(kx: Kx) -> str:
    path = kx.home / "run" / "http.json"
    return json.loads(path.read_text())["url"] if path.exists() else ""


class Rest:
    """A program with a token."""

    def __init__(self, url: str, token: str) -> None:
        self._host = urlsplit(url).netloc
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def __call__(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Make one request; give status and JSON."""
        connection = http.client.HTTPConnection(self._host, timeout=30)
        connection.request(method, f"/api/v1/knowledge{path}", json.dumps(body) if body else None, self._headers)
        answered = connection.getresponse()
        try:
            return answered.status, json.loads(answered.read())
        finally:
            connection.close()


async def test_real_documents_are_found_cited_and_kept_by_their_citation(kx: Kx, stack: Path, tmp_path: Path):
    """Imported and published; found by meaning through MCP and REST; what was cited stays after an edit, goes with the base."""
    assert kx("kb", "create", "runbooks", cwd=stack).code == 0
    imported = kx("kb", "import", "runbooks", REAL, "--publish", "--json", cwd=stack)
    assert imported.code == 0, imported.err
    token = kx("token", "create", "--scope", "knowledge:read", "--principal", "local", "--json", cwd=tmp_path).json()
    assert token["instances"] == []  # made beside every project
    rest = Rest(eventually(partial(address, kx), within_s=30), token["token"])
    items = {Path(item["locator"]).name: item for item in rest("GET", "/items")[1]["items"]}
    assert {name for names in ASKED.values() for name in names} <= set(items)

    def found(query: str) -> set[str]:
        hits = rest("POST", "/search", {"query": query, "top": 1})[1]["results"]
        return {name for name, item in items.items() for hit in hits if hit["knowledge_item_id"] == item["id"]}

    for query, names in ASKED.items():
        assert eventually(lambda query=query, names=names: found(query) & names, within_s=60), (query, found(query))
    environ = {name: value for name, value in os.environ.items() if not name.startswith("KX_")}
    environ |= {"KX_HOME": str(kx.home), "HOME": str(kx.home.parent)}
    server = StdioServerParameters(command=sys.executable, args=["-I", "-m", "kx", "mcp"], env=environ, cwd=stack)
    async with Client(stdio_client(server)) as client:
        answered = await client.call_tool("search_knowledge", {"query": "how long are backups kept", "top": 1})
        hit = answered.structured_content["results"][0]
        assert (hit["knowledge_item_id"], "thirty-five days" in hit["content"]) == (items["runbook.pdf"]["id"], True)
        reference = hit["reference"]
        whole = (await client.call_tool("search_knowledge", {"reference": reference})).structured_content["results"][0]

    new = tmp_path / "new.md"
    new.write_text("# Backups\n\nThey are kept for ninety days.\n")
    assert kx("kb", "edit", hit["knowledge_item_id"], new, cwd=stack).code == 0
    pinned = f"/items/{hit['knowledge_item_id']}?revision={hit['knowledge_revision_id']}"
    status, read = rest("GET", pinned)
    assert (status, read["content"], read["reference"]) == (200, whole["content"], reference)
    assert "ninety" in rest("GET", f"/items/{hit['knowledge_item_id']}")[1]["content"]
    assert kx("kb", "delete", "runbooks", "--confirm", "runbooks", cwd=stack).code == 0
    assert rest("GET", pinned)[0] == 404
    assert found("how long are backups kept") == set()
