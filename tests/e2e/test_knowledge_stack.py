"""Knowledge and memory in a stack: separate processes, the real bus, the real model."""

from __future__ import annotations

import pytest

from tests.support.processes import eventually
from tests.support.residue import canary
from tests.support.stack import running_stack, wait_until_ready

RESTART = "# Restart\n\nDrain the queue before the broker is restarted, the word is {word}.\n"


def holding(home, token):
    files = (path for path in home.rglob("*") if path.is_file() and not path.is_symlink())
    return [str(path.relative_to(home)) for path in files if token[8:].encode() in path.read_bytes()]


@pytest.mark.connected
@pytest.mark.timeout(240)  # a whole stack, some fifteen runs of the command
def test_stack_finds_what_is_published_and_remembered_and_forgets_it_to_the_bytes(kx, tree, tmp_path):
    """Published is found, archived is gone, destroyed and forgotten leave no bytes; nobody else is let into the trees."""
    word, secret = canary(), canary()
    text = tmp_path / "restart.md"
    text.write_text(RESTART.format(word=word))
    assert kx("project", "add", tree).code == 0
    with running_stack(kx):
        wait_until_ready(kx, tree)
        assert kx("kb", "create", "runbooks", "--stack").code == 0
        added = kx("kb", "add", "runbooks", "--title", "Broker", text, "--publish", "--json", "--stack")
        assert added.code == 0, added.err
        item = added.json()["item"]

        def found(question):
            ran = kx("kb", "search", question, "--json", "--stack")
            return [hit["reference"] for hit in ran.json()["results"]]

        assert found("drain the queue") == [item["reference"]]
        by_meaning = "what has to happen until messages are processed and the server may go down"
        assert eventually(lambda: found(by_meaning) == [item["reference"]], within_s=60)
        listed = kx("project", "list", "--json").json()["projects"]
        assert [one["project"] for one in listed] == ["shop"]

        assert kx("kb", "archive", item["id"], "--stack").code == 0
        assert found("drain the queue") == []
        assert kx("kb", "restore", item["id"], "--stack").code == 0
        assert found("drain the queue") == [item["reference"]]

        kept = kx("memory", "remember", f"The deploy key is called {secret}", "--in", tree, "--json", "--stack")
        assert kept.code == 0, kept.err
        recall = ("recall-context", "--query", "how is the deploy key called", "--in", tree, "--json", "--stack")
        assert [hit["text"] for hit in kx(*recall).json()["memory"]] == [f"The deploy key is called {secret}"]
        assert kx("memory", "forget", kept.json()["record"]["id"], "--in", tree, "--stack").code == 0
        assert kx(*recall).json()["memory"] == []
        assert kx("kb", "delete", item["id"], "--confirm", item["id"], "--stack").code == 0
        assert eventually(lambda: holding(kx.home, word) + holding(kx.home, secret) == [], within_s=30)
    assert holding(kx.home, word) + holding(kx.home, secret) == []
