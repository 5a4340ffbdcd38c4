"""Paths as text: one spelling per name, reversible to the bytes on disk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.relpath import decode_path, encode_path, join, name, parent


@given(st.binary(max_size=300).filter(lambda raw: b"\0" not in raw))
def test_every_name_survives_the_round_trip(raw: bytes) -> None:
    """Row B3: any bytes can be written as text and found again."""
    assert decode_path(encode_path(raw)) == raw


@given(st.binary(max_size=60))
def test_encoded_path_is_text_without_control_characters(raw: bytes) -> None:
    """Row B3: what goes into SQLite, JSON and a terminal line is plain text."""
    path = encode_path(raw)
    path.encode("utf-8")
    assert not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in path)


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        pytest.param(b"bad\xff.txt", "bad\\xff.txt", id="not UTF-8"),
        pytest.param(b"a\nb", "a\\x0ab", id="newline"),
        pytest.param(b"a\\b", "a\\\\b", id="backslash"),
        pytest.param(b"\xc2\x85", "\\xc2\\x85", id="C1 control"),
        pytest.param(b"\xed\xa0\x80", "\\xed\\xa0\\x80", id="surrogate in UTF-8"),
        pytest.param("😀.md".encode(), "😀.md", id="emoji"),
        pytest.param(b"- trailing ", "- trailing ", id="dash and space"),
        pytest.param(b"a\"b'c;--.md", "a\"b'c;--.md", id="quotes"),
    ],
)
def test_odd_name_has_a_readable_form(raw: bytes, path: str) -> None:
    """Case 9: odd names are shown escaped or as they are."""
    assert encode_path(raw) == path
    assert decode_path(path) == raw


def test_composed_and_decomposed_names_stay_two() -> None:
    """Case 7: NFC and NFD forms are two files on Linux."""
    assert encode_path("ação".encode()) != encode_path("ac\u0327a\u0303o".encode())


def test_typed_backslash_stands_for_itself() -> None:
    """A person's plain path is accepted without escapes."""
    assert decode_path("C:\\temp") == b"C:\\temp"


def test_parts_of_a_path() -> None:
    """Join, parent and name agree about the root."""
    assert join("", "a") == "a"
    assert join("a", "b") == "a/b"
    assert (parent("a/b/c"), name("a/b/c")) == ("a/b", "c")
    assert (parent("a"), name("a")) == ("", "a")
