"""Which passage of a file decides what is said of it."""

from services.query.core.why_not import deciding
from shared.search_messages import LaneStanding, PassageStanding


def make_standing(start_line: int, *, words: float | None = None, meaning: float | None = None) -> PassageStanding:
    """Make a passage that no lane found, with its scores beyond the candidates."""
    lexical, vector = (None if score is None else LaneStanding(score=score, last=9.0) for score in (words, meaning))
    return PassageStanding(
        start_line=start_line,
        end_line=start_line + 9,
        has_vector=meaning is not None,
        lexical=lexical,
        vector=vector,
        outcome="not_found",
    )


def test_of_passages_that_were_not_found_the_nearest_decides() -> None:
    """Else a file is said to hold no word that was asked for, and a later passage of it does."""
    passages = [
        make_standing(1),
        make_standing(11, meaning=0.3),
        make_standing(21, words=1.2),
        make_standing(31, words=2),
    ]
    assert [one.start_line for one in deciding(passages)] == [31, 21, 11, 1]
