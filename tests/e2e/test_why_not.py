"""Why a file is an answer or not, asked of the real command."""

import json

import pytest

from tests.support.stack import running_stack, wait_until_ready

ASKED = (
    ("docs/resilience.md", 0, "shown"),
    ("src/breaker.py:4", 0, "shown"),
    (".env", 1, "skipped"),
    ("node_modules/left-pad/index.js", 1, "skipped"),
    ("docs/never.md", 1, "not_on_disk"),
)


@pytest.mark.connected
def test_why_not_answers_alike_embedded_and_in_a_stack(kx, tree):
    """Exit codes mean something, the JSON is one, and the text names the reason in the language of the run."""
    assert kx("project", "add", tree).code == 0
    with running_stack(kx):
        wait_until_ready(kx, tree)
        assert kx("index", tree, "--stack").code == 0
        for path, code, outcome in ASKED:
            answers = [
                kx("why-not", "circuit-open", path, "--in", tree, "--json", where)
                for where in ("--stack", "--no-stack")
            ]
            assert [ran.code for ran in answers] == [code, code], answers
            one, other = [ran.json() for ran in answers]
            assert one["outcome"] == outcome
            for answer in (one, other):
                answer["took_ms"], answer["notes"] = 0, []  # a busy watcher may not say in time what changed
                for lane in answer["lanes"].values():
                    lane["took_ms"] = 0
            assert json.dumps(one) == json.dumps(other)
        denied = kx("why-not", "circuit-open", ".env", "--in", tree, "--stack", lang="pt")
    assert denied.out.splitlines() == [".env não é mostrado", "não é indexado: denied (*.env (built in))"]


def test_a_place_is_read_as_answers_print_it(kx, tree):
    """With its lines, from the root or from where one stands; a file whose name ends like a line is that file."""
    (tree / "odd:7").write_text("the circuit-open of an odd name\n")
    (tree / "two\nlines.md").write_text("the circuit-open of a name on two lines\n")
    assert kx("index", tree, "--wait", "text").code == 0

    def asked(place, cwd):
        return kx("why-not", "circuit-open", place, "--json", "--mode", "lexical", cwd=cwd).json()

    for place, cwd in (("src/breaker.py:4-4", tree), ("breaker.py:4", tree / "src"), (tree / "src/breaker.py:4", tree)):
        found = asked(place, cwd)
        assert (found["path"], found["line"], found["outcome"]) == ("src/breaker.py", 4, "shown"), place
    odd = asked("odd:7", tree)
    assert (odd["path"], odd["line"], odd["outcome"]) == ("odd:7", None, "shown")
    escaped = asked("two\\x0alines.md", tree)
    assert (escaped["path"], escaped["outcome"]) == ("two\\x0alines.md", "shown")
    outside = kx("why-not", "circuit-open", "../other.md", cwd=tree)
    assert outside.code == 1
    assert "KX_PATH_OUTSIDE_ROOT" in outside.err
    folder = kx("why-not", "circuit-open", "docs", cwd=tree)
    assert folder.code == 2
