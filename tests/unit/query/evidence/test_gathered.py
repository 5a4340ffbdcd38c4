"""How much of a file was found."""

import numpy as np
import pytest

from services.query.core.evidence.gathered import MANY, many_passages
from tests.support.evidence import make_asked, make_corpus

CORPUS = make_corpus("a b c")
THING, USE = make_asked("retry policy", CORPUS), make_asked("how do I retry", CORPUS)


def test_a_file_with_more_of_its_passages_found_counts_more() -> None:
    """One says nothing; beyond twenty there is no more to say."""
    file_of = np.array([0] + [1] * 3 + [2] * MANY + [3] * 2 * MANY)
    one, few, many, more = many_passages(file_of, np.zeros(4), THING)
    assert one == 0.0 < few < many == more == pytest.approx(1.0)


def test_among_prose_it_counts_less_and_for_how_to_not_at_all() -> None:
    """Prose says what is asked in one place."""
    file_of = np.array([0, 1, 1])
    code, mixed, prose = (many_passages(file_of, np.array(kinds), THING)[1] for kinds in ([0, 0], [1, 0], [1, 1]))
    assert code == pytest.approx(2 * mixed)
    assert prose == 0.0
    assert not many_passages(file_of, np.zeros(2), USE).any()
