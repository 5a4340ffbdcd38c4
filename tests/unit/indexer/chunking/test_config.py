"""Configuration and markup: cut by section and key, headings are key paths."""

import pytest

from services.indexer.core.chunking import chunk, parse_document

LINE_TOKENS = 60


def count_lines(text: str) -> int:
    """Count a fixed number of tokens for each line that is not blank."""
    return 2 + LINE_TOKENS * sum(1 for line in text.split("\n") if line.strip())


GOLDEN = {
    "yaml": (
        "# Who.\nname: kx\nservices:\n  # The bus.\n  bus:\n    image: n\n    ports:\n      - 42\n  query:\n    image: kx\n    args: >\n      run: it\n",
        [(1, 2, "name"), (3, 3, "services"), (4, 8, "services.bus"), (9, 12, "services.query")],
    ),
    "json": (
        '{\n  "name": "kx",\n  "scripts": {\n    "build": "a",\n    "test": "b"\n  },\n  "files": [\n    "a",\n    "b"\n  ]\n}\n',
        [(1, 1, ""), (2, 6, ""), (7, 11, "files")],
    ),
    "toml": (
        '[project]\nname = "kx"\nversion = "1"\n\n# Lint.\n[tool.ruff]\nline-length = 120\n\n[[plugins]]\nid = 1\n',
        [(1, 3, "project"), (5, 7, "tool.ruff"), (9, 10, "plugins")],
    ),
    "ini": (
        "[a]\nx = 1\ny = 2\n\n; about b\n[b]\nx = 1\ny = 2\n",
        [(1, 3, "a"), (5, 8, "b")],
    ),
    "properties": (
        "# first\na.b = 1\na.c = 2\n\n# second\nd.e = 3\nd.f = 4\n",
        [(1, 3, ""), (5, 7, "")],
    ),
    "dockerfile": (
        'FROM python AS build\nRUN pip install \\\n    kx\n\nFROM scratch\nCOPY --from=build a b\nCMD ["kx"]\n',
        [(1, 3, "FROM python AS build"), (5, 7, "FROM scratch")],
    ),
    "xml": (
        '<project>\n  <build id="main">\n    <a>1</a>\n  </build>\n  <!-- tests -->\n  <test>\n    <b>1</b>\n  </test>\n</project>\n',
        [(1, 1, "project"), (2, 4, "project.build main"), (5, 9, "project.test")],
    ),
    "html": (
        "<html>\n<h1>Guide</h1>\n<p>one</p>\n<p>two</p>\n<h2>Install <b>it</b></h2>\n<p>three</p>\n<p>four</p>\n",
        [(1, 1, ""), (2, 4, "Guide"), (5, 7, "Guide > Install it")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", GOLDEN)
def test_file_is_cut_by_its_sections(language: str) -> None:
    """One source per format; comments stay with the key below them."""
    text, expected = GOLDEN[language]
    chunks = chunk(text, kind="config", language=language, count=count_lines)
    assert [(c.start_line, c.end_line, c.heading) for c in chunks] == expected


@pytest.mark.parametrize("language", GOLDEN)
def test_small_file_is_one_chunk(language: str) -> None:
    """What fits is not cut, whatever its structure."""
    text, _ = GOLDEN[language]
    (only,) = chunk(text, kind="config", language=language, count=lambda passage: 2 + passage.count("\n"))
    assert only.text == text.rstrip("\n")


def test_unknown_format_is_read_as_lines() -> None:
    """A configuration language without a reader still gives chunks of its own paragraphs."""
    chunks = chunk("a = 1\nb = 2\nc = 3\n\nd = 4\ne = 5\nf = 6\n", kind="config", language="nginx", count=count_lines)
    assert [(c.start_line, c.end_line) for c in chunks] == [(1, 3), (5, 7)]


def test_heading_of_a_page_is_what_a_reader_sees() -> None:
    """No anchor that a generator hung behind it, no character reference."""
    page = '<h2>Read &amp; write<a class="mark" href="#x">#</a></h2>\n<p>Text.</p>\n<h2>Next<a href="#y">¶</a></h2>\n<p>More.</p>\n'
    assert [d.name for d in parse_document(page, kind="docs", language="html", count=len).definitions] == [
        "Read & write",
        "Next",
    ]
