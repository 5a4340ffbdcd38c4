"""Row A4 of RELIABILITY.md, for the channels beside reading a tree: asked for, uploaded, quoted, an old revision."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from services.mcp_gateway.adapters.ingest_path import admitted_path
from shared.errors import ErrorCode, KxError
from shared.knowledge_messages import DeleteBase
from shared.messages import SearchRequest
from shared.project_config import load_project_config
from shared.subjects import BASE_DELETE, SEARCH
from tests.soak.conftest import Report
from tests.support.knowledge_product import KnowledgeProduct, indexed, search
from tests.support.product import product
from tests.support.trees import write_tree

pytestmark = pytest.mark.anyio

CANARY = "canary-3b77e0"
SENSITIVE = (".env", ".env.local", "id_rsa", "id_ed25519", "server.key", "cert.pem", ".netrc", "credentials.json",
             ".npmrc", "kubeconfig", "terraform.tfstate", "vault.kdbx")  # fmt: skip


async def test_a4_sensitive_names_are_neither_asked_in_nor_quoted_in(tmp_path: Path, report: Report) -> None:
    """Row A4: `ingest` refuses the name; a note that embeds or links the file brings none of its text along."""
    files = {name: f"{CANARY} {number}\n" for number, name in enumerate(SENSITIVE)}
    notes = {
        f".vault/note{number}.md": f"# Keys {number}\n\n![[{name}]] and [[{name}]] and [it](../{name}) are elsewhere.\n"
        for number, name in enumerate(SENSITIVE)
    }
    root = write_tree(tmp_path / "tree", {**files, **notes, ".kx.json": "{}"})
    leaks: list[str] = []
    async with product(root, tmp_path) as served:
        await served.index()
        loaded = load_project_config(root, KnowledgeProduct(tmp_path / "other").settings)
        for name in SENSITIVE:
            with suppress(KxError):
                admitted_path(root, loaded, name)
                leaks.append(f"asked in: {name}")
        noted = await served.bus.request(
            SEARCH, SearchRequest(instance=served.project.instance, query="keys elsewhere", top=50), timeout_s=60
        )
        leaks += [hit.path for hit in noted.results if CANARY in hit.text]
        leaks += [path for path, *_, text in served.passages() if CANARY in text]
        found = {path for path, *_ in served.passages() if path.startswith(".vault/")}
    problems = [*leaks, *sorted(set(notes) - found)]
    report("A4", problems, names=len(SENSITIVE), channels=2, cases=len(SENSITIVE) * 2, leaked=len(leaks))


async def test_a4_sensitive_names_and_old_revisions_leak_from_no_knowledge_base(tmp_path: Path, report: Report) -> None:
    """Row A4: an upload is refused by its name; what only an old revision says is not found, and destroyed it is gone."""
    leaks: list[str] = []
    made = KnowledgeProduct(tmp_path)
    async with made.serving() as me:
        base = await me.base("Runbooks")
        for number, name in enumerate(SENSITIVE):
            try:
                await me.put(base.id, name, f"{CANARY} upload {number}".encode(), publish=True)
                leaks.append(f"uploaded: {name}")
            except KxError as error:
                leaks += [] if error.code is ErrorCode.PATH_DENIED else [f"{name}: {error.code}"]
            text = f"The harbour of team {number} opens at six."
            item = await me.item(base.id, f"Team {number}", f"{text}\n\n{CANARY} old {number}\n", publish=True)
            await me.edit(item.id, f"{text}\n")
        await indexed(me.bus, made.tree(base.space).instance)
        for mode in ("lexical", "hybrid"):
            reply = await search(me, CANARY, mode=mode, top=50)
            leaks += [f"{mode}: {hit.title}" for hit in reply.results if CANARY in hit.content]
        await me.ask(BASE_DELETE, DeleteBase(caller=me.caller, base=base.id, confirm="Runbooks"))
        await indexed(me.bus, made.tree(base.space).instance)
    residue = made.holding(CANARY)
    report("A4", [*leaks, *residue], names=len(SENSITIVE), channels=3, cases=len(SENSITIVE) * 3, leaked=len(leaks))
