"""Knowledge bases over REST: a real knowledge service behind the real door."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from msgspec import Struct
from msgspec.structs import replace

from services.knowledge.service import service as knowledge
from services.mcp_gateway.adapters.http_door import HttpDoor
from services.mcp_gateway.core.api_door import MAX_FILE_BYTES
from services.mcp_gateway.core.rest import OPERATIONS
from services.mcp_gateway.rest import HANDLERS
from shared import document_kinds
from shared.access import Profile, Scope
from shared.bus_memory import MemoryBus
from shared.settings import Settings
from tests.support.document_samples import make_pdf
from tests.support.gateway_bench import make_project
from tests.support.http_bench import HOST, Answered, ask, http_door, make_token

pytestmark = pytest.mark.anyio

ROOT = "/api/v1/knowledge"
BINARY = "application/octet-stream"


class Client(Struct, frozen=True):
    """Asks in the name of one token."""

    door: HttpDoor
    token: str

    async def __call__(self, method: str, path: str, body: Any = None, *, kind: str = "", **query: Any) -> Answered:
        """Make one request below `/api/v1/knowledge`; the body is JSON unless it is bytes."""
        raw = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
        kind = kind or (BINARY if isinstance(body, bytes) else "application/json")
        headers = [("Host", HOST), ("Content-Type", kind)]
        headers += [("Authorization", f"Bearer {self.token}")] if self.token else []
        at, _, asked = (path if path.startswith("/api") else ROOT + path).partition("?")
        return await ask(self.door, headers, raw, method=method, path=at, query=asked or urlencode(query))

    async def done(self, method: str, path: str, body: Any = None, *, status: int = 200, **query: Any) -> Any:
        """Make one that succeeds; give its JSON."""
        answered = await self(method, path, body, **query)
        assert answered.status == status, answered
        return answered.json()


class Behind(Struct, frozen=True):
    """What the tests ask."""

    door: HttpDoor
    settings: Settings
    project: Path

    def client(self, *scopes: Scope, profile: Profile = "ordinary-full", principal: str = "") -> Client:
        """Give a client with a token of these scopes."""
        token = make_token(self.settings, self.project, scopes=scopes, profile=profile, principal=principal)
        return Client(self.door, token)


@asynccontextmanager
async def behind(settings: Settings, tmp_path: Path) -> AsyncIterator[Behind]:
    async with MemoryBus() as bus, knowledge(bus, settings), http_door(bus, settings) as door:
        yield Behind(door, settings, make_project(tmp_path / "shop"))


async def a_published_item(client: Client, text: str = "Two peers approve.\n") -> dict[str, Any]:
    base = (await client.done("POST", "/bases", {"name": "Runbooks"}, status=201))["base"]["id"]
    body = {"base": base, "title": "Deploy", "content": text, "publish": True}
    return (await client.done("POST", "/items", body, status=201))["item"]


def test_every_operation_has_its_handler_and_no_handler_is_without_a_row():
    """Adding an operation is adding a row and a handler of that name."""
    assert list(HANDLERS) == [operation.name for operation in OPERATIONS]


async def test_a_cited_revision_stays_what_it_was_after_an_edit(settings, tmp_path):
    """MISSION 7.2: a citation names exactly these bytes for good; the current revision moves on."""
    async with behind(settings, tmp_path) as here:
        client = here.client("knowledge:read", "knowledge:write", principal="ana")
        first = "Não apague nada.\r\nTwo peers approve.\n"
        item = await a_published_item(client, first)
        cited = await client.done("GET", f"/items/{item['id']}")
        assert cited["reference"] == item["reference"] == f"knowledge:{item['id']}@{item['current_revision_id']}"
        await client.done("PATCH", f"/items/{item['id']}", {"content": "Three peers approve.\n" * 20_000})
        pinned = await client.done("GET", f"/items/{item['id']}", revision=item["current_revision_id"])
        assert pinned["content"] == cited["content"] == first
        assert (await client.done("GET", f"/items/{item['id']}"))["content"] == "Three peers approve.\n" * 20_000
        revisions = (await client.done("GET", f"/items/{item['id']}/revisions"))["revisions"]
        assert [row["number"] for row in revisions] == [2, 1]


async def test_an_edit_made_from_an_old_revision_is_refused(settings, tmp_path):
    """Two editors: the second is told, nothing is lost."""
    async with behind(settings, tmp_path) as here:
        client = here.client("admin", principal="ana")
        item = await a_published_item(client)
        edit = {"content": "new", "if_revision": item["current_revision_id"]}
        await client.done("PATCH", f"/items/{item['id']}", edit)
        late = await client("PATCH", f"/items/{item['id']}", {**edit, "content": "other"})
        assert (late.status, late.json()["error"]["code"]) == (409, "KX_KNOWLEDGE_CONFLICT")


async def test_an_archived_item_is_not_found_until_it_is_restored(settings, tmp_path):
    """MISSION 7.2: archive hides at once and is reversible."""
    async with behind(settings, tmp_path) as here:
        client, reader = here.client("admin", principal="ana"), here.client("knowledge:read", principal="ana")
        item = await a_published_item(client)
        await client.done("POST", f"/items/{item['id']}:archive")
        for query in ({}, {"revision": item["current_revision_id"]}):
            assert (await reader("GET", f"/items/{item['id']}", **query)).status == 404
        assert (await client.done("POST", f"/items/{item['id']}:restore"))["item"]["status"] == "published"
        assert (await reader("GET", f"/items/{item['id']}")).status == 200


async def test_a_file_becomes_an_item_and_the_same_file_nothing(settings, tmp_path):
    """MISSION 7.7: by its bytes or as a form; unchanged makes no revision, a changed one the next."""
    form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="deploy.md"\r\n\r\n# Deploy\n\nSlowly.\n\r\n--x--\r\n'
    async with behind(settings, tmp_path) as here:
        client = here.client("admin", principal="ana")
        await client.done("POST", "/bases", {"name": "Runbooks"}, status=201)
        asked = {"base": "Runbooks", "file_name": "deploy.md"}
        first = await client.done("POST", "/items:import", b"# Deploy\n\nTwo peers.\n", **asked)
        again = await client.done("POST", "/items:import", b"# Deploy\n\nTwo peers.\n", **asked)
        assert (first["changed"], again["changed"]) == (True, False)
        assert first["item"]["title"] == "Deploy"  # what its heading says
        kind = "multipart/form-data; boundary=x"
        third = (await client("POST", "/items:import", form, kind=kind, base="Runbooks")).json()
        assert (third["item"]["id"], third["item"]["number"]) == (first["item"]["id"], 2)
        denied = await client("POST", "/items:import", b"SECRET=1", base="Runbooks", file_name=".env")
        assert (denied.status, denied.json()["error"]["code"]) == (422, "KX_PATH_DENIED")


REFUSED: Sequence[tuple[str, str, Any, int]] = (
    ("POST", "/search", {"query": ""}, 422),
    ("POST", "/search", {"query": "q", "top": 101}, 422),
    ("POST", "/search", {"query": "q", "tpo": 1}, 422),
    ("POST", "/search", b"{", 415),
    ("POST", "/search", "no object", 422),
    ("GET", "/search", None, 405),
    ("DELETE", "/items/itm_1", None, 405),
    ("GET", "/nothing", None, 404),
    ("GET", "/items?status=null", None, 422),
    ("GET", "/items?offset=0&offset=1", None, 400),
    ("GET", "/items/itm_1", None, 404),
    ("GET", "/items/..%2f..%2fetc", None, 404),
    ("POST", "/items/itm_1:destroy", None, 404),
    ("PATCH", "/items/itm_1", {"title": ""}, 422),
    ("POST", "/items:import", b"x", 422),
    ("POST", "/items", {"base": "none", "title": "t", "content": "c"}, 404),
)


@pytest.mark.parametrize(("method", "path", "body", "status"), REFUSED, ids=[f"{r[0]} {r[1]} {r[3]}" for r in REFUSED])
async def test_what_cannot_be_done_says_so_in_one_form(settings, tmp_path, method, path, body, status):
    """Every refusal is `error` with code and message, under its status."""
    async with behind(settings, tmp_path) as here:
        answered = await here.client("admin")(method, path, body)
        assert answered.status == status, answered
        assert {"code", "message"} <= set(answered.json()["error"])


_PART = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\n# A\r\n--x--\r\n'
BROKEN_FORMS: Sequence[tuple[str, bytes]] = (
    ("multipart/form-data", _PART),
    ("multipart/form-data; boundary=", _PART),
    ("multipart/form-data; boundary=" + "x" * 300, _PART),
    ("multipart/form-data; boundary=x; charset=base64", _PART),
    ("multipart/form-data; boundary=x", b""),
    ("multipart/form-data; boundary=x", _PART[:60]),
    ("multipart/form-data; boundary=x", _PART.replace(b'name="file"; ', b"")),
    ("multipart/form-data; boundary=x", _PART.replace(b"; filename", b"; other")),
    ("multipart/form-data; boundary=x", _PART.replace(b"Disposition:", b"Disposition")),
    ("multipart/form-data; boundary=x", _PART.replace(b"--x--", b"--x") + _PART),
)


@pytest.mark.parametrize(("kind", "form"), BROKEN_FORMS, ids=[str(number) for number in range(len(BROKEN_FORMS))])
async def test_a_form_that_cannot_be_read_is_the_programs_mistake(settings, tmp_path, kind, form):
    """Whatever is wrong with a form, the answer is a refusal and no error of ours."""
    async with behind(settings, tmp_path) as here:
        answered = await here.client("admin")("POST", "/items:import", form, kind=kind, base="none")
        assert answered.status in {400, 404, 422}, answered


async def test_a_whole_number_may_be_written_with_a_point(settings, tmp_path):
    """To JSON 10.0 is the number 10, and some programs write it so."""
    async with behind(settings, tmp_path) as here:
        client = here.client("admin")
        whole = await client("POST", "/search", {"query": "q", "top": 10.0, "base": "none"})
        assert (whole.status, whole.json()["error"]["code"]) == (404, "KX_KNOWLEDGE_UNKNOWN")
        assert (await client("POST", "/search", {"query": "q", "top": 10.5})).status == 422


async def test_without_the_parsers_of_documents_an_import_says_what_is_missing(settings, tmp_path, monkeypatch):
    """The machine lacks something; the request is right and the answer no error of ours."""
    monkeypatch.setattr(document_kinds, "_is_there", lambda _: False)
    async with behind(settings, tmp_path) as here:
        client = here.client("admin")
        await client.done("POST", "/bases", {"name": "Runbooks"}, status=201)
        answered = await client("POST", "/items:import", make_pdf("a"), base="Runbooks", file_name="plan.pdf")
        assert (answered.status, answered.json()["error"]["code"]) == (503, "KX_EXTRACTION_MISSING")


async def test_a_body_that_is_no_json_or_too_long_is_refused(settings, tmp_path):
    """400 and 413; what a length claims is enough."""
    async with behind(settings, tmp_path) as here:
        client = here.client("admin")
        broken = await client("POST", "/search", b"{", kind="application/json")
        assert (broken.status, broken.json()["error"]["code"]) == (400, "malformed")
        headers = [("Host", HOST), ("Authorization", f"Bearer {client.token}"), ("Content-Type", BINARY)]
        long = [*headers, ("Content-Length", "60000000")]
        answered = await ask(here.door, long, b"", path=f"{ROOT}/items:import", query="base=b&file_name=a.pdf")
        assert (answered.status, answered.json()["error"]["code"]) == (413, "too_large")
        limits = await client.done("GET", "/limits")
        assert limits["max_document_bytes"] < MAX_FILE_BYTES < limits["max_document_bytes"] + 2**20


@pytest.mark.parametrize(
    ("scopes", "profile"),
    [(("search",), "ordinary-full"), (("knowledge:read",), "chatgpt-public"), (("admin",), "generic-public")],
)
async def test_without_scope_or_with_a_public_profile_nothing_is_reached(settings, tmp_path, scopes, profile):
    """MISSION 5.2: 403 before anything is looked up; without a token 401, from a page 403."""
    async with behind(settings, tmp_path) as here:
        client = here.client(*scopes, profile=profile)
        for operation in OPERATIONS:
            path = operation.path.removeprefix("/knowledge").replace("{item}", "itm_1")
            assert (await client(operation.method, path, {"query": "q"}, kind="application/json")).status in {403, 415}
        assert (await client("POST", "/search", {"query": "q"})).json()["error"]["code"] == "KX_TOOL_FORBIDDEN"
        nobody = await Client(here.door, "")("POST", "/search", {"query": "q"})
        assert (nobody.status, nobody.json()["error"]["code"]) == (401, "unauthorized")


async def test_what_a_token_does_not_allow_is_not_waited_for(settings, tmp_path):
    """A file beyond the limit is refused by its size only to who may send one; nobody else's is read."""
    async with behind(settings, tmp_path) as here:
        large = b"x" * (MAX_FILE_BYTES + 1)
        for scope, status in (("knowledge:read", 403), ("knowledge:write", 413)):
            answered = await here.client(scope)("POST", "/items:import", large, base="b", file_name="a.txt")
            assert answered.status == status


async def test_who_may_only_read_writes_nothing(settings, tmp_path):
    """MISSION 7.4: knowledge:read is the agent's column of the table."""
    async with behind(settings, tmp_path) as here:
        item = await a_published_item(here.client("admin", principal="ana"))
        reader = here.client("knowledge:read", principal="ana")
        for operation in OPERATIONS:
            if operation.scope == "knowledge:write":
                path = operation.path.removeprefix("/knowledge").replace("{item}", item["id"])
                body = b"x" if operation.body_kind == "file" else {"query": "q"}
                assert (await reader(operation.method, path, body)).status == 403, operation.name
        assert (await reader("GET", f"/items/{item['id']}")).status == 200


async def test_switched_off_it_says_the_code_programs_know(settings, tmp_path):
    """MISSION 7.6: 503 with knowledge_runtime_disabled."""
    async with behind(replace(settings, knowledge=False), tmp_path) as here:
        answered = await here.client("admin")("POST", "/search", {"query": "q"})
        assert (answered.status, answered.json()["error"]["code"]) == (503, "knowledge_runtime_disabled")
        assert str(settings.home).strip("/") not in answered.body.decode()  # where things are is no program's business


async def test_the_openapi_document_names_what_is_served(settings, tmp_path):
    """Generated from the rows that serve it; every reference resolves."""
    async with behind(settings, tmp_path) as here:
        told = await here.client("knowledge:read").done("GET", "/api/v1/openapi.json")
        served = {(path, method.upper()) for path, methods in told["paths"].items() for method in methods}
        assert served == {(f"/api/v1{operation.path}", operation.method) for operation in OPERATIONS}
        referred = {part.split('"')[0] for part in msgspec.json.encode(told).decode().split('"#/')[1:]}
        for reference in referred:
            found: Any = told
            for part in reference.split("/"):
                found = found[part]
