"""Activities and artifacts on a terminal."""

from __future__ import annotations

from msgspec.structs import replace

from kx.catalogue import Catalogue
from kx.notes import activities_text, artifact_text, board_text
from shared.megabrain_messages import Activities
from tests.support.samples import ACTIVITY, ARTIFACT

EN = Catalogue()


def test_board_shows_states_as_columns():
    """Issue 8: each activity below its state, long titles broken at words."""
    rows = [replace(ACTIVITY, id=1, state="pendente", title="um dois três quatro cinco"), ACTIVITY]
    lines = board_text(rows, EN, width=80).split("\n")
    assert lines[0].split() == ["em-andamento", "(0)", "bloqueado", "(1)", "pendente", "(1)", "concluida", "(0)"]
    assert lines[2].index("#3 Novo índice") == lines[0].index("bloqueado")
    assert lines[2].index("#1 um dois três") == lines[3].index("  quatro cinco") == lines[0].index("pendente")
    assert all(len(line) <= 80 for line in lines)


def test_narrow_board_stands_one_below_the_other():
    """A column too narrow to read is no column; a state of the note's own gets one too."""
    text = board_text([replace(ACTIVITY, state="em revisão")], EN, width=60)
    assert text.split("\n")[-2:] == ["em revisão (1)", "  #3 Novo índice"]


def test_hostile_text_is_made_visible():
    """Notes are written by others: nothing in them acts on the terminal."""
    hostile = replace(ACTIVITY, title="a\x1b[2Jb", stopped="\u202ec", state="\x07x")
    found = Activities(project="p", activities=(hostile,), total=1, counts={"bloqueado": 1})
    text = activities_text(found, EN) + board_text([hostile], EN) + artifact_text(replace(ARTIFACT, title="\x1b]0;x"))
    assert not any(char in text for char in "\x1b\x07\u202e")
    assert "a\\x1b[2Jb" in text


def test_state_is_told_in_the_language():
    """JSON keeps the word, the terminal translates it."""
    found = Activities(
        project="p", activities=(replace(ACTIVITY, state="concluida"),), total=1, counts={"concluida": 1}
    )
    assert "[concluída]" in activities_text(found, Catalogue("pt"))
