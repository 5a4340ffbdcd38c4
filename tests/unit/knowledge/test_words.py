"""Names and titles that come from outside."""

from __future__ import annotations

import pytest

from services.knowledge.core.words import folded, line, lines, name_of
from shared.errors import ErrorCode, KxError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  a\tb\r\nc ", "a b c"),
        ("a\x1b[31mb\x00", "a[31mb"),
        ("safe\u202etxt.exe", "safetxt.exe"),
        ("a\u2066b\u200bc\ufeffd\U000e0041", "abcd"),
        ("a\u0301", "á"),
        ("\ud800x", "x"),
        ("नर्\u200dक", "नर्\u200dक"),
        ("日本語 ação", "日本語 ação"),
    ],
)
def test_line_is_one_line_of_visible_text(text: str, expected: str):
    """Controls, directions and invisible characters are gone, letters of every script stay, in NFC."""
    assert line("title", text, 100) == expected


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\u202e", "\u200d"])
def test_name_says_something(text: str):
    """A name of nothing visible is refused."""
    with pytest.raises(KxError) as caught:
        name_of("title", text, 10)
    assert caught.value.code is ErrorCode.BAD_REQUEST


def test_bound_counts_what_is_kept():
    """A bound is on the characters that are kept."""
    assert line("title", " " * 50 + "x" * 10, 10) == "x" * 10
    with pytest.raises(KxError):
        line("title", "x" * 11, 10)


def test_lines_keep_their_breaks():
    """A description keeps its lines and nothing else of its form."""
    assert lines("description", " a \r\n\r\n\tb\x07\rc\n", 100) == "a\n\nb\nc"


@pytest.mark.parametrize(("one", "other"), [("Guia", "GUIA"), ("ﬁne", "fine"), ("A\u0301", "á"), ("Straße", "STRASSE")])
def test_same_name_is_one_name(one: str, other: str):
    """Names differ in more than case and form."""
    assert folded(one) == folded(other)
