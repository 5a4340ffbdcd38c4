"""The terms that index and query agree on."""

import unicodedata

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.analyzer import (
    MAX_MEMO_WORDS,
    MAX_QUERY_CHARS,
    MAX_QUERY_TERMS,
    MAX_TERM_CHARS,
    _indexed,
    fold,
    index_terms,
    plain_markdown,
    query_terms,
    skeleton,
    stem,
    stems,
    terms,
    words,
)
from shared.stopwords import STOP_WORDS


def found(query: str, text: str) -> bool:
    """Whether every term of the query is a term of the text."""
    asked = query_terms(query).terms
    return bool(asked) and set(asked) <= set(terms(text))


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("getUserName", ["get", "user", "name", "getusername"]),
        ("HTTPServer2", ["http", "server", "2", "httpserver2"]),
        ("apply_secrets", ["apply", "secrets", "applysecrets"]),
        ("__init__", ["init"]),
        ("sha256", ["sha", "256", "sha256"]),
        ("DEC-0054", ["dec", "0054"]),
        ("ÉcoleNormale", ["ecole", "normale", "ecolenormale"]),
        ("ВидПоиска", ["вид", "поиска", "видпоиска"]),
        ("autenticação", ["autenticacao"]),
        ("___", []),
    ],
)
def test_a_compound_gives_its_parts_and_its_whole(identifier: str, parts: list[str]) -> None:
    """Case 1: identifiers are found by their parts and as a whole."""
    assert words(identifier) == parts


@pytest.mark.parametrize(
    "query", ["DEC-0054", '"DEC-0054"', "rfc-0011", "foo-bar", "apply_secrets", "applySecrets", "__init__"]
)
def test_hyphen_and_underscore_are_no_operators(query: str) -> None:
    """Case 1."""
    text = "Decision DEC-0054 supersedes RFC-0011. foo-bar apply_secrets() __init__"
    assert found(query, text)


@pytest.mark.parametrize(
    "query", ["@nasa", "50%", "e=mc2", "[br]", "#tag", "it's", "gateway/run.py", "a,b", "a;b", "x\\y", "<x>"]
)
def test_punctuation_is_neither_operator_nor_obstacle(query: str) -> None:
    """Case 2."""
    assert found(query, "contact @nasa, why? 50% of e=mc2 [br] #tag it's gateway/run.py a,b a;b x\\y <x>")


@pytest.mark.parametrize(
    "query",
    ["status: done", 'timeout "error', "retry OR", "NEAR(", "(a", "a)", "*", "^", "", "   ", '"' * 9, "🚀", "(" * 2000],
)
def test_no_query_raises(query: str) -> None:
    """Case 3: a query without a searchable word says so."""
    asked = query_terms(query)
    assert bool(asked.terms) != any("no word" in note for note in asked.notes)


def test_nul_is_removed() -> None:
    """Case 3."""
    assert query_terms("tab\0le").terms == query_terms("table").terms


def test_a_long_query_is_cut_with_a_note() -> None:
    """Case 3: too long is cut, and said."""
    by_chars, by_words = query_terms("x" * 10_000), query_terms(" ".join(f"w{i}q" for i in range(700)))
    assert f"{MAX_QUERY_CHARS} characters" in by_chars.notes[0]
    assert len(by_words.terms) <= MAX_QUERY_TERMS
    assert f"{MAX_QUERY_TERMS} words" in by_words.notes[-1]


def test_quotes_make_a_phrase_and_bare_words_none() -> None:
    """Case 4."""
    assert query_terms("database migration").phrases == ()
    assert query_terms("the “rate of change” now").phrases == (tuple(terms("rate of change")),)


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("認証の仕組みを説明する", ["認証", "仕組み", "認証の仕組み", "説明する"]),
        ("請先執行合約轉換作業", ["合約轉換", "轉換"]),
        ("오늘은 끝말잇기를 한다", ["끝말잇기", "끝말", "잇기"]),
        ("重跑gen-itgc后", ["itgc", "重跑"]),
        ("ภาษาไทยง่าย", ["ภาษา", "ไทย"]),
    ],
)
def test_scripts_without_blanks_are_found_by_every_substring_of_two(text: str, queries: list[str]) -> None:
    """Case 5."""
    assert all(found(query, text) for query in queries)


@given(st.text(st.sampled_from("認証の仕組みを説明する끝말잇기"), min_size=2, max_size=12), st.data())
@settings(max_examples=50)
def test_any_substring_of_unspaced_text_is_found(text: str, data: st.DataObject) -> None:
    """Case 5: each substring of two or more characters."""
    start = data.draw(st.integers(0, len(text) - 2))
    end = data.draw(st.integers(start + 2, len(text)))
    assert found(text[start:end], "前" + text + "後")


@pytest.mark.parametrize("query", ["autenticação", "autenticacao", "AUTENTICAÇÃO", "Autenticação"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_case_and_normal_form_make_no_difference(query: str, form: str) -> None:
    """Case 6."""
    asked = unicodedata.normalize("NFC" if form == "NFD" else "NFD", query)
    for text in ("autenticação do usuário", "autenticacao"):
        assert found(asked, unicodedata.normalize(form, text))


@pytest.mark.parametrize("query", ["go", "id", "GO"])
def test_two_letter_words_still_work(query: str) -> None:
    """Case 6: CJK support costs no short word."""
    assert found(query, "id de go 認証")


@pytest.mark.parametrize(
    ("english", "portuguese"),
    [("architecture", "arquitetura"), ("photography", "fotografia"), ("specific", "específico"), ("method", "método")],
)
def test_cognates_share_a_term(english: str, portuguese: str) -> None:
    """One Latin or Greek stem is one term in both languages."""
    assert stem(english) == stem(fold(portuguese))


@pytest.mark.parametrize("word", ["is", "aa", "essa", "aeiou", "estt", "x"])
def test_a_skeleton_is_never_empty(word: str) -> None:
    """A term must remain of every word."""
    assert skeleton(word)


def test_stop_words_are_dropped_unless_nothing_is_left() -> None:
    """Question words of both languages say nothing, but a question of nothing else is still asked."""
    assert query_terms("how do I open the door").words == ("open", "door")
    assert query_terms("o que é o disjuntor").words == ("disjuntor",)
    assert query_terms("how does it").words == ("how", "does", "it")
    assert all(word == fold(word) for word in STOP_WORDS)


@given(st.text(st.characters(exclude_characters="\0"), max_size=80))  # a file with NUL is binary
@settings(max_examples=200)
def test_every_term_is_one_token_of_the_full_text_table(text: str) -> None:
    """The store must not cut or change what the analyzer made."""
    joined = index_terms(text)
    assert joined == " ".join(joined.split())
    assert stored_terms(joined) == sorted(set(joined.split()))
    assert set(query_terms(text).terms) <= set(joined.split())


def stored_terms(joined: str) -> list[str]:
    connection = apsw.Connection(":memory:")
    tokenizer = "unicode61 remove_diacritics 0 tokenchars '_'"
    connection.execute(f'CREATE VIRTUAL TABLE t USING fts5(body, content="", tokenize="{tokenizer}")')
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, row)")
    connection.execute("INSERT INTO t(rowid, body) VALUES(1, ?)", (joined,))
    return sorted(str(term) for (term,) in connection.execute("SELECT term FROM v"))


def test_a_very_long_word_is_cut_and_still_found() -> None:
    """Case 10: one line of minified or encoded text is no obstacle."""
    blob = "aB3" * 4_000
    assert all(len(term) <= MAX_TERM_CHARS for term in terms(blob))
    assert found(blob, blob + " needleXYZ")
    assert found("needleXYZ", blob + " needleXYZ")


def test_the_memo_is_bounded() -> None:
    """A tree of millions of distinct words costs no memory without end."""
    index_terms(" ".join(f"bounded{i}x" for i in range(MAX_MEMO_WORDS + 10)))
    assert len(_indexed) <= MAX_MEMO_WORDS


def test_wikilinks_become_their_text_and_lines_stay() -> None:
    """A vault's links read as a person reads them."""
    note = "see [[decisions/adr-7|the decision]]\n![[map.png]] and [[glossary#lane]]\n[not] [[a\nb]]"
    plain = plain_markdown(note)
    assert plain == "see the decision\nmap.png and glossary#lane\n[not] [[a\nb]]"


@given(st.lists(st.text(max_size=12) | st.text("aeioucksphtqwymé", max_size=9), max_size=30))
@settings(max_examples=200)
def test_many_words_together_have_the_terms_of_each_alone(texts: list[str]) -> None:
    """The evidence stems words by the thousand, the index one by one."""
    found = [word for text in texts for word in words(text)]
    assert stems(found) == list(map(stem, found))
