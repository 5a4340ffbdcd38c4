"""Choosing by sketches which vectors are worth comparing."""

from __future__ import annotations

import numpy as np
import pytest

from services.query.core.sketch import nearest, sketch
from shared.vectors import EmbeddingMatrix
from tests.support.vectors import like_sentences

DEPTH, COMPARED = 100, 400


@pytest.fixture(scope="module")
def matrix() -> EmbeddingMatrix:
    return like_sentences(20_000, seed=1)


def test_the_nearest_hundred_of_twenty_thousand_are_among_the_chosen(matrix: EmbeddingMatrix) -> None:
    """RELIABILITY L8: 0.99 of the nearest hundred, and the nearest ten without exception."""
    sketches = sketch(matrix)
    shares = []
    for question in like_sentences(20, seed=2):
        exact = np.argsort(-(matrix @ question))[:DEPTH]
        chosen = set(nearest(sketches, question, COMPARED).tolist())
        assert chosen.issuperset(exact[:10].tolist())
        shares.append(len(chosen.intersection(exact.tolist())) / DEPTH)
    assert np.mean(shares) >= 0.99


def test_a_vector_is_nearest_to_itself(matrix: EmbeddingMatrix) -> None:
    """Whatever the looks leave out, it is not the text that was asked for."""
    sketches = sketch(matrix)
    for place in range(0, len(matrix), 997):
        assert place in nearest(sketches, matrix[place], 10)


def test_only_vectors_that_may_be_chosen_are(matrix: EmbeddingMatrix) -> None:
    """A filter is applied before the choice, so that it takes no places away."""
    among = np.arange(0, len(matrix), 7)
    chosen = nearest(sketch(matrix), matrix[3], COMPARED, among)
    assert len(chosen) == COMPARED
    assert set(chosen.tolist()) <= set(among.tolist())


@pytest.mark.parametrize("count", [5, 6, 1_000], ids=["as many", "one more", "many more"])
def test_where_few_are_there_all_are_chosen(count: int) -> None:
    """Nothing is left out that could be compared."""
    few = like_sentences(5, seed=3)
    assert sorted(nearest(sketch(few), few[0], count).tolist()) == [0, 1, 2, 3, 4]
    assert nearest(sketch(few), few[0], count, np.array([4, 2])).tolist() == [4, 2]


def test_of_equal_vectors_as_many_as_wanted_are_chosen() -> None:
    """Thousands of texts that say the same overflow nothing."""
    same = np.repeat(like_sentences(1, seed=4), 9_000, axis=0)
    assert len(nearest(sketch(same), same[0], COMPARED)) == COMPARED
