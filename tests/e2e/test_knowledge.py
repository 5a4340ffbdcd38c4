"""Knowledge bases by the real command, in a home of their own, without a stack."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FIRST = "# Restart the gateway\n\nStop it, wait ten canary-71c9 seconds, start it.\n"
SECOND = "# Restart the gateway\n\nStop it, wait twenty seconds, start it.\r\n"


def files_with(home: Path, text: str) -> list[Path]:
    found = (path for path in home.rglob("*") if path.is_file() and not path.is_symlink())
    return [path for path in found if text.encode() in path.read_bytes()]


@pytest.mark.timeout(300)  # some twenty runs of the command, each with its services
def test_life_of_a_text_from_writing_to_the_last_byte(kx, tmp_path: Path):
    """Written, published, found, cited, edited, archived, exported, brought back, destroyed: each step as promised."""
    text = tmp_path / "restart.md"
    text.write_text(FIRST)
    assert kx("kb", "create", "runbooks", "--json").json()["base"]["status"] == "active"
    item = kx("kb", "add", "runbooks", "--title", "Restart the gateway", text, "--json").json()["item"]
    assert (item["status"], item["reference"]) == ("draft", "")
    assert kx("kb", "search", "restart the gateway", "--json").json()["results"] == []

    assert kx("kb", "publish", "Restart the gateway").code == 0
    hit = kx("kb", "search", "how do I start it again", "--json").json()["results"][0]
    cited = hit["reference"]
    assert hit["content"] in FIRST
    assert kx("kb", "read", cited, "--raw").out == FIRST

    (tmp_path / "new.md").write_bytes(SECOND.encode())
    assert kx("kb", "edit", item["id"], tmp_path / "new.md", "--json").json()["item"]["number"] == 2
    assert (kx("kb", "read", cited, "--raw").out, kx("kb", "read", item["id"], "--raw").out) == (FIRST, SECOND)
    assert "+Stop it, wait twenty seconds" in kx("kb", "diff", item["id"]).out
    changed = kx("kb", "diff", item["id"], "--json").json()
    assert (changed["old"]["number"], changed["new"]["number"]) == (1, 2)
    assert "+Stop it, wait twenty seconds" in changed["diff"]

    assert kx("kb", "archive", "runbooks").code == 0
    gone = kx("kb", "read", cited)
    assert (gone.code, gone.err.startswith("KX_KNOWLEDGE_UNKNOWN: ")) == (2, True)
    assert kx("kb", "search", "gateway", "--json").json()["results"] == []
    assert kx("kb", "restore", "runbooks").code == 0

    assert kx("kb", "export", "runbooks", tmp_path / "out", "--revisions").code == 0
    kx("kb", "create", "copy")
    done = kx("kb", "import", "copy", tmp_path / "out", "--json").json()
    copy = done["files"][0]["item"]
    assert (done["counts"]["created"], copy["status"], copy["number"]) == (1, "published", 2)
    assert kx("kb", "read", copy["reference"], "--raw").out == SECOND

    refused = kx("kb", "delete", "copy")
    assert (refused.code, "--confirm" in refused.err) == (2, True)
    for name in ("copy", "runbooks"):
        erased = kx("kb", "delete", name, "--confirm", name, "--json").json()
        assert erased == {"schema": 1, "items": 1, "revisions": 2, "residue": 0}
    assert files_with(kx.home, "canary-71c9") == []
    actions = [row["action"] for row in kx("kb", "audit", "--json").json()["rows"]]
    assert actions[:4] == ["space.created", "base.created", "item.created", "item.revised"]
    assert actions[-1] == "base.deleted"


@pytest.mark.timeout(300)
def test_what_a_project_learnt_is_recalled_with_knowledge_and_forgotten_to_the_bytes(kx, tree: Path, tmp_path: Path):
    """Remembered once, recalled beside what is tied to the project, made durable, exported with its source, destroyed."""
    kx("kb", "create", "runbooks")
    kx("kb", "add", "runbooks", "--title", "Deploy", "--content", "# Deploy\n\nThe canary goes first.\n", "--publish")
    words = ("memory", "remember", "Deploys wait for canary-88d1", "--source", "docs/deploy.md", "--in", tree, "--json")
    record = kx(*words, "--working", "--expires", "7d").json()["record"]
    assert (record["kind"], record["source"], record["client"]) == ("working", "docs/deploy.md", "kx")
    assert kx(*words, "--working").json()["is_new"] is False

    asked = ("recall-context", "--query", "how do we deploy", "--in", tree, "--json")
    alone = kx(*asked, "--include_knowledge", "true").json()
    assert ([hit["id"] for hit in alone["memory"]], alone["knowledge"]) == ([record["id"]], [])
    assert kx("kb", "link", "runbooks", "--in", tree).code == 0
    assert [hit["title"] for hit in kx(*asked, "--include-knowledge").json()["knowledge"]] == ["Deploy"]
    assert kx(*asked).json()["knowledge"] == []

    assert kx("memory", "promote", record["id"], "--in", tree, "--json").json()["record"]["expires"] is None
    assert kx("memory", "export", tmp_path / "memory.jsonl", "--in", tree, "--json").json()["records"] > 0
    lines = (tmp_path / "memory.jsonl").read_text().splitlines()
    assert [(row["id"], row["kind"], row["source"]) for row in map(json.loads, lines)] == [
        (record["id"], "knowledge", "docs/deploy.md")
    ]
    assert kx("memory", "forget", "--all", "--in", tree).code == 2
    assert kx("memory", "forget", "--all", "--yes", "--in", tree, "--json").json() == {"schema": 1, "forgotten": 1}
    assert files_with(kx.home, "canary-88d1") == []
    assert kx("kb", "items", "runbooks", "--json").json()["total"] == 1
