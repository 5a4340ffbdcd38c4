"""What a user may rely on is in docs/, and docs/ names nothing that does not exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kx.exits import Exit
from kx.processes import PROCESSES
from shared.errors import ErrorCode
from tests.support import doc_tables
from tests.support.markdown import first_column, links, sections
from tests.support.repository import ROOT, files, text_of

PAGES = [path for path in files() if path.suffix == ".md" and path.parts[0] not in {"tests", "cases"}]


def test_every_error_code_is_explained_and_none_is_invented():
    """docs/errors.md and ErrorCode are one list, in one order."""
    assert first_column("docs/errors.md", r"KX_\w+") == [code.value for code in ErrorCode]


def test_every_exit_code_is_explained_and_none_is_invented():
    """docs/errors.md and Exit are one list."""
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", text_of(Path("docs/errors.md")), re.MULTILINE)
    assert rows == [(str(int(code)), code.name) for code in Exit]


@pytest.mark.parametrize("block", doc_tables.derived_blocks())
def test_messages_and_subjects_are_described_as_they_are(block: str):
    """docs/messages.md holds every subject, message and field; `just docs` brings it up to date."""
    assert doc_tables.split_page(text_of(doc_tables.PAGE))[block] == doc_tables.derived_blocks()[block]


def test_every_message_says_what_it_is():
    """A message or field without a word about it would be a riddle in the reference."""
    assert "### " in doc_tables.derived_blocks()["messages"]
    for block in ("messages", "values"):
        for section in doc_tables.derived_blocks()[block].split("### ")[1:]:
            name, _, text = section.partition("\n")
            assert text.strip(), name


def test_every_process_is_named_in_the_command_reference():
    """`kx serve NAME`: each name, and no other."""
    named = set(re.findall(r"`(\w+)`", sections("docs/commands.md")["kx serve"]))
    assert named == {process.name for process in PROCESSES}


def test_glossary_is_in_order_and_says_each_word_once():
    """A word is found by looking, and has one meaning."""
    words = first_column("docs/glossary.md", r"(?!word$|-+$).+")
    assert words == sorted(set(words), key=str.casefold)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page: Path):
    """No page points at a file that is not there."""
    missing = [target for target in links(page) if not (ROOT / page.parent / target).exists()]
    assert missing == []


def test_decisions_are_numbered_without_gap():
    """docs/adr/NNNN-title.md, from 0001; the title repeats the number."""
    pages = sorted((ROOT / "docs" / "adr").glob("*.md"))
    assert [page.name[:5] for page in pages] == [f"{number:04}-" for number in range(1, len(pages) + 1)]
    assert all(page.read_text().startswith(f"# {int(page.name[:4])}. ") for page in pages)


def test_ci_runs_the_test_command_of_the_readme():
    """The second command a newcomer types is exactly what a change must pass."""
    commands = re.findall(r"^```sh\n(.+?)\n```$", text_of(Path("README.md")), re.MULTILINE | re.DOTALL)
    assert text_of(Path(".ci/run")).splitlines()[-1] == f"exec {commands[1]}"
