"""What holds for every document, whatever its kind, checked on generated ones."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.indexer.core.chunking import Chunk, chunk, embed_text
from shared.tokens import TokenCounter, load_tokenizer
from tests.support.chunks import TOKENIZER, assert_sound, changed_texts

Count = Callable[[str], int]

COUNT = TokenCounter.load(TOKENIZER).count

READERS = [
    ("docs", "markdown"),
    ("docs", "restructuredtext"),
    ("docs", "html"),
    ("code", "python"),
    ("code", "javascript"),
    ("code", "c"),
    ("code", "cobol"),
    ("config", "yaml"),
    ("config", "json"),
    ("config", "ini"),
]
LINES = st.one_of(
    st.sampled_from(
        [
            "", "", "   ", "# One", "## Two", "Title", "=====", "-----", "---", "title: x", "```", "```python",
            "````", "~~~", "| a | b |", "|---|---|", "- item", "  - inner", "1. first", "> quote", "[section]",
            "key = value", '"key": {', "},", "}", "{", "<tag name='x'>", "</tag>", "def f(x):", "class A:",
            "    def m(self):", "        return 1", '    """', "'''", "@decorator", "# comment", "// comment",
            "function f() {", "int main(void)", "#ifdef X", "/*", "*/", "(", "a\fb", "a\u2028b", "\x0b", "\x0c",
            "[SEP] [CLS]", "\u200b", "e\u0301a\u0300", "認証の仕組み", "word " * 60, "x" * 300, "\t\tdeep", "\ud800",
        ]
    ),
    st.text(st.characters(exclude_characters="\n"), max_size=40),
    st.text("ab .,;(){}[]<>#'\"-=", min_size=200, max_size=2_500),
)  # fmt: skip
DOCUMENTS = st.lists(LINES, max_size=60).map("\n".join)


@pytest.mark.parametrize(("kind", "language"), READERS, ids=[language for _, language in READERS])
@settings(max_examples=40, deadline=None)
@given(text=DOCUMENTS)
def test_every_line_is_in_a_chunk_of_the_budget(kind: str, language: str, text: str) -> None:
    """B5: non-blank lines covered, spans exact, no chunk above 440 exact tokens; case 13 for form feed and U+2028."""
    assert_sound(text, chunk(text, kind=kind, language=language, count=COUNT), COUNT)


def test_tokens_are_those_of_the_tokenizer() -> None:
    """Counting line by line and adding up gives what the tokenizer says of the whole embedded text."""
    tokenizer = load_tokenizer(TOKENIZER)
    text = "# Über [SEP]\n\n" + "\n".join(f"Zeile {i}: café, naïve_{i} (x[{i}])." * (1 + i % 50) for i in range(120))
    for passage in chunk(text, kind="docs", language="markdown", count=COUNT):
        assert passage.tokens == len(tokenizer.encode(embed_text(passage.heading, passage.text)).ids)


def _words(rng: random.Random, n: int) -> str:
    return " ".join(
        rng.choice(["alpha", "beta", "gamma", "delta", "value", "list", "result", "order", "index"]) for _ in range(n)
    )


def _markdown(rng: random.Random) -> list[str]:
    lines = ["# Guide", ""]
    for section in range(rng.randint(6, 14)):
        lines += [f"## Section {section} {_words(rng, 2)}", ""]
        for _ in range(rng.randint(1, 6)):
            lines += [*(_words(rng, rng.randint(6, 14)) for _ in range(rng.randint(1, 6))), ""]
    return lines


def _python(rng: random.Random) -> list[str]:
    lines = ["import os", ""]
    for number in range(rng.randint(12, 30)):
        lines += ["", f"def function_{number}(value):"]
        lines += [f"    value = {_words(rng, 1)}({rng.randint(0, 99)}, value)" for _ in range(rng.randint(1, 30))]
        lines += ["    return value", ""]
    return lines


def _prose(rng: random.Random) -> list[str]:
    return [_words(rng, rng.randint(3, 16)) if rng.random() < 0.8 else "" for _ in range(300)]


@pytest.mark.parametrize(
    ("kind", "language", "make", "share"),
    [
        ("docs", "markdown", _markdown, 0.97),
        ("code", "python", _python, 0.97),
        ("docs", "text", _prose, 0.93),
    ],
    ids=["markdown", "python", "prose"],
)
def test_edit_changes_its_chunk_and_at_most_the_next(
    kind: str, language: str, make: Callable[[random.Random], list[str]], share: float
) -> None:
    """Borders are local: of 200 edited lines nearly all cost their chunk and the next, none more than four chunks.

    Not all can: chunks of bounded size whose borders depend on nothing but nearby text do not exist, as a text
    of equal lines shows.
    """
    rng = random.Random(7)
    local = 0
    for _ in range(200):
        lines = make(rng)
        at = rng.choice([i for i, line in enumerate(lines) if line.strip() and line[0] not in "#d"])
        edited = list(lines)
        indent = " " * (len(lines[at]) - len(lines[at].lstrip()))
        edited[at : at + rng.randint(0, 1)] = [indent + _words(rng, 5)]
        old = chunk("\n".join(lines), kind=kind, language=language, count=COUNT)
        new = chunk("\n".join(edited), kind=kind, language=language, count=COUNT)
        assert changed_texts(old, new) <= 4
        local += _is_local(old, new, at + 1)
    assert local >= share * 200


def _is_local(old: list[Chunk], new: list[Chunk], line: int) -> bool:
    """Tell whether all chunks before the edited one and all after the next kept their text."""
    n = next(i for i, passage in enumerate(old) if passage.end_line >= line)
    before = [passage.text for passage in old[:n]]
    after = [passage.text for passage in old[n + 2 :]]
    texts = [passage.text for passage in new]
    return texts[: len(before)] == before and texts[len(texts) - len(after) :] == after


@given(section=st.integers(0, 9), line=st.integers(0, 11), words=st.lists(st.sampled_from(["a", "b"]), max_size=12))
@settings(max_examples=60, deadline=None)
def test_edit_of_a_section_leaves_all_others_alone(section: int, line: int, words: list[str]) -> None:
    """A heading further from the next one than neighbours are merged is a border whatever happens in its section."""
    sections = [
        [
            f"## Topic {n}",
            *(f"Line {i} of topic {n} with a few more words to say so it has some size." for i in range(12)),
        ]
        for n in range(10)
    ]
    old = chunk("\n".join(map("\n".join, sections)), kind="docs", language="markdown", count=COUNT)
    sections[section].insert(line + 1, " ".join(words))
    new = chunk("\n".join(map("\n".join, sections)), kind="docs", language="markdown", count=COUNT)
    assert changed_texts(old, new) <= 2
    assert {c.text for c in old if f"opic {section}" not in c.text} <= {c.text for c in new}


def test_same_text_gives_the_same_chunks() -> None:
    """Nothing depends on the process: no randomness, no hash seed, no order of sets."""
    text = "\n".join(_prose(random.Random(3)))
    spans = [(c.start_line, c.end_line) for c in chunk(text, kind="docs", language="text", count=COUNT)]
    assert spans == [(c.start_line, c.end_line) for c in chunk(text, kind="docs", language="text", count=COUNT)]
    assert len(spans) > 5
