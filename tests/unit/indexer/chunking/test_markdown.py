"""Markdown: headings and their path, fences, front matter, tables, lists."""

from collections.abc import Callable

import pytest

from services.indexer.core.chunking import Chunk, chunk
from tests.support.chunks import assert_sound

Count = Callable[[str], int]
LINE = "A line of text that says a few things about nothing at all."


def read(text: str, count: Count) -> list[Chunk]:
    """Chunk a Markdown text and check what holds for every chunk."""
    chunks = chunk(text, kind="docs", language="markdown", count=count)
    assert_sound(text, chunks, count)
    return chunks


def headings(text: str, count: Count) -> list[str]:
    """Return the different headings of a text's chunks in order."""
    return list(dict.fromkeys(c.heading for c in read(text, count)))


def body(lines: int = 25) -> str:
    """Return enough text for a section to be cut from its neighbours."""
    return "\n".join(f"{LINE} ({i})" for i in range(lines))


@pytest.mark.parametrize(
    "fence",
    [
        "```python\n# not a heading\nx = 1\n```",
        "~~~\n# not a heading\n~~~",
        "````md\n```\n# not a heading\n```\n````",
        "```python\n# not a heading\nx = 1",
        "- item\n  ```sh\n  # not a heading\n  ```",
        "> ```\n> # not a heading\n> ```",
    ],
    ids=["backticks", "tildes", "longer fence", "unclosed", "in a list", "in a quote"],
)
def test_comment_in_a_fence_is_no_heading(fence: str, count: Count) -> None:
    """Case 14: one section called Real, however the fence is written."""
    assert headings(f"# Real\n\n{body()}\n\n{fence}\n\n{body()}", count) == ["Real"]


def test_unclosed_fence_does_not_swallow_the_sections_after_it(count: Count) -> None:
    """Case 14: the next section is still one."""
    text = f"# Real\n\n{body()}\n\n```sh\nls\n\n## Next\n\n{body()}"
    assert headings(text, count) == ["Real", "Real > Next"]


def test_fence_that_fits_the_budget_stays_whole(count: Count) -> None:
    """B5: 0 fences cut that fit, up to the last token and with the heading shortened for it."""
    for lines in range(5, 60, 3):
        fence = "```python\n" + "\n".join(f"value_{i} = {i}\n" for i in range(lines)) + "```"
        text = f"# A long heading over the fence\n\n{body(8)}\n\n{fence}\n\n{body(8)}"
        if count(fence) <= 440:
            assert any(fence in c.text for c in read(text, count)), f"{lines} lines, {count(fence)} tokens"


def test_fence_beyond_the_budget_is_cut_at_its_blank_lines(count: Count) -> None:
    """A fence too large for one chunk is divided between its parts, not in the middle of one."""
    part = "\n".join(f"    value = compute(value, {i})" for i in range(9))
    text = "```python\n" + f"\n\ndef f():\n{part}" * 8 + "\n```"
    starts = [c.text.split("\n")[0] for c in read(text, count)]
    assert len(starts) > 1
    assert all(start == "def f():" for start in starts[1:])


def test_heading_path_follows_the_levels(count: Count) -> None:
    """ATX and setext headings, closing hashes and inline markup."""
    sections = ["Guide\n=====", "Install\n-------", "### On `Linux` ##", "## [Use](a.md)", "# Other {#id}"]
    text = "\n\n".join(f"{section}\n\n{body()}" for section in sections)
    assert headings(text, count) == [
        "Guide", "Guide > Install", "Guide > Install > On Linux", "Guide > Use", "Other",
    ]  # fmt: skip


def test_front_matter_is_a_chunk_of_its_own_and_names_the_note(count: Count) -> None:
    """Case 8: the title roots the headings; metadata does not mix with text."""
    first, second = read("---\ntitle: 'My note'\ntags: [a]\n---\n\nShort text.", count)
    assert (first.start_line, first.end_line, first.heading) == (1, 4, "My note")
    assert (second.start_line, second.end_line, second.heading) == (6, 6, "My note")


def test_title_repeated_as_first_heading_is_said_once(count: Count) -> None:
    """A note whose heading repeats its title has one name."""
    assert headings("---\ntitle: Note\n---\n# Note\n\ntext", count) == ["Note"]


@pytest.mark.parametrize(
    "text",
    ["---\n\nA rule, then text: really.\n\n---\n", "---\ntitle: never closed\n\ntext", "text\n\n---\na: b\n---\n"],
    ids=["rules", "no end", "not first"],
)
def test_rule_is_not_front_matter(text: str, count: Count) -> None:
    """B11: `---` is a rule unless it opens and closes keys at the very top."""
    assert len(read(text, count)) == 1


def test_table_that_is_cut_repeats_its_header_in_the_heading(count: Count) -> None:
    """The text stays the file's; which column is which is said in the heading."""
    rows = "\n".join(f"| option_{i} | {LINE} |" for i in range(60))
    chunks = read(f"# Options\n\n| Name | *Meaning* |\n|---|---|\n{rows}\n", count)
    assert len(chunks) > 3
    assert chunks[0].heading == "Options"
    assert {c.heading for c in chunks[1:]} == {"Options > Name | Meaning"}


def test_table_that_fits_stays_whole(count: Count) -> None:
    """A table is cut only if it must be."""
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| row {i} | {i} |" for i in range(40))
    assert count(table) <= 440
    assert any(table in c.text for c in read(f"{body(9)}\n\n{table}\n\n{body(9)}", count))


def test_long_list_is_cut_between_items(count: Count) -> None:
    """An item's continuation lines stay with it."""
    text = "\n".join(f"- item {i}: {LINE}\n  {LINE}\n  - inner {LINE}" for i in range(40))
    chunks = read(text, count)
    assert len(chunks) > 5
    assert all(c.text.startswith("- item") for c in chunks)


def test_vault_notes_are_markdown(count: Count) -> None:
    """Kind vault reads headings whatever the language says; wikilinks stay in the text."""
    chunks = chunk("# Plan\n\nSee [[Other|that]].", kind="vault", language="text", count=count)
    assert [(c.heading, c.text) for c in chunks] == [("Plan", "# Plan\n\nSee [[Other|that]].")]


def test_long_heading_is_shortened_to_the_budget(count: Count) -> None:
    """A heading never takes the room of its text, nor pushes a chunk over the budget."""
    text = f"# {'word ' * 2_000}\n\n## Inner {'name ' * 60}\n\n{body(60)}"
    assert all(count(c.heading) <= 66 for c in read(text, count))


@pytest.mark.parametrize("part", ["Page 1", "Slide 1", "Sheet Costs"])
def test_text_taken_out_of_a_document_is_parted_at_its_pages(part: str, count: Count) -> None:
    """A knowledge base keeps documents as Markdown; a hit names one page, as it does for a file of a project."""
    other = part.replace("1", "2").replace("Costs", "Suppliers")
    text = f"# Runbook\n\n## {part}\n\nShort.\n\n## {other}\n\nShort, too.\n"
    found = chunk(text, kind="docs", language="markdown", count=count)
    assert [one.heading.split(" > ")[-1] for one in found if "Short" in one.text] == [part, other]


def test_markdown_that_only_mentions_a_page_is_packed_as_ever(count: Count) -> None:
    """One heading of another form, and it is a text that a person wrote."""
    text = "# Book\n\n## Page 1\n\nShort.\n\n## Afterword\n\nShort, too.\n"
    assert len(chunk(text, kind="docs", language="markdown", count=count)) == 1
