"""Equal text once, all its places."""

from hypothesis import given
from hypothesis import strategies as st

from services.query.core.dedup import fold_equal_texts
from tests.support.passages import make_location, make_ranked


def test_equal_texts_under_different_headings_are_one_hit() -> None:
    """Case 33: the best stays, the places of the others are named in path order."""
    best = make_ranked("same", make_location("m.md"), score=2.0, heading="one", elsewhere=(make_location("z.md"),))
    other = make_ranked("same", make_location("b.md"), score=1.0, heading="two", elsewhere=(make_location("a.md"),))
    (folded,) = fold_equal_texts([best, other])
    assert folded.score == 2.0
    assert folded.passage.at.path == "m.md"
    assert [place.path for place in folded.passage.elsewhere] == ["a.md", "b.md", "z.md"]


@given(st.lists(st.sampled_from("abc"), max_size=8))
def test_folding_twice_is_folding_once_and_order_is_kept(texts: list[str]) -> None:
    """Idempotent, and the order of first appearance."""
    ranked = [make_ranked(text, make_location(f"{place}.md")) for place, text in enumerate(texts)]
    once = fold_equal_texts(ranked)
    assert [hit.passage.text for hit in once] == list(dict.fromkeys(texts))
    assert fold_equal_texts(once) == once
