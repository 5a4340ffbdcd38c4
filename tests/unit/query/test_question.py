"""Requests to questions."""

import pytest

from services.query.core.question import clean, question_of
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId
from shared.messages import SearchRequest

INSTANCE = InstanceId("0" * 16)


@pytest.mark.parametrize(
    "fields",
    [{"top": 0}, {"top": 101}, {"offset": -1}, {"k": 0}, {"alpha": 1.5}, {"path_glob": "["}],
    ids=str,
)
def test_a_number_out_of_range_is_refused(fields: dict[str, object]) -> None:
    """A bad parameter is an error with its code."""
    with pytest.raises(KxError) as error:
        question_of(SearchRequest(instance=INSTANCE, query="x", **fields))  # type: ignore[arg-type]
    assert error.value.code == ErrorCode.BAD_REQUEST


@pytest.mark.parametrize("query", ["", "   ", '"' * 9, "*", "^", "()"], ids=repr)
def test_a_query_without_a_word_is_no_question_and_says_so(query: str) -> None:
    """Case 3: no searchable token is said, not searched."""
    question = question_of(SearchRequest(instance=INSTANCE, query=query))
    assert not question.is_searchable
    assert question.terms.notes


def test_nul_and_lone_surrogates_are_removed() -> None:
    """Case 3: NUL is removed, and what is no text cannot travel."""
    assert clean("a\0b\ud800c") == "abc"
