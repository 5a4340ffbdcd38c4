"""Exported revisions: what is written is read back, to the byte."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kx.knowledge.front_matter import Head, Page, read, written
from shared.errors import ErrorCode, KxError

HEAD = Head(
    id="i1", title="Restart", status="published", published="2030-01-01T00:00:00Z", revision="r1", number=1, hash="00"
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(TEXTS, TEXTS, st.binary(max_size=200))
def test_front_matter_gives_back_every_byte(title: str, locator: str, content: bytes):
    """Whatever the title holds and whatever the content begins with, also a fence of its own."""
    page = Page(Head(id="i1", title=title, status="draft", revision="r1", number=3, hash="", locator=locator), content)
    for tail in (content, b"---\n" + content, b"\xef\xbb\xbf---\r\n" + content):
        assert read(written(Page(page.head, tail))) == Page(page.head, tail)


@given(TEXTS)
def test_any_yaml_reader_reads_the_front_matter(title: str):
    """Other programs use the export too: values are JSON, which is YAML."""
    head = Head(id="i1", title=title, status="draft", revision="r1", number=3, hash="00")
    block = written(Page(head, b"---\nnot: this\n")).decode().split("\n---\n")[0].removeprefix("---\n")
    found = yaml.safe_load(block)
    assert (found["title"], found["number"], found["current"], found["published"]) == (title, 3, True, None)


def test_what_a_person_changed_is_read():
    """A title without quotes, a key of one's own, lines that end as on Windows."""
    data = written(Page(HEAD, b"Text\n")).replace(b'title: "Restart"', b"title: Restart: the gateway\nowner: me")
    head, _, content = data.partition(b"\n---\n")
    page = read(head.replace(b"\n", b"\r\n") + b"\r\n---\r\n" + content)
    assert page is not None
    assert (page.head.title, page.content) == ("Restart: the gateway", b"Text\n")


@pytest.mark.parametrize("data", [b"", b"# Title\n", b"---\ntitle: note\n---\n", b'kx: "knowledge/1"\n'])
def test_front_matter_of_others_is_content(data: bytes):
    """Only what kx exported is taken apart."""
    assert read(data) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"\n---\nText", b"\nText"), (b'status: "published"', b'status: "public"'), (b"number: 1", b"number: one")],
    ids=["no end", "no state", "no number"],
)
def test_damaged_front_matter_is_refused(old: bytes, new: bytes):
    """Half an item is not guessed."""
    data = written(Page(HEAD, b"Text"))
    assert old in data
    with pytest.raises(KxError) as refused:
        read(data.replace(old, new))
    assert refused.value.code == ErrorCode.BAD_REQUEST


def test_head_is_short_and_ordered():
    """A person reads it from the top: what it is, what it is called, what state it is in."""
    keys = re.findall(r"^(\w+):", written(Page(HEAD, b"")).decode(), re.MULTILINE)
    assert keys[:4] == ["kx", "id", "title", "status"]
