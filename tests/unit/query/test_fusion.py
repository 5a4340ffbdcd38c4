"""Fusion of the lanes: united by text, scored by rank, by mix or by one lane alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.query.core.fusion import lexical_only, linear_mix, reciprocal_rank, unite, vector_only
from services.query.core.passages import Candidate, LaneHit, Standing
from tests.support.passages import make_candidate, make_passage

NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True)


def lane(names: list[str]) -> list[LaneHit]:
    return [LaneHit(passage=make_passage(name), score=1.0 / place) for place, name in enumerate(names, start=1)]


@settings(max_examples=100)
@given(lexical=NAMES, vector=NAMES)
def test_fused_scores_do_not_depend_on_which_lane_is_which(lexical: list[str], vector: list[str]) -> None:
    """Reciprocal rank is symmetric in its lanes."""
    score = reciprocal_rank()

    def scores(one: list[str], other: list[str]) -> dict[str, float]:
        return {c.passage.text: round(sum(score(c).values()), 12) for c in unite(lane(one), lane(other))}

    assert scores(lexical, vector) == scores(vector, lexical)


@settings(max_examples=100)
@given(lexical=NAMES, vector=NAMES)
def test_every_hit_is_one_candidate_with_its_ranks(lexical: list[str], vector: list[str]) -> None:
    """Nothing is lost or doubled, and each candidate knows its lanes."""
    candidates = {candidate.passage.text: candidate for candidate in unite(lane(lexical), lane(vector))}
    assert set(candidates) == set(lexical) | set(vector)
    for name, candidate in candidates.items():
        in_lexical, in_vector = candidate.lexical, candidate.vector
        assert (in_lexical.rank if in_lexical else 0) == (lexical.index(name) + 1 if name in lexical else 0)
        assert (in_vector.rank if in_vector else 0) == (vector.index(name) + 1 if name in vector else 0)
    origins = {candidate.origin for candidate in candidates.values() if candidate.lexical and candidate.vector}
    assert origins <= {"both"}


@pytest.mark.parametrize(
    ("lexical", "vector", "expected"), [(1, 1, 2 / 61), (1, None, 1 / 61), (2, 3, 1 / 62 + 1 / 63)]
)
def test_reciprocal_rank_is_the_formula_of_the_paper(lexical: int, vector: int | None, expected: float) -> None:
    """The sum of 1 / (60 + rank) over the lanes."""
    assert sum(reciprocal_rank()(make_candidate("a", lexical=lexical, vector=vector)).values()) == pytest.approx(
        expected
    )


def test_a_smaller_k_makes_first_ranks_count_more() -> None:
    """A request may bring its own k."""
    first, tenth = make_candidate("a", lexical=1), make_candidate("b", lexical=10)

    def ratio(k: int) -> float:
        score = reciprocal_rank(k=k)
        return score(first)["lexical"] / score(tenth)["lexical"]

    assert ratio(1) > ratio(60)


def test_alpha_chooses_between_words_and_meaning() -> None:
    """1 is lexical, 0 is semantic; scores are scaled to the best of their lane."""
    words = Candidate(passage=make_passage("words"), lexical=Standing(rank=1, score=17.0))
    meaning = Candidate(passage=make_passage("meaning"), vector=Standing(rank=1, score=0.4))
    candidates = [words, meaning]
    for alpha, best, other in ((1.0, words, meaning), (0.0, meaning, words)):
        score = linear_mix(candidates, alpha=alpha)
        assert sum(score(best).values()) == 1.0
        assert sum(score(other).values()) == 0.0


def test_a_lane_of_zeros_does_not_divide_by_zero() -> None:
    """A negative cosine or an empty lane counts 0."""
    opposite = Candidate(passage=make_passage("a"), vector=Standing(rank=1, score=-0.2))
    assert sum(linear_mix([opposite], alpha=0.5)(opposite).values()) == 0.0


def test_single_lane_scores_are_the_lanes_own() -> None:
    """Lexical is bm25, semantic is cosine."""
    candidate = make_candidate("a", lexical=1, vector=2)
    assert candidate.lexical is not None
    assert candidate.vector is not None
    assert lexical_only(candidate) == {"lexical": candidate.lexical.score}
    assert vector_only(candidate) == {"vector": candidate.vector.score}
