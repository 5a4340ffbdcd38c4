"""Results to hits within a message."""

from services.query.core.answer import hits_of, within_budget
from services.query.core.grouping import as_result
from tests.support.passages import make_location, make_ranked


def test_a_hit_says_where_and_why() -> None:
    """Path, lines, spans of the same file, other places, rounded score, parts only when asked."""
    best = make_ranked("kumquat", make_location("a.md", start_line=4), score=1 / 3, elsewhere=(make_location("b.md"),))
    others = [make_ranked(str(line), make_location("a.md", start_line=line)) for line in (7, 8, 9)]
    result = as_result([best, *others])
    (hit,) = hits_of([result], ignored_keywords=(), explain=False)
    (explained,) = hits_of([result], ignored_keywords=(), explain=True)
    assert (hit.path, hit.start_line, hit.score) == ("a.md", 4, 0.333333)
    assert [span.start_line for span in hit.spans] == [7, 8]
    assert [place.path for place in hit.also] == ["b.md"]
    assert (hit.parts, explained.parts) == ({}, {"lexical": 0.333333})


def test_an_answer_is_cut_at_its_budget_and_never_empty() -> None:
    """Case 39: what does not fit is left out from the end; one result is always shown."""
    results = [as_result([make_ranked("x" * 1_000)]) for _ in range(5)]
    hits = hits_of(results, ignored_keywords=(), explain=False)
    assert 1 <= len(within_budget(hits, 4_000)) < 5
    assert len(within_budget(hits, 10)) == 1
    assert within_budget(hits) == hits
