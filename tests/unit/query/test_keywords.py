"""Labels of a passage."""

from hypothesis import given, settings
from hypothesis import strategies as st

from services.query.core.keywords import MAX_KEYWORDS, keywords


def test_labels_are_what_a_person_would_write() -> None:
    """MISSION 4.5: topic words and pairs, names whole, no noise."""
    text = "Decisão: abrir o circuito após 5 falhas. O disjuntor (circuit-open) protege a fila; a fila não pode parar."
    found = keywords(text, "Resiliência > Disjuntor")
    assert {"disjuntor", "fila", "circuit-open"} <= set(found)


def test_code_gives_its_names_and_no_language_words() -> None:
    """Identifiers are kept as written; `def`, `self` and `return` say nothing."""
    text = "def open_reader(self, path):\n    return ReaderPool(path).lease()\n\ndef close_reader(self):\n    self.pool = None"
    found = keywords(text, "ReaderPool")
    assert found[0] == "ReaderPool"
    assert "open_reader" in found
    assert not {"def", "self", "return", "none"} & set(found)


def test_a_pair_that_comes_back_is_one_label() -> None:
    """Pairs of neighbours, and not their parts again."""
    found = keywords("The circuit breaker opens. A circuit breaker closes.")
    assert found[0] == "circuit breaker"
    assert not {"circuit", "breaker"} & set(found)


def test_ignored_words_are_left_out_whatever_their_case() -> None:
    """`ignoreKeywords` of the project."""
    assert "kumquat" not in keywords("Kumquat kumquat pie", ignored=["KUMQUAT"])


@settings(max_examples=100)
@given(text=st.text(max_size=300), heading=st.text(max_size=30))
def test_any_text_gives_few_short_labels(text: str, heading: str) -> None:
    """Never raises, never more than a handful, never a two-letter scrap, no label twice."""
    found = keywords(text, heading)
    assert len(found) <= MAX_KEYWORDS
    assert all(len(word) > 2 for word in found)
    assert len(set(found)) == len(found)


def test_a_name_and_its_private_twin_are_one_label() -> None:
    """`_lock` and `lock` look alike to a person."""
    found = keywords("def __init__(self, fast_path):\n    self._fast_path = fast_path", "Lock")
    assert found.count("fast_path") == 1


def test_names_of_the_outer_headings_do_not_crowd_the_text_out() -> None:
    """Release notes: each passage would be labelled "release, notes, updates"."""
    text = "The credential helper reads the keyring. A keyring that is locked stays locked; the helper asks again."
    found = keywords(text, "Git 2.13 Release Notes > Updates since 2.12")
    assert {"keyring", "locked"} <= set(" ".join(found).split())
    assert not {"release", "notes"} & set(found)


def test_words_that_hold_sentences_together_are_no_labels() -> None:
    """Nor are the roles and directives of markup: nobody files a note under "então" or "kbd"."""
    text = "Então você extremamente todas as vezes, então você extremamente todas as vezes. Thus several {kbd}`Ctrl+D` {exc}`EOF`."
    assert set(keywords(text + " O disjuntor.", "Disjuntor")) <= {"disjuntor", "ctrl", "EOF"}
