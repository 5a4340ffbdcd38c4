"""Plain text and reStructuredText."""

from collections.abc import Callable

import pytest

from services.indexer.core.chunking import chunk
from tests.support.chunks import assert_sound

Count = Callable[[str], int]
BODY = "\n".join(f"A line of text that says a few things about nothing. ({i})" for i in range(20))


def test_underlined_titles_make_the_heading_path(count: Count) -> None:
    """ReStructuredText ranks styles by their first appearance; an overline makes another style."""
    text = f"=====\nGuide\n=====\n\n{BODY}\n\nInstall\n=======\n\n{BODY}\n\nOn Linux\n--------\n\n{BODY}\n\nUse\n===\n\n{BODY}"
    chunks = chunk(text, kind="docs", language="restructuredtext", count=count)
    assert_sound(text, chunks, count)
    assert list(dict.fromkeys(c.heading for c in chunks)) == [
        "Guide", "Guide > Install", "Guide > Install > On Linux", "Guide > Use",
    ]  # fmt: skip


def test_rule_or_table_border_is_no_title(count: Count) -> None:
    """Lines of dashes stand for many things; a title has its line to itself."""
    text = "a paragraph\nof two lines\n-----------\n\n-----\n\n====  ====\ncell  cell\n====  ====\n"
    (only,) = chunk(text, kind="docs", language="text", count=count)
    assert only.heading == ""


def test_text_is_cut_at_paragraphs(count: Count) -> None:
    """Prose: a paragraph that fits is not divided where a border beside it will do."""
    paragraph = "\n".join(["This is one line of a paragraph with a number of words."] * 6)
    text = "\n\n".join(f"Paragraph {i}.\n{paragraph}" for i in range(20))
    chunks = chunk(text, kind="docs", language="text", count=count)
    assert_sound(text, chunks, count)
    assert len(chunks) > 5
    assert all(c.text.startswith("Paragraph") for c in chunks)


def test_only_a_line_feed_ends_a_line(count: Count) -> None:
    """Case 13: form feed, vertical tab and the Unicode separators are characters like others."""
    (only,) = chunk("one\ftwo\u2028three\x0bfour\u0085five\nsix", kind="docs", language="text", count=count)
    assert (only.start_line, only.end_line) == (1, 2)


def test_empty_document_has_no_chunks(count: Count) -> None:
    """Blank files give nothing, not an empty passage."""
    assert [chunk(text, kind="docs", language="text", count=count) for text in ("", "\n\n", " \n\t\n")] == [[], [], []]


@pytest.mark.parametrize(
    ("language", "one", "two"),
    [
        ("asciidoc", "= Guide", "== Install"),
        ("org", "* Guide", "** Install"),
        ("wiki", "= Guide =", "== Install =="),
        ("latex", r"\section{Guide}", r"\subsection{Install}"),
    ],
)
def test_marked_titles_make_the_heading_path(language: str, one: str, two: str, count: Count) -> None:
    """Each markup has its own mark for a title."""
    text = f"{one}\n\n{BODY}\n\n{two}\n\n{BODY}"
    chunks = chunk(text, kind="docs", language=language, count=count)
    assert_sound(text, chunks, count)
    assert list(dict.fromkeys(c.heading for c in chunks)) == ["Guide", "Guide > Install"]


def test_preface_does_not_bear_the_name_of_what_follows(count: Count) -> None:
    """Lines before a title are not about it; a line or two before it do not take its name away."""
    (preface,) = chunk("One.\n\nTwo.\n\nThree.\n\nHoney\n=====\nFour.", kind="docs", language="text", count=count)
    (opened,) = chunk("Version 2.\n\nHoney\n=====\n\nFour.", kind="docs", language="text", count=count)
    assert (preface.heading, opened.heading) == ("", "Honey")


def test_title_in_a_box_is_named_without_its_sides(count: Count) -> None:
    """As configuration files and scripts write their first lines."""
    (only,) = chunk("#######\n# Box #\n#######\n\nText.", kind="docs", language="text", count=count)
    assert only.heading == "Box"
