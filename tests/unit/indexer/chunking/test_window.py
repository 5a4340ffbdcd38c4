"""Lines that alone exceed the budget: minified code, one-line data, unwrapped paragraphs."""

from collections.abc import Callable

import pytest

from services.indexer.core.chunking import chunk
from tests.support.chunks import assert_sound, changed_texts

Count = Callable[[str], int]


@pytest.mark.parametrize(
    ("kind", "language", "unit"),
    [
        ("code", "javascript", "function f(a,b){{var c=a+b*{0};return g(c)}};"),
        ("config", "json", '{{"key":[{0},1,2],"other":"value"}},'),
        ("code", "css", ".a{{color:#fff;margin:{0}px}}"),
        ("docs", "text", "Sentence {0} has a few words in it. "),
        ("docs", "text", "認証の仕組みを説明する"),
        ("docs", "text", "xxxx"),
        ("docs", "text", "\u00e9[SEP"),
        ("docs", "text", "xyzw[SEP]"),
    ],
    ids=["javascript", "json", "css", "prose", "cjk", "one word", "special begun", "special"],
)
def test_end_of_a_long_line_is_in_a_chunk(kind: str, language: str, unit: str, count: Count) -> None:
    """Case 10: `needleXYZ` at the end of a one-line file is found, and the slices are the line."""
    text = "".join(unit.format(i % 50) for i in range(3_000)) + " needleXYZ"
    chunks = chunk(text, kind=kind, language=language, count=count)
    assert_sound(text, chunks, count)
    assert "".join(c.text for c in chunks) == text
    assert chunks[-1].text.endswith("needleXYZ")
    assert max(len(c.text) for c in chunks) <= 7_040


def test_paragraph_in_one_line_is_cut_at_sentences(count: Count) -> None:
    """Prose: paragraph, then line, then sentence, then word."""
    text = " ".join(f"The sentence of number {i} says something about the thing." for i in range(120))
    chunks = chunk(text, kind="docs", language="markdown", count=count)
    assert len(chunks) > 4
    assert all(c.text.startswith("The sentence") for c in chunks)


def test_edit_in_a_long_line_changes_few_slices(count: Count) -> None:
    """Slices are found by the line's own marks, so they do not shift."""
    sentences = [f"The sentence of number {i} says something about the thing." for i in range(300)]
    old = chunk(" ".join(sentences), kind="docs", language="text", count=count)
    sentences.insert(40, "One more word here.")
    new = chunk(" ".join(sentences), kind="docs", language="text", count=count)
    assert len(old) > 10
    assert changed_texts(old, new) <= 3


def test_long_line_shares_no_chunk_with_its_neighbours(count: Count) -> None:
    """A chunk is whole lines or a part of one, never a mixture."""
    text = "before\n" + "word " * 2_000 + "\nafter"
    chunks = chunk(text, kind="docs", language="text", count=count)
    assert_sound(text, chunks, count)
    assert (chunks[0].text, chunks[-1].text) == ("before", "after")


def test_blank_line_of_any_length_is_no_chunk(count: Count) -> None:
    """White space is not a passage."""
    assert chunk(" " * 100_000 + "\n\n\t", kind="docs", language="text", count=count) == []
