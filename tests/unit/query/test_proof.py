"""Where a passage stands in its file now."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.query.core.proof import Lines, find_passage, readable_text

LINES = st.lists(st.sampled_from(["a", "b", "ab", ""]), max_size=6)


@given(before=LINES, passage=LINES.filter(any), after=LINES)
def test_lines_found_hold_the_text(before: list[str], passage: list[str], after: list[str]) -> None:
    """Wherever it is found, exactly those lines are the passage."""
    passage = [*passage, "end"]
    lines = [*before, *passage, *after]
    found = find_passage("\n".join(passage), "\n".join(lines) + "\n", Lines(start=1, end=1))
    assert found is not None
    assert lines[found.start - 1 : found.end] == passage


def test_the_nearest_of_several_places_is_taken() -> None:
    """A text that stands twice keeps the place it had."""
    file_text = "x\ny\nx\ny\nx\n"
    assert find_passage("x", file_text, Lines(start=3, end=3)) == Lines(start=3, end=3)


def test_line_endings_do_not_matter() -> None:
    """Case 13: CRLF and LF have the same lines."""
    assert find_passage("a\nb", "z\r\na\r\nb\r\n", Lines(start=1, end=2)) == Lines(start=2, end=3)


def test_a_passage_is_whole_lines_unless_it_is_a_piece_of_a_long_one() -> None:
    """Case 10: pieces of a minified line are found inside it, a short text within a word is not."""
    assert find_passage("cat", "concatenate\n", Lines(start=1, end=1)) is None
    piece = "x" * 300
    assert find_passage(piece, f"head;{piece};tail\n", Lines(start=1, end=1)) == Lines(start=1, end=1)


def test_what_is_gone_is_not_found() -> None:
    """Case 24."""
    assert find_passage("oldword here", "newword here\n", Lines(start=1, end=1)) is None
    assert find_passage("", "anything", Lines(start=1, end=1)) is None


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("ação".encode(), "ação"),
        (b"\xef\xbb\xbf" + "ação".encode(), "ação"),
        ("\ufeffação".encode("utf-16-le"), "ação"),
        ("\ufeffação".encode("utf-32-be"), "ação"),
        ("ação".encode("latin-1"), "ação"),
    ],
    ids=["utf-8", "bom", "utf-16", "utf-32", "latin-1"],
)
def test_files_are_read_as_the_index_read_them(data: bytes, text: str) -> None:
    """Case 8, as far as a comparison needs it."""
    assert readable_text(data) == text
