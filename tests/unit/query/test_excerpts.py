"""Which lines of a text are shown."""

from hypothesis import given
from hypothesis import strategies as st

from services.query.core.excerpts import MAX_PIECE_CHARS, Ruler, Source, best_run, pair_key, pieces_of, run_worth
from shared.analyzer import terms

WORTH = {"circuit": 3.0, "garden": 2.0, "open": 1.0}

LINES = st.lists(
    st.sampled_from(["", "plain", "circuit", "garden", "open", "circuit open", "  garden circuit", "ação 認証"]),
    min_size=1,
    max_size=30,
)


def excerpt(text: str, most: int, start_line: int = 1):
    """Take one excerpt."""
    return Ruler(Source(text, start_line), WORTH).excerpt(most)


@given(LINES, st.integers(1, 12), st.integers(1, 900))
def test_an_excerpt_is_the_lines_it_names(lines: list[str], most: int, start_line: int) -> None:
    """Contiguous, within the limit, inside the text, and byte for byte what stands there."""
    found = excerpt("\n".join(lines), most, start_line)
    first, last = found.start_line - start_line, found.end_line - start_line
    assert 0 <= first <= last < len(lines)
    assert last - first < most
    assert found.text == "\n".join(lines[first : last + 1])


@given(LINES, st.integers(1, 12))
def test_no_other_run_of_lines_is_worth_more(lines: list[str], height: int) -> None:
    """Compared with every run there is."""
    having = [[term for term in WORTH if term in line] for line in lines]
    start = best_run(having, WORTH, height)

    def worth_at(place: int) -> float:
        run = having[place : place + height]
        return run_worth({term: sum(term in line for line in run) for term in WORTH}, WORTH)

    assert worth_at(start) >= max(worth_at(place) for place in range(max(1, len(lines) - height + 1))) - 1e-9


@given(st.integers(0, 40), st.integers(1, 15))
def test_the_evidence_stands_in_the_middle(place: int, most: int) -> None:
    """One telling line among plain ones has as many lines before as behind it, where the text has them."""
    lines = [f"plain {number}" for number in range(41)]
    lines[place] = "the circuit"
    found = excerpt("\n".join(lines), most)
    before, behind = place + 1 - found.start_line, found.end_line - place - 1
    at_an_edge = found.start_line == 1 or found.end_line == len(lines)
    assert before + behind + 1 == most
    assert abs(before - behind) <= 1 or at_an_edge


def test_two_words_beat_one_word_repeated() -> None:
    """What answers has all that was asked; a word that comes back on every line is a list of imports."""
    lines = ["import circuit"] * 3 + ["plain"] * 4 + ["circuit", "", "garden"]
    found = excerpt("\n".join(lines), 3)
    assert (found.start_line, found.end_line) == (8, 10)


def test_words_side_by_side_beat_the_same_words_apart() -> None:
    """Who asks for a name asks for it whole."""
    lines = ["circuit", "open", "plain", "plain", "plain", 'STATE = "circuit-open"', "plain"]
    worth = {**WORTH, pair_key("circuit", "open"): 1.0}
    found = Ruler(Source("\n".join(lines)), worth).excerpt(2)
    assert "circuit-open" in found.text


def test_blank_lines_do_not_begin_or_end_an_excerpt() -> None:
    """A line spent on nothing is no evidence."""
    found = excerpt("a\n\n\ncircuit\n\n\nb", 5)
    assert (found.start_line, found.end_line, found.text) == (4, 4, "circuit")


def test_the_scheme_of_an_address_is_no_evidence() -> None:
    """Asked about HTTPS, a list of links is not what answers."""
    lines = ["How HTTPS is set up.", *["plain"] * 20, "https://a.example https://b.example", "https://c.example"]
    found = Ruler(Source("\n".join(lines)), {terms("https")[0]: 1.0}).excerpt(2)
    assert found is not None
    assert found.start_line == 1


def test_without_any_word_the_beginning_is_shown() -> None:
    """Found by meaning alone, a passage is shown from its heading or signature on."""
    assert excerpt("def f():\n  one\n  two\n  three", 2).text == "def f():\n  one"


def test_what_fits_is_shown_as_it_is_and_no_lines_are_nothing() -> None:
    """0 gives the place alone."""
    assert excerpt("\na\n", 3).text == "\na\n"
    assert excerpt("a", 0) is None


@given(st.text(st.sampled_from("ab .!?\n 認。"), max_size=1_200), st.integers(1, 6))
def test_a_part_of_a_long_line_is_exactly_that(text: str, most: int) -> None:
    """Pieces divide a text without loss; an excerpt is a part of the lines it names and says so."""
    pieces = list(pieces_of(text, is_fine=True))
    by_line = [
        [text[one.start : one.end] for one in pieces if one.line == line] for line in range(text.count("\n") + 1)
    ]
    assert "\n".join("".join(parts) for parts in by_line) == text
    assert all(one.end - one.start <= MAX_PIECE_CHARS for one in pieces)
    found = Ruler(Source(text, 7), WORTH, is_fine=True).excerpt(most)
    lines = "\n".join(text.split("\n")[found.start_line - 7 : found.end_line - 6])
    assert found.text in lines
    assert found.is_part or found.text == lines
