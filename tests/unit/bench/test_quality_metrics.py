"""The scores of the quality bench."""

import pytest

from bench.quality.budget import Shown, recall_within, tokens_to_first
from bench.quality.metrics import Scores, is_same_file, mean_of_groups, scores


@pytest.mark.parametrize(
    ("ranked", "relevant", "expected"),
    [
        (["a", "b"], ["a"], Scores(1.0, 1.0, 1.0)),
        (["b", "a"], ["a"], Scores(0.6309, 0.5, 1.0)),
        (["x", "y"], ["a"], Scores(0.0, 0.0, 0.0)),
        (["a", "x", "b"], ["a", "b"], Scores(0.9197, 1.0, 1.0)),
        ([*"0123456789", "a"], ["a"], Scores(0.0, 0.0, 0.0)),
    ],
    ids=["first", "second", "missed", "two", "eleventh"],
)
def test_lists_are_scored_by_rank(ranked: list[str], relevant: list[str], expected: Scores) -> None:
    """NDCG, MRR and recall at 10."""
    found = scores(ranked, relevant)
    assert (found.ndcg, found.mrr, found.recall) == pytest.approx(
        (expected.ndcg, expected.mrr, expected.recall), abs=1e-4
    )


def test_a_path_may_be_the_end_of_another() -> None:
    """Sets name files from the top of the repository, or by their name."""
    assert is_same_file("src/a.py", "a.py")
    assert not is_same_file("src/ba.py", "a.py")


def test_repositories_count_alike_however_many_questions_they_have() -> None:
    """How figures over repositories are published."""
    items = [("big", Scores(1.0, 1.0, 1.0))] * 9 + [("small", Scores(0.0, 0.0, 0.0))]
    assert mean_of_groups(items).ndcg == 0.5


def test_tokens_are_read_in_order() -> None:
    """What an answer costs its reader."""
    shown = [Shown("x", 100), Shown("a", 300), Shown("b", 200)]
    assert tokens_to_first(shown, ["a"]) == 400
    assert tokens_to_first(shown, ["z"]) is None
    assert [recall_within(shown, ["a", "b"], budget) for budget in (399, 400, 600)] == [0.0, 0.5, 1.0]
