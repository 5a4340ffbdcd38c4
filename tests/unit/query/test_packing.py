"""Excerpts of a page, within lines and tokens."""

from hypothesis import given, settings
from hypothesis import strategies as st

from services.query.core.excerpts import Source
from services.query.core.packing import Wanted, excerpts
from shared.excerpts import Budget
from shared.token_estimate import tokens

WORTH = {"circuit": 1.0}
UNLIMITED = 10**9


def wanted(*texts: str, most: int = UNLIMITED) -> list[Wanted]:
    """Make results of these texts."""
    return [Wanted(source=Source(text), most=most, beside=("src/a.py",)) for text in texts]


def cost(shown, per_result: int) -> int:
    return sum(per_result + tokens("src/a.py") + 2 + (tokens(one.text) if one else 0) for one in shown)


def passage(lines: int) -> str:
    return "\n".join(f"line number {number} of this passage" for number in range(lines))


PASSAGES = st.lists(st.integers(1, 40).map(passage), min_size=1, max_size=12)


@settings(max_examples=80)
@given(PASSAGES, st.integers(60, 3_000))
def test_an_answer_never_costs_more_than_its_budget(texts: list[str], limit: int) -> None:
    """Case 39: what is kept fits; the first result's place is kept whatever it costs."""
    shown = excerpts(wanted(*texts), WORTH, Budget(tokens=limit, per_result=20)).excerpts
    assert shown
    assert cost(shown, 20) <= limit or shown == (None,)


@settings(max_examples=80)
@given(PASSAGES, st.integers(60, 3_000))
def test_an_excerpt_is_shortened_before_a_result_is_left_out(texts: list[str], limit: int) -> None:
    """Whatever is left out did not fit with one line beside the shortest excerpts of those before."""
    budget = Budget(tokens=limit, per_result=20)
    shown = excerpts(wanted(*texts), WORTH, budget).excerpts
    if len(shown) < len(texts):
        alone = excerpts(wanted(*texts[: len(shown) + 1], most=1), WORTH)
        few = excerpts(wanted(*texts[: len(shown)], most=3), WORTH)
        assert cost((*few.excerpts, alone.excerpts[-1]), 20) > limit


def test_the_best_result_gets_its_text_before_the_others() -> None:
    """All three are there; the first is whole, the last has its few lines, and how many are shortened is said."""
    packed = excerpts(wanted(*[passage(30)] * 3), WORTH, Budget(tokens=700, per_result=20))
    heights = [one.end_line - one.start_line + 1 for one in packed.excerpts]
    assert heights[0] == 30
    assert heights == sorted(heights, reverse=True)
    assert 3 <= heights[2] < 30
    assert packed.shortened == sum(height < 30 for height in heights)


def test_with_room_for_all_nothing_is_cut() -> None:
    """A budget is a limit, not a size."""
    packed = excerpts(wanted(passage(30), passage(5)), WORTH, Budget(tokens=25_000))
    assert [one.text for one in packed.excerpts] == [passage(30), passage(5)]
    assert packed.shortened == 0


def test_limits_of_lines_hold_within_a_budget() -> None:
    """What the caller limits is not made longer because there is room, and is not called shortened."""
    packed = excerpts(wanted(passage(30), most=7), WORTH, Budget(tokens=25_000))
    assert packed.excerpts[0].end_line == 7
    assert packed.shortened == 0
    (place,) = excerpts(wanted(passage(30), most=0), WORTH).excerpts
    assert place is None


def test_what_is_kept_is_a_beginning() -> None:
    """A result that does not fit ends the page, however small the next ones are: pages leave no gap."""
    first, third = wanted("first", "third")
    second = Wanted(source=Source("second"), most=UNLIMITED, beside=("long/" * 500,))
    packed = excerpts([first, second, third], WORTH, Budget(tokens=500, per_result=20))
    assert [one.text for one in packed.excerpts] == ["first"]


def test_of_a_long_line_the_sentences_that_answer_are_shown() -> None:
    """Prose that is not wrapped: a paragraph on one line does not cost the whole budget, nor the result."""
    filler = "Nothing is said about it in this sentence, which goes on for a while. " * 12
    text = filler + "The circuit is told here, at last, in so many words, which is what was asked for. " + filler
    packed = excerpts(wanted(text.strip(), text.strip()), WORTH, Budget(tokens=400, per_result=20))
    assert len(packed.excerpts) == 2
    for one in packed.excerpts:
        assert "circuit" in one.text
        assert one.text in text
        assert (one.start_line, one.end_line, one.is_part) == (1, 1, True)


def test_few_long_lines_are_within_a_limit_of_lines() -> None:
    """A limit of lines never cuts a text of fewer lines, however many sentences it has."""
    text = "A sentence that is long enough to be a piece of its own, as it should be here. " * 30
    packed = excerpts(wanted(text, most=3), WORTH, Budget(tokens=25_000))
    assert [(one.text, one.is_part) for one in packed.excerpts] == [(text, False)]
