"""Terms to a MATCH expression: nothing a user types is an operator."""

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.query.core.match import match_expression, quoted, telling_terms


@pytest.fixture(scope="module")
def table() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(body); INSERT INTO t VALUES('alpha beta')")
    return connection


@settings(max_examples=200)
@given(terms=st.lists(st.text(max_size=8).filter(lambda term: term.strip("\0") != ""), min_size=1, max_size=4))
def test_no_term_breaks_the_expression(table: apsw.Connection, terms: list[str]) -> None:
    """Facts M14 and M15: quotes doubled and NUL removed, every term is a string."""
    expression = match_expression(terms, [terms])
    assert table.execute("SELECT count(*) FROM t WHERE t MATCH ?", (expression,)).fetchall()


def test_phrases_are_required_and_any_term_is_enough() -> None:
    """Case 4: words are combined, a quoted part stays a phrase."""
    assert match_expression(("a", "b"), (("c", "d"),)) == '("c d") AND ("a" OR "b")'
    assert match_expression(("a", "b"), ()) == '"a" OR "b"'
    assert match_expression((), ()) == ""
    assert quoted('say "hi"\0') == '"say ""hi"""'


@pytest.mark.parametrize(
    ("chunks_with", "chunks", "kept"),
    [
        ({"self": 9_000, "circuit": 1_000}, 10_000, ("circuit",)),
        ({"self": 9_000, "circuit": 3}, 10_000, ("self", "circuit")),
        ({"self": 90_000, "circuit": 3}, 100_000, ("circuit",)),
        ({"self": 9_000}, 10_000, ("self", "circuit")),
        ({"self": 9_000, "circuit": 5_000}, 10_000, ("circuit",)),
        ({"self": 90, "circuit": 3}, 100, ("self", "circuit")),
    ],
    ids=[
        "enough of the rarer",
        "too few of the rarer",
        "few, but far too common",
        "rarer unknown",
        "both common",
        "small",
    ],
)
def test_a_common_term_is_dropped_only_beside_a_rarer_one(
    chunks_with: dict[str, int], chunks: int, kept: tuple[str, ...]
) -> None:
    """Facts E: the OR of common words is the whole cost, and a query of common words only must still be answered."""
    assert telling_terms(("self", "circuit"), chunks_with, chunks) == kept


def test_terms_together_bring_no_more_matches_than_an_answer_can_wait_for() -> None:
    """FACTS E: bm25 over every match is the whole cost; the commonest of many rare terms are left out."""
    chunks_with = {"rare": 1_200, "less": 9_000, "more": 12_000, "most": 40_000}
    assert telling_terms(tuple(chunks_with), chunks_with, 500_000) == ("rare", "less")
