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
    keys, sizes = tokens.grams()
    of_word = np.repeat(np.arange(len(sizes)), sizes)
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
    assert tokens.sizes.tokens.tolist() == [len(its_words) for its_words in found]
    assert tokens.text.tolist() == [place for place, its_words in enumerate(found) for _ in its_words]
    telling = [[word for word in its_words if word not in STOP_WORDS] for its_words in found]
    grams = [b"".join(map(gram_bytes, its_words)) for its_words in telling]
    assert tokens.sizes.telling.tolist() == list(map(len, telling))
    assert tokens.sizes.grams.tolist() == [len(its_grams) // 4 for its_grams in grams]
    assert grams_of(tokens) == b"".join(grams)


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
    assert analyse(["", "a b"]).sizes.tokens.tolist() == [0, 2]


def test_different_words_have_different_keys() -> None:
    """A hash of one letter is no small number."""
    letters = [chr(97 + i) for i in range(26)]
    assert len({word_key(letter) for letter in letters}) == len(letters)


def test_words_met_before_keep_their_numbers() -> None:
    """What was kept of a passage stays right while others are read."""
    lexicon = Lexicon()
    first, _ = lexicon.read(["a circuit breaker"])
    known = lexicon.keys(first).tolist()
    again, sizes = lexicon.read([" ".join(f"w{i}" for i in range(9_000)), "a circuit breaker"])
    assert again[-int(sizes[-1]) :].tolist() == first.tolist()
    assert lexicon.keys(first).tolist() == known
