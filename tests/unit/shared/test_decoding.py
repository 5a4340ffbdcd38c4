"""Bytes to text, or the reason why not."""

from __future__ import annotations

import codecs
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.decoding import Decoded, Refusal, Refused, decode

SAMPLE = "Decisão: o disjuntor abre.\r\nnível=erro código=42\nfim\n"
LINES = "Decisão: o disjuntor abre.\nnível=erro código=42\nfim\n"
MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


@pytest.mark.parametrize("encoding", MARKS)
def test_marked_file_is_read_and_its_mark_removed(encoding: str) -> None:
    """Case 8: UTF-8, 16 and 32 with a byte order mark, lines ended by CRLF."""
    assert decode(MARKS[encoding] + SAMPLE.encode(encoding)) == Decoded(LINES, encoding, had_bom=True)


@pytest.mark.parametrize("encoding", MARKS)
@pytest.mark.parametrize("text", [SAMPLE, "x = 1\n", "Логи сервера: ошибка номер 42 в узле семь\n" * 5, "ação"])
def test_unmarked_unicode_is_recognised(encoding: str, text: str) -> None:
    """Case 8: UTF-16 and UTF-32 without a mark are told by where their NULs stand."""
    found = decode(text.encode(encoding))
    assert isinstance(found, Decoded)
    assert (found.text, found.encoding) == (text.replace("\r\n", "\n"), encoding)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        pytest.param("ação".encode("latin-1"), "cp1252", id="Latin-1"),
        pytest.param("“ação” – 5 €".encode("cp1252"), "cp1252", id="CP1252"),
        pytest.param(b"plain text\n\xff\n", "cp1252", id="one foreign byte"),
        pytest.param(b"plain text\n\x81\n", "latin-1", id="no CP1252"),
    ],
)
def test_western_text_falls_back_and_says_so(data: bytes, encoding: str) -> None:
    """Case 8: the encoding that was used is stated."""
    found = decode(data)
    assert isinstance(found, Decoded)
    assert found.encoding == encoding
    assert "\ufffd" not in found.text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"text with one\0NUL in it\n" * 3, Refusal.BINARY, id="NUL in the middle"),
        pytest.param(b"a" * 200_000 + b"\0", Refusal.BINARY, id="NUL at the end"),
        pytest.param(bytes(range(256)) * 20, Refusal.BINARY, id="every byte"),
        pytest.param(b"\x01\x02\x03\x04" * 100, Refusal.BINARY, id="control characters"),
        pytest.param(codecs.BOM_UTF8 + b"\xff\xfe", Refusal.UNDECODABLE, id="UTF-8 mark, other bytes"),
        pytest.param(codecs.BOM_UTF16_LE + b"a", Refusal.UNDECODABLE, id="half a character"),
        pytest.param("Ошибка сервера".encode("koi8-r"), Refusal.UNDECODABLE, id="undeclared Cyrillic"),
        pytest.param(b"\x7fELF\x02\x01\x01" + bytes(60), Refusal.BINARY, id="program"),
        pytest.param(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Refusal.BINARY, id="image"),
    ],
)
def test_noise_is_refused_with_a_reason(data: bytes, reason: Refusal) -> None:
    """Case 8: nothing is indexed as noise."""
    found = decode(data)
    assert isinstance(found, Refused)
    assert found.reason is reason


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        pytest.param(
            "# -*- coding: koi8-r -*-\nx = 'Ошибка сервера и ещё слова'\n".encode("koi8-r"), "koi8-r", id="Python"
        ),
        pytest.param(
            '<?xml version="1.0" encoding="windows-1251"?><a>Ошибка</a>'.encode("cp1251"), "windows-1251", id="XML"
        ),
        pytest.param('<meta charset="shift_jis"><p>認証の仕組みを説明する'.encode("shift_jis"), "shift_jis", id="HTML"),
        pytest.param('" Vim\nscriptencoding koi8-u\n" Помилка сервера\n'.encode("koi8-u"), "koi8-u", id="Vim"),
        pytest.param(b"# coding: rot13\nabc \xe9\n", "cp1252", id="no encoding of text"),
    ],
)
def test_declared_encoding_is_believed_when_it_is_no_unicode(data: bytes, encoding: str) -> None:
    """Issue 4.3: a file that names its encoding is read with it."""
    found = decode(data)
    assert isinstance(found, Decoded)
    assert (found.text, found.encoding) == (data.decode(encoding), encoding)


def test_key_map_with_control_characters_is_text() -> None:
    """A person's file of valid UTF-8: a few control characters do not make it noise, in a Western one they do."""
    line = "inoremap <buffer> č \x0e\x1d\n"
    assert isinstance(decode(line.encode() * 20), Decoded)
    assert isinstance(decode(line.replace("č", "é").encode("cp1252") * 20), Refused)


def test_only_three_ends_of_line() -> None:
    """Issue 4.6: LF, CRLF and CR end a line; form feed, vertical tab, NEL and U+2028 do not."""
    found = decode("a\nb\r\nc\rd\x0ce\x0bf\u0085g\u2028h\r\r\n".encode())
    assert isinstance(found, Decoded)
    assert found.text.split("\n") == ["a", "b", "c", "d\x0ce\x0bf\u0085g\u2028h", "", ""]


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=200))
def test_utf8_text_comes_back_as_it_was(text: str) -> None:
    """Row B2: every text without control characters is itself."""
    found = decode(text.encode())
    assert isinstance(found, Decoded)
    assert found.text == text.removeprefix("\ufeff").removeprefix("\ufeff")


@given(st.binary(max_size=400))
def test_any_bytes_get_an_answer(data: bytes) -> None:
    """Row B2: never an exception, never a NUL or a carriage return in a text."""
    found = decode(data)
    if isinstance(found, Decoded):
        assert "\0" not in found.text
        assert "\r" not in found.text


def test_random_binaries_are_hardly_ever_text() -> None:
    """Row B2: noise of any length is refused."""
    rng = random.Random(7)
    accepted = sum(isinstance(decode(rng.randbytes(rng.randint(64, 4000))), Decoded) for _ in range(300))
    assert accepted == 0
