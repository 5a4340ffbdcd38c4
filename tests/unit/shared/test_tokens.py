"""Token counts by memo against the tokenizer itself."""

import json
import sysconfig
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared import tokens
from shared.model import TOKENIZER_PATH
from shared.token_budget import EMBED_SAFE_TOKENS, SPECIAL_TOKENS, TARGET_TOKENS
from shared.tokens import TokenCounter, load_tokenizer

TOKENIZER: Final = load_tokenizer(TOKENIZER_PATH)
COUNTER: Final = TokenCounter(TOKENIZER)

CUT_BY_PYTHON_ONLY: Final = "\x0b\x0c\x1c\x1d\x1e\x1f\x85"
MODEL_WHITESPACE: Final = " \t\n\r\u00a0\u1680\u2003\u2028\u2029\u202f\u3000"

awkward = st.sampled_from(
    [
        "[SEP]", "[CLS]", "[MASK]", "[UNK]", "[PAD]", "[SEP", "[", "]", "_", "##ing", "ação", "ac\u0327a\u0303o", "\u0301",
        "認証の仕組み", "끝말잇기", "🚀", "👩‍👩‍👧", "\ufeff", "\u200b", "\u00ad", "\ufffd", "\x00", "\u037e", "≠", "İ", "ß", "ﬁ", "x" * 99, "y" * 100,
        "z" * 101, "é" * 60, "getUserName", "DEC-0054", "...", "--", "«", "—", "“", "\U0001d518",
        *CUT_BY_PYTHON_ONLY, *MODEL_WHITESPACE,
    ]
)  # fmt: skip
texts = st.lists(st.one_of(awkward, st.text(max_size=12)), max_size=20).map("".join)


def exact(text: str) -> int:
    return len(TOKENIZER.encode(text).ids)


@settings(max_examples=150, deadline=None)
@given(texts)
def test_count_equals_the_tokenizers(text: str) -> None:
    """The count of any text, special tokens included, is the tokenizer's (RELIABILITY rule 9)."""
    assert COUNTER.count(text) == exact(text)
    assert COUNTER(text) == COUNTER.count_content(text) + SPECIAL_TOKENS


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("abcdefghijkmnorstu0129AZ", min_size=1, max_size=14), min_size=1, max_size=12))
def test_plain_words_are_cut_as_the_tokenizer_cuts_them(words: list[str]) -> None:
    """Words of minified code are counted without asking the tokenizer, and counted the same."""
    text = ".".join(words)
    assert COUNTER.count(text) == exact(text)


def test_every_word_of_the_vocabulary_counts_as_the_tokenizer_counts_it() -> None:
    """Each known piece, alone and glued to another, among them the longest."""
    pieces = sorted({word.removeprefix("##") for word in TOKENIZER.get_vocab() if word.isascii()})
    words = [left + right for left, right in zip(pieces, pieces[7:] + pieces[:7], strict=True)]
    encoded = TOKENIZER.encode_batch(words)
    assert [COUNTER.count(word) for word in words] == [len(encoding.ids) for encoding in encoded]


@settings(max_examples=100, deadline=None)
@given(texts, st.text(MODEL_WHITESPACE, min_size=1, max_size=3), texts)
def test_content_is_additive_at_whitespace(left: str, gap: str, right: str) -> None:
    """Chunkers may add up lines: a text's content tokens are those of its whitespace-separated parts."""
    whole = left + gap + right
    assert exact(whole) - SPECIAL_TOKENS == COUNTER.count_content(left) + COUNTER.count_content(right)


@pytest.mark.parametrize("between", ["a{}b", "{}", "9{}_", "é{}\u0301"])
def test_every_basic_character_counts_as_the_tokenizer_counts_it(between: str) -> None:
    """No character below U+3100 nor among the compatibility forms is cut or joined differently."""
    points = [*range(0x3100), *range(0xF900, 0x10000)]
    samples = [between.format(chr(point)) for point in points]
    encoded = TOKENIZER.encode_batch(samples)
    different = [
        hex(point)
        for point, sample, encoding in zip(points, samples, encoded, strict=True)
        if COUNTER.count(sample) != len(encoding.ids)
    ]
    assert different == []


def test_real_source_files_count_as_the_tokenizer_counts_them() -> None:
    """Whole modules and their lines agree with the tokenizer."""
    library = Path(sysconfig.get_paths()["stdlib"])
    for name in ("argparse.py", "textwrap.py", "tokenize.py", "html/entities.py", "re/_parser.py"):
        text = (library / name).read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        assert COUNTER.count(text) == exact(text)
        assert [COUNTER.count(line) for line in lines] == [len(e.ids) for e in TOKENIZER.encode_batch(lines)]


def test_lone_surrogates_are_counted_as_nothing() -> None:
    """Text the tokenizer would refuse is counted without an error (RELIABILITY B1)."""
    assert COUNTER.count("a\ud800b \udfff") == COUNTER.count("ab")


def test_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full memo is emptied and goes on counting exactly; long pieces are never kept."""
    monkeypatch.setattr(tokens, "MAX_PIECES", 50)
    monkeypatch.setattr(tokens, "MAX_WORDS", 20)
    counter = TokenCounter(TOKENIZER)
    text = " ".join(f"nomé{n}.part{n}" for n in range(500)) + " " + "w" * (tokens.MAX_KEY_CHARS + 1)
    assert counter.count(text) == exact(text)
    assert len(counter._pieces) <= 50
    assert len(counter._pieces._words) <= 20
    assert max(map(len, counter._pieces)) <= tokens.MAX_KEY_CHARS


def test_shipped_tokenizer_would_cut_but_counting_does_not() -> None:
    """The file ships with truncation at 128 tokens, which is switched off (case 11)."""
    shipped = json.loads(TOKENIZER_PATH.read_bytes())
    assert shipped["truncation"]["max_length"] == 128
    assert shipped["padding"] is not None
    assert COUNTER.count("word " * 1_000) == 1_000 + SPECIAL_TOKENS


def test_limits_fit_the_model() -> None:
    """A chunk at the limit is never cut by the model's 512 positions (MISSION 2.4)."""
    assert TARGET_TOKENS < EMBED_SAFE_TOKENS < 512
