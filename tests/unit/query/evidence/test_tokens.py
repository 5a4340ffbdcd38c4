"""Texts as arrays of keys."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.query.core.evidence.lexicon import Lexicon, gram_bytes, term_key, word_grams, word_key
from services.query.core.evidence.tokens import Tokens, analyse
from shared.analyzer import stem, words
from shared.stopwords import STOP_WORDS

# Borders of words: case, digits, underscores, accents, and what is longer than a term or has more parts than are kept.
WORDS = st.text("aBcD09_ .éÉªø–\u0301…ŉĳ²ß", max_size=120)


def grams_of(tokens: Tokens) -> bytes:
    keys, of_word = tokens.grams()
    return b"".join(keys[of_word == word].tobytes() for word in tokens.word)


@given(st.lists(st.text(max_size=40) | WORDS, max_size=4))
@settings(max_examples=200, deadline=None)  # tables of powers are made once
@example(["HTTPServer HTTP_server x86_64 __a__b", "", "é" * 70 + "x" * 70, "aB" * 40])
def test_tokens_are_the_analyzers(texts: list[str]) -> None:
    """Index and evidence must agree on what a word is."""
    tokens = analyse(texts)
    found = [words(text) for text in texts]
    flat = [word for its_words in found for word in its_words]
    assert tokens.stems[tokens.word].tolist() == [term_key(stem(word)) for word in flat]
    assert tokens.words[tokens.word].tolist() == [word_key(word) for word in flat]
    assert tokens.chars[tokens.word].tolist() == [len(word) for word in flat]
    assert tokens.lengths.tolist() == [len(its_words) for its_words in found]
    assert tokens.text.tolist() == [place for place, its_words in enumerate(found) for _ in its_words]
    telling = [word for word in flat if word not in STOP_WORDS]
    assert tokens.telling.sum() == len(telling)
    assert grams_of(tokens) == b"".join(map(gram_bytes, telling))


@pytest.mark.parametrize("word", ["house", "go", "x", "abc", "認証", "ação", "straße", "вид"])
def test_a_word_has_a_key_for_each_of_its_grams(word: str) -> None:
    """Letters as they are where they are ASCII, so that making them costs nothing."""
    keys = np.frombuffer(gram_bytes(word), dtype="<u4")
    assert len(keys) == len(word_grams(word))
    assert len(set(keys.tolist())) == len(set(word_grams(word)))


def test_stop_words_are_known_by_their_key() -> None:
    """Pairs and windows leave them out."""
    assert analyse(["the house of cards"]).tells.tolist() == [False, True, False, True]


def test_no_text_is_no_token() -> None:
    """Nothing found is nothing to count."""
    assert len(analyse([]).word) == 0
    assert analyse(["", "a b"]).lengths.tolist() == [0.0, 2.0]


def test_different_words_have_different_keys() -> None:
    """A hash of one letter is no small number."""
    letters = [chr(97 + i) for i in range(26)]
    assert len({word_key(letter) for letter in letters}) == len(letters)


def test_what_is_known_of_words_is_bounded_and_outlives_the_forgetting() -> None:
    """A tree of millions of distinct words costs no memory without end."""
    lexicon = Lexicon(max_words=100)
    known, number, _ = lexicon.read([" ".join(f"w{chr(97 + i % 26)}x{i}" for i in range(200))])
    assert lexicon.size == 0
    assert number.max() < len(known.keys)
    again, _, sizes = lexicon.read(["one two"])
    assert (lexicon.size, len(again.keys), sizes.tolist()) == (2, 2, [2])
