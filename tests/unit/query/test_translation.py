"""What the words of a question are called in the other language."""

import pytest

from services.query.core.question import Question, has_counterparts, with_counterparts, with_synonyms
from services.query.core.synonyms import MAX_SYNONYMS, SYNONYM_SHARE, synonym_table
from services.query.core.translation import counterparts_of, forms, respelt
from services.query.core.vocabulary import PAIRS
from shared.analyzer import query_terms, stem, words


def asked(text: str) -> Question:
    return Question(text=text, terms=query_terms(text))


def found(text: str, *known: str) -> set[str]:
    """The terms looked for beside those asked, in an index with these words."""
    chunks = {stem(word): 10 for word in known}
    return {one.term for one in with_counterparts(asked(text), lambda term: chunks.get(term, 0)).synonyms}


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("abrir arquivo", {"open", "file"}),
        ("os arquivos abertos pelos servidores", {"file", "server"}),
        ("filas de mensagens", {"queue", "message"}),
        ("tempo limite da conexão", {"timeout", "time", "connection"}),
        ("como validar a opção", {"option"}),
        ("variáveis e versões", {"variable", "version"}),
    ],
)
def test_a_portuguese_question_asks_for_the_english_words(query: str, meant: set[str]) -> None:
    """MISSION 4.4: our users write Portuguese, and code is English."""
    assert found(query, *meant) == set(map(stem, meant))


@pytest.mark.parametrize("query", ["queue a file", "read the value of an option", "how to configure the server"])
def test_an_english_question_over_english_text_asks_for_nothing_else(query: str) -> None:
    """A stem that is also that of a Portuguese word ("fila", file) is no Portuguese word."""
    assert found(query, "file", "queue", "value", "option", "configure", "server", "read", "fila", "valor") == set()


def test_an_english_question_over_portuguese_notes_asks_for_their_words() -> None:
    """Agents ask in English what a team wrote in Portuguese."""
    assert found("password validation", "senha", "validacao") == {stem("senha"), stem("validacao")}


def test_a_word_that_the_index_knows_better_stands_alone() -> None:
    """In a Portuguese tree "arquivo" means what it says."""
    chunks = {stem("arquivo"): 10, stem("file"): 9}
    assert with_counterparts(asked("arquivo"), lambda term: chunks.get(term, 0)).synonyms == ()


def test_what_the_team_says_of_a_word_wins() -> None:
    """`search.synonyms` is the team's word."""
    ours = with_synonyms(asked("fila"), synonym_table({"fila": ["row"]}))
    assert with_counterparts(ours, lambda _: 10) == ours


def test_a_counterpart_stands_for_its_word_at_a_discount() -> None:
    """The word itself is always the better witness."""
    chunks = {stem("password"): 7}
    (one,) = with_counterparts(asked("old senha"), lambda term: chunks.get(term, 0)).synonyms
    assert (one.term, one.item, one.share, one.chunks) == (stem("password"), 1, SYNONYM_SHARE, 7)


def test_a_long_question_gets_a_bounded_number_of_counterparts() -> None:
    """Each is another term to look for."""
    ours = [entry.partition(":")[0].split(",")[0] for entry in PAIRS.split(";")]
    question = asked(" ".join(ours[:60]))
    assert len(counterparts_of(question.terms)) > MAX_SYNONYMS
    assert len(with_counterparts(question, lambda term: int(term not in question.terms.terms)).synonyms) == MAX_SYNONYMS


def test_nothing_is_looked_up_for_words_without_counterpart() -> None:
    """The index is opened once more only where there is something to ask it."""
    assert not has_counterparts(asked("kumquat pie"))
    assert has_counterparts(asked("senha"))


def test_every_pair_has_one_english_word_that_its_portuguese_words_do_not_meet() -> None:
    """An entry that says nothing new is left out; a counterpart of several words could not stand for one."""
    for entry in PAIRS.split(";"):
        ours, _, theirs = (part.split(",") for part in entry.partition(":"))
        assert all(len(words(one)) == 1 for one in theirs), entry
        assert {stem(*words(one)) for one in theirs} != {stem(words(one)[0]) for one in ours if len(words(one)) == 1}


def test_plurals_and_common_forms_of_verbs_are_known() -> None:
    """Who asks does not ask in infinitives."""
    assert {"gera", "gerado", "gerando"} <= forms("gerar")
    assert {"ambiente", "ambientes"} <= forms("ambiente")
    assert respelt("dependencias") == "dependence"
    assert respelt("cao") == "cao"
