"""Texts as arrays of keys."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.query.core.evidence.tokens import (
    MAX_MEMO_WORDS,
    _tokens,
    analyse,
    gram_bytes,
    term_key,
    word_grams,
    word_key,
)
from shared.analyzer import terms, words
from shared.stopwords import STOP_WORDS


@given(st.lists(st.text(max_size=40), max_size=4))
@settings(max_examples=100)
def test_tokens_are_the_analyzers(texts: list[str]) -> None:
    """Index and evidence must agree on what a word is."""
    tokens, grams = analyse(texts)
    assert tokens.stems.tolist() == [term_key(term) for text in texts for term in terms(text)]
    assert tokens.words.tolist() == [word_key(word) for text in texts for word in words(text)]
    assert tokens.lengths.tolist() == [len(terms(text)) for text in texts]
    telling = [[word for word in words(text) if word not in STOP_WORDS] for text in texts]
    assert grams.keys.tobytes() == b"".join(gram_bytes(word) for text in telling for word in text)


@pytest.mark.parametrize("word", ["house", "go", "x", "abc", "認証", "ação", "straße", "вид"])
def test_a_word_has_a_key_for_each_of_its_grams(word: str) -> None:
    """Letters as they are where they are ASCII, so that making them costs nothing."""
    keys = np.frombuffer(gram_bytes(word), dtype="<u4")
    assert len(keys) == len(word_grams(word))
    assert len(set(keys.tolist())) == len(set(word_grams(word)))


def test_stop_words_are_known_by_their_key() -> None:
    """Pairs and windows leave them out."""
    tokens, _ = analyse(["the house of cards"])
    assert tokens.tells.tolist() == [False, True, False, True]


def test_no_text_is_no_token() -> None:
    """Nothing found is nothing to count."""
    tokens, grams = analyse([])
    assert len(tokens.stems) == len(grams.keys) == 0
    assert np.array_equal(analyse(["", "a b"])[0].lengths, [0.0, 2.0])


def test_the_memo_is_bounded() -> None:
    """A tree of millions of distinct words costs no memory without end."""
    analyse([" ".join(f"memo{i}x" for i in range(MAX_MEMO_WORDS + 5))])
    assert len(_tokens) <= MAX_MEMO_WORDS
