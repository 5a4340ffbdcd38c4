"""Front matter: read leniently, changed one value at a time."""

from __future__ import annotations

import pytest

from services.megabrain.core.frontmatter import front_matter, with_item, with_value
from services.megabrain.core.note import Note
from shared.errors import ErrorCode, KxError
from tests.support.notes import BY_HAND, ORIGINAL


def note_of(*lines: str) -> Note:
    return Note.parse(("\n".join(["---", *lines, "---", "", "corpo"])).encode())


def front_of(note: Note) -> list[str]:
    found = front_matter(note)
    assert found is not None
    return [note.bare(at) for at in range(1, found.end)]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("k: a b", "a b"), ("k: a # c", "a"), ('k: "a # b"  # c', "a # b"), ("k: 'it''s'", "it's"), ("k:", ""),
        ("k: ~", ""), ('k: "\\u00e7 \\"x\\""', 'ç "x"'), ("k: a:b", "a:b"), ('"k": x', "x"), ("k: |\n  a\n  b", "a b"),
        ("k: a\n  b", "a b"), ("k: 1\nk: 2", "2"), ("k: # nothing", ""),
    ],
)  # fmt: skip
def test_value_is_read_as_it_was_meant(line: str, value: str):
    """B11: quotes, comments, blocks, and a key written twice, where the last counts."""
    found = front_matter(note_of(*line.split("\n")))
    assert found is not None
    assert found.value("k") == value


def test_title_without_quotes_is_whole():
    """The original quotes nothing: a colon or a number sign belongs to the title."""
    found = front_matter(Note.parse(ORIGINAL.encode()))
    assert found is not None
    assert found.value("titulo") == "feature de exemplo: reconciliação por IP #3"
    assert found.value("squad") == "pdv-core"


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("status: em-andamento        # estados", "status: bloqueado        # estados"),
        ('status:   "em andamento"', 'status:   "bloqueado"'),
        ("status: 'x'", "status: 'bloqueado'"),
        ("status:", "status: bloqueado"),
        ("status: # nada", "status: bloqueado # nada"),
        ("'status' : x", "'status' : bloqueado"),
    ],
    ids=["comment", "double", "single", "empty", "only a comment", "quoted key"],
)
def test_change_touches_the_value_alone(line: str, changed: str):
    """Issue 8: spacing, quotes and comments stay."""
    assert front_of(with_value(note_of("a: 1", line, "z: 2"), "status", "bloqueado")) == ["a: 1", changed, "z: 2"]


def test_duplicate_key_is_changed_where_it_is_read():
    """B11: of a key written twice the last counts, and the first stays as somebody wrote it."""
    changed = with_value(note_of("status: a", "x: 1", "status: b"), "status", "c")
    assert front_of(changed) == ["status: a", "x: 1", "status: c"]


def test_value_of_several_lines_becomes_one():
    """A block is replaced whole; comments within it stay."""
    changed = with_value(note_of("status: >", "  a", "  # aside", "  b", "z: 1"), "status", "c")
    assert front_of(changed) == ["status: c", "  # aside", "z: 1"]


@pytest.mark.parametrize(
    "value", ["fase 2: x", "#3", "- a", "yes", "12", "[a]", 'a "b"', "a\\b", "", "ção", "2026-01-01"]
)
def test_written_value_is_read_back(value: str):
    """What kx writes, kx reads; words that YAML takes for something else are quoted."""
    for line in ("k: old", 'k: "old"', "k: 'old'", "other: 1"):
        found = front_matter(with_value(note_of(line), "k", value))
        assert found is not None
        assert found.value("k") == value


@pytest.mark.parametrize(
    ("lines", "changed"),
    [
        (['s: ["a", "b"]   # c'], ['s: ["a", "b", "n"]   # c']),
        (["s: []"], ['s: ["n"]']),
        (["s:"], ['s: ["n"]']),
        (["s: a"], ['s: [a, "n"]']),
        (["s:", "  - a", "  - b", "z: 1"], ["s:", "  - a", "  - b", '  - "n"', "z: 1"]),
        (["s:", "- a"], ["s:", "- a", '- "n"']),
        (["s: [a,", "    b]", "z: 1"], ["s: [a,", '    b, "n"]', "z: 1"]),
        (["z: 1"], ["z: 1", 's: ["n"]']),
    ],
    ids=["brackets", "empty", "nothing", "single", "dashes", "dashes at the margin", "lines", "absent"],
)
def test_item_is_added_in_the_way_the_list_is_written(lines: list[str], changed: list[str]):
    """Issue 8: an update changes only what it says."""
    note = with_item(note_of(*lines), "s", "n")
    assert front_of(note) == changed
    found = front_matter(note)
    assert found is not None
    assert found.items("s")[-1] == "n"


@pytest.mark.parametrize(
    "text",
    ["---\na: 1\n", "---\na: 1\nno key here\n---\n", "---\n" + "a: 1\n" * 2_000 + "---\n"],
    ids=["no end", "prose", "endless"],
)
def test_block_that_cannot_be_understood_is_refused(text: str):
    """B11: who cannot tell where the front matter ends must not write into it."""
    with pytest.raises(KxError) as caught:
        front_matter(Note.parse(text.encode()))
    assert caught.value.code is ErrorCode.VAULT_DAMAGED


@pytest.mark.parametrize("text", ["", "# x\n", " ---\na: 1\n---\n", "----\na: 1\n---\n", "\n---\na: 1\n---\n"])
def test_note_without_a_block_has_none(text: str):
    """Only a line of three dashes at the very beginning opens one."""
    assert front_matter(Note.parse(text.encode())) is None


def test_nested_keys_are_nobody_s():
    """A key below another key, or in a block of text, is not ours."""
    found = front_matter(Note.parse(BY_HAND.encode()))
    assert found is not None
    assert (found.value("status"), found.value("titulo")) == ("Pendente", 'Uma "nota" à mão')
    assert (found.items("tags"), found.items("sessoes_claude")) == (("a", "b"), ("s-1",))
