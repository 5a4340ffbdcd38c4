"""What changes something says what became of it in a form that programs read."""

import json
import re

from tests.support.markdown import sections


def test_a_project_is_made_and_indexed_by_a_program(kx, tree):
    """TARGETS U: every command has --json; nothing else is on stdout, and no sentence beside it on stderr."""
    made = kx("init", tree, "--json").json()
    assert (made["file"], made["root"]) == (f"{tree}/.kx.json", str(tree))
    assert made["project_id"] == json.loads((tree / ".kx.json").read_text())["mcp"]["projectId"]
    ran = kx("index", tree, "--wait", "text", "--json")
    (row,) = ran.json()["projects"]
    documented = re.search(r"```json\n(.+?)```", sections("docs/commands.md")["kx index"], re.DOTALL)
    assert documented is not None
    assert set(row) == set(json.loads(documented[1])["projects"][0])
    assert (row["complete"], row["announced"], ran.err) == (True, row["walked"], "")
    forgotten = kx("project", "remove", tree, "--delete-index", "--json").json()["project"]
    assert (forgotten["instance"], forgotten["project_id"]) == (made["instance"], made["project_id"])
    assert kx("project", "add", tree, "--json").json()["project"]["root"] == str(tree)


def test_work_is_recorded_by_a_program(kx, tree):
    """An activity and an artifact are rows as the lists have them."""
    where = ("--in", tree, "--json")
    made = kx("activity", "add", "Retry of payments", *where).json()
    assert (made["activity"]["id"], made["changed"]) == (1, True)
    update = ("activity", "update", "1", "--progress", "it works", *where)
    assert [kx(*update).json()["changed"] for _ in range(2)] == [True, False]
    assert "it works" in kx("activity", "get", "1", *where).json()["text"]
    board = kx("activity", "board", *where).json()
    assert (board["total"], [row["title"] for row in board["activities"]]) == (1, ["Retry of payments"])
    page = kx("artifact", "add", "https://example.org/a", "--title", "A", *where).json()
    assert (page["artifact"]["version"], page["new"]) == (1, True)
    assert kx("artifact", "link", "https://example.org/a", "1", *where).json()["artifact"]["activity_id"] == 1


def test_what_is_taken_away_is_told_to_a_program(kx, tree):
    """An index is purged and made small, a token and a user of the bus are taken back, nothing is left to end."""
    assert kx("index", tree, "--wait", "text").code == 0
    purged = kx("purge", tree / "docs", "--yes", "--verify", "--json")
    told = purged.json()
    assert (told["path"], told["purged"], told["verified"]["pieces"] > 0, purged.err) == ("docs", 1, True, "")
    assert kx("purge", tree / "docs", "--yes", "--json").json()["verified"] is None
    sizes = kx("vacuum", "--in", tree, "--json").json()
    assert sizes["bytes_before"] > 0 < sizes["bytes_after"]
    token = kx("token", "create", "--project", tree, "--json").json()["id"]
    assert kx("token", "revoke", token, "--json").json()["state"] == "revoked"
    user = kx("bus", "credentials", "--json", cwd=tree).json()["user"]
    assert kx("bus", "revoke", user, "--json").json()["user"] == user
    assert kx("down", "--json").json() == {"schema": 1, "ended": False, "foreign": False}
