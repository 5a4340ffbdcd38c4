"""The main job as a new user does it: index a folder and search it, from one command."""

import json
import re

RESULT_KEYS = {
    "path",
    "kind",
    "start_line",
    "end_line",
    "score",
    "origin",
    "heading",
    "text",
    "keywords",
    "spans",
    "also",
}


def test_one_command_indexes_and_answers(kx, tree):
    """The first command of the README ends with ranked results, and says what they are."""
    ran = kx("search", "--index", "circuit-open", "--in", tree)
    assert ran.code == 0, ran.err
    first = ran.out.splitlines()[0]
    assert re.fullmatch(r"\[\d+\.\d{4}\] \S+:\d+-\d+ \[(code|docs)\|(both|lexical)\]", first), first
    assert "circuit-open" in ran.out
    assert "results" in ran.out.splitlines()[-1] or "pending" in ran.out.splitlines()[-1]


def test_json_is_what_programs_rely_on(kx, tree):
    """The documented keys are there, and the text is exactly the file's lines."""
    answer = kx("search", "--index", "retried with backoff", "--in", tree, "--json").json()
    assert answer["schema"] == 1
    assert {"query", "mode", "project", "results", "lanes", "pending", "took_ms"} <= set(answer)
    assert {name: lane["state"] for name, lane in answer["lanes"].items()} == {"vector": "ok", "lexical": "ok"}
    assert answer["pending"] == {"text": 0, "vectors": 0}
    for result in answer["results"]:
        assert set(result) >= RESULT_KEYS
        lines = (tree / result["path"]).read_text().split("\n")
        assert result["text"] == "\n".join(lines[result["start_line"] - 1 : result["end_line"]])


def test_by_meaning_in_other_words(kx, tree):
    """A question that shares no word with its answer is answered by the vectors."""
    answer = kx("search", "--index", "what happens after repeated errors", "--in", tree, "--json").json()
    assert any(result["origin"] in ("vector", "both") for result in answer["results"])


def test_a_kind_filter_leaves_only_that_kind(kx, tree):
    """`--type vault` shows notes only."""
    assert kx("index", tree).code == 0
    answer = kx("search", "disjuntor", "--in", tree, "--type", "vault", "--json").json()
    assert [result["path"] for result in answer["results"]] == [".vault/decisao.md"]


def test_status_adds_up_and_names_every_entry(kx, tree):
    """Walked = documents + skipped + failed; what is skipped has a reason; secrets are not in the index at all."""
    kx("index", tree)
    status = kx("status", "--in", tree, "--json", "--documents", "--skipped").json()
    assert status["schema"] == 1
    assert status["state"] == "ready"
    assert status["documents"] == len(status["documents_list"]) == 4
    assert status["vectors"]["missing"] == 0
    assert status["by_kind"] == {"docs": 1, "code": 1, "config": 1, "vault": 1}
    assert {row["path"]: row["reason"] for row in status["skipped_list"]} == {
        ".env": "denied",
        "logo.png": "excluded_file",
        "node_modules/": "excluded_dir",
    }
    database = b"".join(path.read_bytes() for path in (kx.home / "data").iterdir())
    assert b"canary-7f3a" not in database


def test_nothing_changed_embeds_nothing(kx, tree):
    """The second run looks at no file again and asks for no vector."""
    kx("index", tree)
    before = kx("status", "--in", tree, "--json", "--no-stack").json()
    ran = kx("index", tree)
    assert "(0 of 7 files looked at again)" in ran.err
    after = kx("status", "--in", tree, "--json", "--no-stack").json()
    assert after["vectors"] == before["vectors"] == {"ready": before["chunks"], "missing": 0}


def test_edits_renames_and_deletions_are_followed(kx, tree):
    """What was edited is found anew, what is gone is gone, a rename costs no embedding (MISSION 2.6, case 24)."""
    kx("index", tree)
    (tree / "docs/resilience.md").rename(tree / "docs/renamed.md")
    (tree / "src/breaker.py").unlink()
    (tree / "config/app.yaml").write_text("retry:\n  attempts: 4\n  uniquetoken777: 1\n")
    kx("index", tree, "--wait", "text")
    found = kx("search", "circuit-open", "--in", tree, "--json").json()
    assert [result["path"] for result in found["results"]][:1] == ["docs/renamed.md"]
    assert all(result["path"] not in ("src/breaker.py", "docs/resilience.md") for result in found["results"])
    assert found["pending"]["vectors"] == 1  # the edited configuration alone
    assert kx("search", "uniquetoken777", "--in", tree, "--json").json()["results"][0]["path"] == "config/app.yaml"


def test_a_full_rebuild_gives_the_same_answer(kx, tree):
    """`--full` builds a new epoch beside the old one and swaps."""
    kx("index", tree)
    before = kx("search", "retry backoff", "--in", tree, "--json").json()
    assert kx("index", "--full", tree).code == 0
    after = kx("search", "retry backoff", "--in", tree, "--json").json()
    assert json.dumps(after["results"]) == json.dumps(before["results"])
