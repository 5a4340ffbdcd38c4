"""Words follow the language; codes and JSON do not."""

from pathlib import Path

import pytest


@pytest.fixture
def indexed(kx, tree) -> Path:
    assert kx("index", tree, "--wait", "text", "--no-stack").code == 0
    return tree


def timeless(answer: dict) -> dict:
    lanes = {name: {**lane, "took_ms": 0} for name, lane in answer["lanes"].items()}
    return {**answer, "took_ms": 0, "lanes": lanes}


def test_json_is_the_same_in_every_language(kx, indexed):
    """A program that reads `kx search --json` needs not know how its user is spoken to."""
    answers = [
        kx("search", "circuit-open", "--in", indexed, "--json", "--no-stack", lang=lang) for lang in ("en", "pt")
    ]
    assert [answer.code for answer in answers] == [0, 0]
    english, portuguese = (timeless(answer.json()) for answer in answers)
    assert english["results"]
    assert english == portuguese


def test_terminal_speaks_portuguese(kx, indexed):
    """The origin of a hit and the total, as in `[docs|lexical]` and `resultado(s) encontrado(s)`."""
    ran = kx("search", "circuit-open", "--in", indexed, "--mode", "lexical", "--no-stack", lang="pt")
    assert ran.code == 0
    assert "|lexical]" in ran.out
    assert "resultado(s) encontrado(s)" in ran.out
    assert "\x1b" not in ran.out
