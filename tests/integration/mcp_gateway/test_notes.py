"""Activities and artifacts through a real MCP client, with the real megabrain behind the gateway."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from services.megabrain.service import service as megabrain
from shared.bus_memory import MemoryBus
from tests.support.gateway_bench import running_gateway
from tests.support.mcp_client import agent, text_of

pytestmark = pytest.mark.anyio

URL = "https://example.org/panel"
MAX_CLIENT_CHARS = 25_000 * 3


@asynccontextmanager
async def working(settings, root: Path, session_id: str | None = None):
    """An agent on a project that megabrain keeps."""
    async with (
        MemoryBus() as bus,
        megabrain(bus, settings),
        running_gateway(bus, settings) as stack,
        agent(stack, root, session_id=session_id) as client,
    ):
        yield client


async def ok(client, tool: str, arguments: dict[str, object]) -> dict:
    """Call a tool that must succeed; its structured content."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return result.structured_content


async def test_a_day_of_an_agent_s_work(settings, open_project):
    """Issue 8: add, progress, block, complete, artifacts, in the argument names of both languages."""
    async with working(settings, open_project) as client:
        made = await ok(client, "megabrain_add", {"titulo": "Novo índice", "descricao": "por quê", "sessao": "s-1"})
        assert (made["activity"]["id"], made["activity"]["slug"]) == (1, "novo-indice")
        await ok(client, "megabrain_update", {"slug": "1", "tipo": "avanco", "texto": "metade"})
        blocked = await ok(client, "megabrain_update", {"ref": "#1", "kind": "block", "text": "sem acesso"})
        assert blocked["activity"]["status"] == "bloqueado"
        first = await ok(client, "megabrain_artifact_add", {"url": URL, "titulo": "Painel", "sessao": "s-1"})
        assert (first["new"], first["artifact"]["activity_id"]) == (True, 1)
        done = await ok(client, "megabrain_update", {"slug": "novo-indice", "tipo": "conclusao", "texto": "entregue"})
        assert done["activity"]["stopped"] == "Concluída: entregue"
        status = await ok(client, "megabrain_status", {})
        assert status["counts"]["concluida"] == 1
        note = await ok(client, "megabrain_get", {"slug": "#1"})
        assert note["text"] == (open_project / ".vault/megabrain/novo-indice.md").read_text()
        await ok(client, "megabrain_add", {"title": "Outra"})
        await ok(client, "megabrain_artifact_link", {"url": URL, "atividade": "outra"})
        assert (await ok(client, "megabrain_artifacts", {"activity": "1"}))["total"] == 0
        refused = await client.call_tool("megabrain_update", {"ref": "1", "kind": "progress", "text": "mais"})
        assert refused.is_error
        assert text_of(refused).startswith("KX_ACTIVITY_CLOSED")


async def test_text_of_notes_is_made_visible_and_comes_once(settings, open_project):
    """As with passages: in the structured content, or between lines of a random boundary."""
    async with working(settings, open_project) as client:
        await ok(client, "megabrain_add", {"title": "Nota", "description": "canary-77"})
        path = open_project / ".vault/megabrain/nota.md"
        path.write_text(path.read_text().replace("canary-77", "canary-77 \x1b[2J\u202e"))
        given = await client.call_tool("megabrain_get", {"ref": "1"})
        assert "canary-77 \\x1b[2J\\u202e" in given.structured_content["text"]
        assert "canary-77" not in text_of(given)
        plain = await client.call_tool("megabrain_get", {"ref": "1", "format": "text"})
        assert "text" not in plain.structured_content
        boundary = next(line for line in text_of(plain).split("\n") if line.startswith("=== "))
        assert "canary-77 \\x1b" in text_of(plain).split(boundary)[2]
        for tool, word in (("megabrain_status", "criada"), ("megabrain_artifacts", "No artifacts")):
            assert word in text_of(await client.call_tool(tool, {"format": "text"}))


async def test_long_note_stays_within_what_a_client_accepts(settings, open_project):
    """Case 39: a note of 300 kB comes in parts, each with the way to the next."""
    async with working(settings, open_project) as client:
        await ok(client, "megabrain_add", {"title": "Longa"})
        path = open_project / ".vault/megabrain/longa.md"
        path.write_text(path.read_text() + "".join(f"linha {at} de um texto longo\n" for at in range(10_000)))
        parts, offset = [], 0
        while offset is not None:
            part = await ok(client, "megabrain_get", {"ref": "1", "offset": offset})
            assert len(json.dumps(part, ensure_ascii=False)) < MAX_CLIENT_CHARS
            assert part.get("truncated", False) is ("next_offset" in part)
            parts.append(part["text"])
            offset = part.get("next_offset")
        assert "".join(parts) == path.read_text()


async def test_session_of_the_client_is_recorded(settings, open_project):
    """Issue 8: known by KX_SESSION_ID, which the pump hands over; an argument goes before it."""
    async with working(settings, open_project, "from-client") as client:
        await ok(client, "megabrain_add", {"title": "Nota"})
        await ok(client, "megabrain_update", {"ref": "1", "kind": "progress", "text": "x", "session": "given"})
    text = (open_project / ".vault/megabrain/nota.md").read_text()
    assert 'sessoes_claude: ["from-client", "given"]' in text
