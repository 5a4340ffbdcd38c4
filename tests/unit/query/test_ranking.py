"""Candidates to one ranked list."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.query.core.passages import Candidate
from services.query.core.ranking import RankingRule, effective_mode, rank
from services.query.core.recency import DAY_NS, Recency
from shared.messages import Mode
from tests.support.passages import make_candidate, make_location

NO_RECENCY = Recency(epsilon=0.0, reference_ns=0)
RANKS = st.one_of(st.none(), st.integers(1, 100))


@settings(max_examples=60)
@given(
    ranks=st.lists(st.tuples(RANKS, RANKS).filter(any), min_size=1, max_size=8),
    mode=st.sampled_from(["auto", "rrf", "hybrid", "semantic", "lexical"]),
    shuffle=st.randoms(use_true_random=False),
)
def test_the_order_is_total_and_the_parts_add_up(
    ranks: list[tuple[int | None, int | None]], mode: Mode, shuffle: object
) -> None:
    """The result does not depend on the order of the candidates, and each score is the sum of its named parts."""
    candidates = [make_candidate(f"{place:02}", lexical=a, vector=b) for place, (a, b) in enumerate(ranks)]
    shuffled = list(candidates)
    shuffle.shuffle(shuffled)  # type: ignore[attr-defined]
    rule = RankingRule(mode=mode, recency=Recency(epsilon=0.03, reference_ns=DAY_NS), weight_of=lambda _: 1.5)
    assert rank(candidates, rule) == rank(shuffled, rule)
    for ranked in rank(candidates, rule):
        assert sum(ranked.parts.values()) == pytest.approx(ranked.score)


def test_equal_scores_are_ordered_by_path_and_place() -> None:
    """Byte-identical answers need a total order."""
    places = [make_location("b.md"), make_location("a.md", ordinal=2), make_location("a.md", ordinal=1)]
    candidates = [make_candidate(str(number), place, lexical=1) for number, place in enumerate(places)]
    ranked = rank(candidates, RankingRule(mode="rrf", recency=NO_RECENCY))
    assert [hit.passage.at.order for hit in ranked] == [("a.md", 1), ("a.md", 2), ("b.md", 0)]


def test_recency_breaks_ties_and_never_lifts_the_irrelevant() -> None:
    """MISSION 4.3: about two ranks."""
    new, old = make_location("z.md", mtime_ns=100 * DAY_NS), make_location("a.md", mtime_ns=-(10**6) * DAY_NS)
    rule = RankingRule(mode="rrf", recency=Recency(epsilon=0.03, reference_ns=100 * DAY_NS))

    def first(new_rank: int, old_rank: int) -> str:
        candidates = [make_candidate("n", new, lexical=new_rank), make_candidate("o", old, lexical=old_rank)]
        return rank(candidates, rule)[0].passage.at.path

    assert first(new_rank=2, old_rank=1) == "z.md"
    assert first(new_rank=9, old_rank=1) == "a.md"


def test_a_heavier_source_comes_first() -> None:
    """MISSION 1: the weight of the source multiplies the score."""
    candidates = [make_candidate("a", lexical=1), make_candidate("b", lexical=2)]
    rule = RankingRule(mode="rrf", recency=NO_RECENCY, weight_of=lambda path: 2.0 if path == "b.md" else 1.0)
    assert rank(candidates, rule)[0].passage.text == "b"


@pytest.mark.parametrize(
    ("asked", "has_vector", "has_lexical", "used"),
    [
        ("semantic", False, True, "lexical"),
        ("hybrid", False, True, "lexical"),
        ("hybrid", True, False, "semantic"),
        ("lexical", True, False, "semantic"),
        ("auto", False, True, "auto"),
        ("semantic", True, False, "semantic"),
    ],
)
def test_a_mode_falls_back_to_the_lane_that_answered(
    asked: Mode, has_vector: bool, has_lexical: bool, used: Mode
) -> None:
    """MISSION 4.2: without vectors each mode falls back to lexical."""
    assert effective_mode(asked, has_vector=has_vector, has_lexical=has_lexical) == used


def test_semantic_leaves_out_what_only_words_found() -> None:
    """A mode of one lane shows that lane."""
    candidates: list[Candidate] = [make_candidate("a", lexical=1), make_candidate("b", vector=5)]
    ranked = rank(candidates, RankingRule(mode="semantic", recency=NO_RECENCY))
    assert [hit.passage.text for hit in ranked] == ["b"]


def test_finding_much_of_a_file_makes_an_answer_no_surer() -> None:
    """Many weak passages put a file before others; they are weak all the same."""
    parts = {"one": {"words": 0.2}, "many": {"words": 0.2, "many_passages": 0.05}}
    candidates = [make_candidate(name, lexical=1) for name in parts]
    rule = RankingRule(mode="auto", recency=NO_RECENCY, by_evidence=lambda found: parts[found.passage.text])
    many, one = rank(candidates, rule)
    assert many.passage.text == "many"
    assert many.confidence == pytest.approx(one.confidence)
