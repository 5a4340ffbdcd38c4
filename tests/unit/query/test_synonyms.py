"""What a team calls the same thing."""

import pytest

from services.query.core.synonyms import MAX_SYNONYMS, NO_SYNONYMS, synonym_table, synonyms_of
from shared.analyzer import query_terms, terms

TABLE = synonym_table({"disjuntor": ["circuit breaker"], "injeção": ["wiring", "DI"]})


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("disjuntor", "circuit breaker"),
        ("circuit breaker opens", "disjuntor"),
        ("INJECAO de dependências", "wiring di"),
        ("wiring", "injeção di"),
        ("circuit", ""),
        ("breaker circuit", ""),
        ("disjuntor circuit breaker", ""),
    ],
)
def test_synonyms_work_in_both_directions_and_across_accents(query: str, found: str) -> None:
    """MISSION 4.4; a phrase of several words must be asked side by side, and what was asked is not added again."""
    assert {synonym.term for synonym in synonyms_of(query_terms(query), TABLE)} == set(terms(found))


def test_a_synonym_stands_for_the_word_it_replaces() -> None:
    """It counts for that word, at a discount shared by the words of the synonym."""
    one, two = synonyms_of(query_terms("old disjuntor"), TABLE)
    assert one.item == two.item == 1
    assert one.share + two.share < 1.0


def test_one_question_gets_a_bounded_number_of_synonyms() -> None:
    """A configuration is a stranger's text."""
    table = synonym_table({"word": [f"other{i}x" for i in range(500)]})
    assert len(synonyms_of(query_terms("word"), table)) == MAX_SYNONYMS
    assert synonyms_of(query_terms("word"), NO_SYNONYMS) == ()
    assert synonym_table({"word": ["Word", "!"]}).groups == ()
