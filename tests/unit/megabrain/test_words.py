"""Texts from outside, made fit for a note."""

from __future__ import annotations

import pytest

from services.megabrain.core.words import MAX_SLUG_CHARS, many_lines, one_line, slug_of
from shared.errors import ErrorCode, KxError


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Migração do Índice: fase 2", "migracao-do-indice-fase-2"),
        ("  ÇÃO/Über—ﬁm_1  ", "cao-uber-fim-1"),
        ("../../etc/passwd", "etc-passwd"),
        ("日本語", ""),
        ("a" * 59 + " bcd", "a" * 59),
    ],
    ids=["accents", "ligatures", "path", "no ASCII", "cut"],
)
def test_slug_is_short_plain_ascii(title: str, slug: str):
    """Mission 6: accents stripped, lower case, at most 60 characters; no title leads out of its folder."""
    assert slug_of(title) == slug
    assert len(slug) <= MAX_SLUG_CHARS


def test_text_is_flattened_and_disarmed():
    """Mission 6: free text is flattened; what would act on a reader is taken out."""
    assert one_line("title", "a\r\n b\t\u202ec\x1b[31m\ud800") == "a b c[31m"
    assert many_lines("text", "\n a\u2028b\x00 \n\n") == (" a", "b")


def test_text_that_is_too_long_is_refused():
    """Nothing is cut silently."""
    with pytest.raises(KxError) as caught:
        one_line("title", "x" * 401)
    assert caught.value.code is ErrorCode.BAD_REQUEST
