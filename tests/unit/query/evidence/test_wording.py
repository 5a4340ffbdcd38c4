"""How well the words of texts match those asked."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.query.core.evidence import wording
from services.query.core.evidence.asked import Asked
from services.query.core.evidence.tokens import Tokens, analyse
from services.query.core.synonyms import synonym_table
from tests.support.evidence import make_asked, make_corpus

OTHERS = ("roses need water", "the tide comes in", "bread and butter")


def stem_counts(tokens: Tokens, asked: Asked) -> wording.Counts:
    found = wording.found_among(tokens, tokens.stems, asked.stems)
    return wording.counts(found, tokens.texts, len(asked.stems.worth))


def telling(texts: Sequence[str], asked: Asked) -> wording.Telling:
    tokens = analyse(texts)
    return wording.telling(tokens, wording.found_among(tokens, tokens.stems, asked.stems))


def stem_shares(query: str, *texts: str) -> list[float]:
    corpus = make_corpus(*texts, *OTHERS)
    asked, tokens = make_asked(query, corpus), analyse(texts)
    counts = stem_counts(tokens, asked)
    return wording.bm25(
        counts, tokens.sizes.tokens.astype(np.float64), corpus.sample.mean_tokens, asked.stems.worth
    ).tolist()


def test_a_text_with_all_words_beats_one_with_some_and_one_with_none() -> None:
    """BM25 over stems: inflections count as the word."""
    both, one, none = stem_shares("opening circuits", "circuit opens", "circuit closes", "garden path")
    assert both > one > none == 0.0


def test_a_share_never_exceeds_the_best_possible() -> None:
    """All evidence is on one absolute scale."""
    (share,) = stem_shares("circuit breaker", "circuit breaker " * 500)
    assert 0.9 < share < 1.0


def test_unknown_words_count_against_a_text() -> None:
    """A question of which half is unknown is at best half answered."""
    known, half = stem_shares("circuit", "circuit")[0], stem_shares("circuit xylophone", "circuit")[0]
    assert half < known / 2


def test_a_rare_word_is_worth_more_than_a_common_one() -> None:
    """Inverse document frequency."""
    rare, common, _, _ = stem_shares("kumquat pie", "kumquat", "pie", "pie x", "pie y")
    assert rare > common


def test_pairs_need_their_words_side_by_side_in_order() -> None:
    """Stop words between them do not part a pair."""
    texts = ("rate limit", "rate of the limit", "limit rate", "rate per day and limit")
    asked = make_asked("rate limit", make_corpus(*texts))
    found = telling(texts, asked)
    assert wording.pair_counts(found, len(texts), asked)[:, 0].tolist() == [1.0, 1.0, 0.0, 0.0]


def test_a_pair_never_reaches_over_two_texts() -> None:
    """The texts lie in one array."""
    texts = ("the rate", "limit it")
    asked = make_asked("rate limit", make_corpus(*texts))
    assert not wording.pair_counts(telling(texts, asked), len(texts), asked).any()


def test_grams_find_what_stems_do_not() -> None:
    """4-grams: compounds and misspellings share most of theirs."""
    texts = ("authentification", "garden")
    asked = make_asked("authentication", make_corpus(*texts))
    near, far = wording.gram_counts(analyse(texts), asked.grams).sum(axis=1)
    assert near > 5 > far


def windows(query: str, *texts: str) -> list[float]:
    asked = make_asked(query, make_corpus(*texts, *OTHERS))
    return wording.window_share(telling(texts, asked), len(texts), asked).tolist()


def test_a_window_holds_words_that_are_near_each_other() -> None:
    """15 telling tokens."""
    far = " ".join(f"filler{chr(97 + i)}" for i in range(20))
    near, apart, alone = windows("circuit breaker", "circuit x breaker", f"circuit {far} breaker", "circuit")
    assert near == pytest.approx(1.0)
    assert near > apart
    assert apart == pytest.approx(max(apart, alone))


@given(st.lists(st.sampled_from("abcdxyz"), min_size=1, max_size=40))
@settings(max_examples=60)
def test_the_window_is_the_best_of_all_windows(letters: list[str]) -> None:
    """The bit masks give what trying every start gives."""
    names = [f"w{letter}" for letter in letters]
    corpus = make_corpus(" ".join(names), *OTHERS)
    asked = make_asked("wa wb wc wd", corpus)
    worth = dict(zip(("wa", "wb", "wc", "wd"), asked.stems.worth, strict=True))
    # a compound is a part and a whole: none here, so one token a name
    best = max(
        sum(worth.get(name, 0.0) for name in set(names[start : start + wording.WINDOW_TOKENS]))
        for start in range(len(names))
    )
    found = wording.window_share(telling([" ".join(names)], asked), 1, asked)[0]
    assert found == pytest.approx(best / asked.stems.total)


def test_a_synonym_counts_less_than_the_word() -> None:
    """`search.synonyms` at a discount."""
    texts = ("disjuntor", "breaker", "garden")
    asked = make_asked("disjuntor", make_corpus(*texts), synonym_table({"disjuntor": ["breaker"]}))
    word, synonym, neither = stem_counts(analyse(texts), asked)[:, 0]
    assert word > synonym > neither == 0.0


def test_nothing_asked_is_nothing_found() -> None:
    """No item, no division by zero."""
    asked = make_asked("?", make_corpus(*OTHERS))
    tokens = analyse(OTHERS)
    found = telling(OTHERS, asked)
    assert wording.window_share(found, 3, asked).tolist() == [0.0] * 3
    counts = stem_counts(tokens, asked)
    assert wording.bm25(counts, np.ones(3), 2.0, asked.stems.worth).tolist() == [0.0] * 3
    assert np.array_equal(wording.pair_counts(found, 3, asked), np.zeros((3, 0)))
