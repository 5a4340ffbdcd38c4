"""Passages to results."""

from msgspec.structs import replace

from services.query.core.grouping import further_spans, group
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


def test_overlapping_passages_of_a_file_are_one_span() -> None:
    """What lies on the lines shown is not told again, what overlaps is joined, and no more than two are named."""
    lines = [(10, 20), (12, 12), (30, 40), (38, 45), (20, 22), (60, 61), (44, 50)]
    hits = [
        make_ranked(str(place), replace(make_location("a", start_line=start), end_line=end), score=9.0 - place)
        for place, (start, end) in enumerate(lines)
    ]
    spans = further_spans(hits)
    assert [(span.start_line, span.end_line, span.score) for span in spans] == [(30, 50, 7.0), (20, 22, 5.0)]
