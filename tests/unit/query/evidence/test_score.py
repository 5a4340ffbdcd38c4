"""The sum of the evidence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import fields

from services.query.core.evidence.score import confidence, score
from services.query.core.evidence.weights import BY_FILE, BY_PASSAGE, GATHERED, NAMES, Weights
from tests.support.evidence import Candidate, evidence_on, scores_of

FILLER = ("roses need water", "the tide comes in", "bread and butter")


def test_every_measure_is_a_share() -> None:
    """One absolute scale; a joined name of four words may reach 1.5."""
    evidence = evidence_on(
        "how load_session opens the session store",
        [
            Candidate(
                "src/session.py", "def load_session(): open the session store", symbols=["load_session"], cosine=0.9
            ),
            Candidate("tests/test_session.py", "load_session opens", cosine=-0.2),
            Candidate("docs/session.md", "# Session store\nopens", kind="docs", heading="Session store"),
        ],
        others=FILLER,
    )
    measured = {**evidence.by_passage, **evidence.by_file}
    assert set(measured) >= {*BY_PASSAGE, *BY_FILE, *NAMES, *GATHERED}
    for name, shares in measured.items():
        assert shares.min() >= 0.0, name
        assert shares.max() <= (1.5 if name == "joined_name" else 1.0), name


@given(
    st.text(max_size=60),
    st.lists(st.tuples(st.sampled_from(["a.py", "b.md", "tests/c.py"]), st.text(max_size=60)), min_size=1, max_size=6),
)
@settings(max_examples=60)
def test_any_question_of_any_text_gives_finite_parts(query: str, texts: list[tuple[str, str]]) -> None:
    """Case 3: no query raises; parts add up to a number."""
    evidence = evidence_on(query, [Candidate(path, text, cosine=0.5) for path, text in texts])
    for parts in score(evidence):
        assert all(isinstance(value, float) and value == value and abs(value) < 100 for value in parts.values())  # noqa: PLR0124


def test_a_heading_of_one_word_defines_nothing() -> None:
    """What code defines is worth more than what a page is called or entitled."""
    text = "the router finds routes"
    evidence = evidence_on(
        "find the router",
        [
            Candidate("router.py", text, symbols=["router"]),
            Candidate("router.md", text, kind="docs", heading="Router"),
        ],
        others=FILLER,
    )
    for name in ("file_name_asked", "plain_definition"):
        of_code, of_prose = evidence.by_file[name]
        assert of_code > of_prose == 0.0, name


def test_a_passage_counts_with_the_best_of_its_file() -> None:
    """An answer spread over two passages of a file beats half an answer alone in another."""
    evidence = evidence_on(
        "circuit breaker",
        [
            Candidate("spread.py", "the circuit is closed"),
            Candidate("spread.py", "a breaker opens it"),
            Candidate("half.py", "the circuit is open"),
        ],
        others=FILLER,
    )
    first, second, half = scores_of(evidence)
    assert min(first, second) > half


def test_a_worse_passage_stands_below_its_files_best() -> None:
    """The best passage of a file loses nothing, the others a share of what they lack."""
    evidence = evidence_on(
        "circuit breaker", [Candidate("a.py", "circuit breaker"), Candidate("a.py", "circuit")], others=FILLER
    )
    best, worse = score(evidence)
    assert best.get("worse_passage", 0.0) == 0.0
    assert worse["worse_passage"] < 0.0
    equal = scores_of(evidence, worse_passage=0.0, later_passage=0.0)
    assert equal[0] == pytest.approx(equal[1])


def test_each_further_passage_of_a_file_stands_lower() -> None:
    """A flat list must not be one file's; the first passage loses nothing."""
    evidence = evidence_on(
        "circuit breaker", [Candidate("a.py", f"circuit breaker {i}") for i in range(3)], others=FILLER
    )
    first, second, third = (parts.get("later_passage", 0.0) for parts in score(evidence))
    assert first == 0.0 > second > third


def test_the_vector_counts_for_what_the_index_knows() -> None:
    """Words the index has never seen are nothing the vector can be trusted with."""
    known = evidence_on("circuit", [Candidate("a.py", "circuit", cosine=0.8)], others=FILLER)
    half = evidence_on("circuit xylophone", [Candidate("a.py", "circuit", cosine=0.8)], others=FILLER)
    assert known.by_passage["vector"][0] == pytest.approx(0.8)
    assert half.by_passage["vector"][0] < 0.4


def test_the_vector_puts_texts_in_order_where_no_word_is_known() -> None:
    """A question in words that the index has not has nothing else to be answered by."""
    near, far = score(
        evidence_on(
            "xylophone", [Candidate("a.py", "near", cosine=0.8), Candidate("b.py", "far", cosine=0.2)], others=FILLER
        )
    )
    assert sum(near.values()) > sum(far.values()) > 0.0


def test_the_vector_counts_little_where_code_is_asked_by_its_name() -> None:
    """Words find a name; the model was taught none. Who asks how to use it wants more than the place."""

    def of(query: str) -> float:
        evidence = evidence_on(query, [Candidate("a.py", "load_session opens a store", cosine=0.8)], others=FILLER)
        return float(evidence.by_passage["vector"][0])

    assert of("load_session opens store") == pytest.approx(0.25 * of("load session opens store"))
    assert of("how do I open load_session") > 0.4
    assert of("load_session") == pytest.approx(0.8)


def test_a_test_stands_below_what_it_tests() -> None:
    """Demotion is a factor on all evidence."""
    text = "def load_session(key): return store"
    evidence = evidence_on(
        "how load_session works",
        [
            Candidate("tests/test_store.py", text, symbols=["load_session"]),
            Candidate("src/store.py", text, symbols=["load_session"]),
        ],
        others=FILLER,
    )
    tested, tests = scores_of(evidence)[1], scores_of(evidence)[0]
    assert tests == pytest.approx(tested * (1 - Weights().tests), rel=0.3)
    assert scores_of(evidence, tests=0.0)[0] > tests


@pytest.mark.parametrize("name", [*BY_PASSAGE, *BY_FILE, *NAMES, *GATHERED])
def test_each_kind_of_evidence_can_be_left_out(name: str) -> None:
    """Ablation: a weight of 0 takes the part away and changes no ratio of the others."""
    evidence = evidence_on(
        "load user session from sessionStore",
        [
            Candidate(
                "src/session_store.py", "load user session", symbols=["sessionStore", "userSession", "user"], cosine=0.7
            ),
            Candidate("src/session_store.py", "session"),
            Candidate("src/other.py", "session"),
        ],
        others=FILLER,
    )
    (full, *_), (without, *_) = score(evidence), score(evidence, _with(name, 0.0))
    assert name in full
    assert name not in without
    scale = Weights().content / _with(name, 0.0).content
    assert {key: value * scale for key, value in full.items() if key != name} == pytest.approx(without)


def _with(name: str, value: float) -> Weights:
    return Weights(**{field.name: getattr(Weights(), field.name) for field in fields(Weights)} | {name: value})


def test_a_text_with_all_that_was_asked_scores_near_one() -> None:
    """One absolute scale: scores of different questions can be compared."""
    full = evidence_on("circuit breaker", [Candidate("x.py", "circuit breaker " * 40, cosine=1.0)], others=FILLER)
    none = evidence_on("circuit breaker", [Candidate("x.py", "rose garden", cosine=0.0)], others=FILLER)
    assert 0.8 < scores_of(full)[0] < 1.1
    assert scores_of(none)[0] < 0.05


def test_confidence_tells_an_answer_from_nothing_good() -> None:
    """Issue 6: a confidence beside the score, so that "nothing good here" can be told."""
    good = evidence_on("circuit breaker", [Candidate("breaker.py", "a circuit breaker")], others=FILLER)
    bad = evidence_on("tax on imported cheese", [Candidate("breaker.py", "a circuit breaker of cheese")], others=FILLER)
    assert confidence(scores_of(bad)[0]) < 0.5 < confidence(scores_of(good)[0])
