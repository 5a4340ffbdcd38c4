"""Passages to results."""

from services.query.core.grouping import group
from tests.support.passages import make_location, make_ranked


def test_a_file_stands_where_its_best_passage_stands() -> None:
    """MISSION 4.5: one result per file, best passage first."""
    ranked = [
        make_ranked(text, make_location(path), score=score)
        for text, path, score in (("1", "a", 9), ("2", "b", 8), ("3", "a", 7), ("4", "b", 6))
    ]
    results = group(ranked, "file")
    assert [(result.path, result.best.passage.text) for result in results] == [("a", "1"), ("b", "2")]
    assert [[hit.passage.text for hit in result.others] for result in results] == [["3"], ["4"]]


def test_the_flat_list_keeps_every_passage() -> None:
    """group=passage."""
    ranked = [make_ranked(text, make_location("a")) for text in "123"]
    assert [result.best for result in group(ranked, "passage")] == ranked
