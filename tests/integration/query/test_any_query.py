"""Whatever is typed: found, or said why not, and nothing is harmed (rows B1, B10, A8; cases 1 to 6)."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path

import apsw
import numpy as np
import pytest

from shared.errors import ErrorCode, KxError
from tests.support.index_builder import BuiltChunk
from tests.support.query_bench import Asker, QueryBench

pytestmark = pytest.mark.anyio

LITERALS = "contact @nasa, why? 50% of e=mc2 [br] #tag it's gateway/run.py user@host a,b a;b x\\y <x>"


@pytest.fixture
def bench(tmp_path: Path) -> QueryBench:
    bench = QueryBench(tmp_path)
    with bench.index() as index:
        index.add("d.md", "Decision DEC-0054 supersedes RFC-0011.", "the foo-bar and apply_secrets of __init__")
        index.add("a.txt", LITERALS)
        index.add("migration.md", "the migration of the customer database runs on Sundays")
        index.add("ja.md", "認証の仕組みを説明する").add("zh.md", "合約轉換").add("ko.md", "끝말잇기")
        index.add("nfc.md", "autenticação do usuário").add("nfd.md", "autenticac\u0327a\u0303o dela")
        index.add("plain.md", "autenticacao").add("short.md", "id de go")
    return bench


@pytest.fixture
async def ask(bench: QueryBench) -> AsyncIterator[Asker]:
    async with bench.serving() as asker:
        yield asker


@pytest.mark.parametrize("query", ["DEC-0054", '"DEC-0054"', "rfc-0011", "foo-bar", "apply_secrets", "__init__"])
async def test_hyphens_and_underscores_are_no_operators(ask: Asker, query: str) -> None:
    """Case 1."""
    assert await ask.paths(query, mode="lexical") == ["d.md"]


@pytest.mark.parametrize("query", LITERALS.split())
async def test_every_token_of_a_text_finds_it(ask: Asker, query: str) -> None:
    """Case 2: no character makes the lane fail; what has no letter of its own is said to have no word."""
    reply = await ask.search(query, mode="lexical")
    assert reply.lanes["lexical"].state == "ok"
    assert "a.txt" in [hit.path for hit in reply.results]


HOSTILE = [
    "status: done",
    'timeout "error',
    "retry OR",
    "NEAR(",
    "(a",
    "a)",
    "*",
    "^",
    "",
    "   ",
    '"' * 9,
    "a\0b",
    "🚀",
    "x" * 10_000,
    " ".join(f"word{number}" for number in range(10_000)),
    "(" * 2_000 + ")" * 2_000,
    "AND OR NOT",
    "body: x",
    "{a b}: c",
    "-foo",
    "+foo",
    "a NEAR/2 b",
    "\u202ereversed",
    "a" * 300 + '"*',
]


@pytest.mark.parametrize("query", HOSTILE, ids=lambda query: repr(query[:20]))
async def test_no_text_raises(ask: Asker, query: str) -> None:
    """Case 3: no exception; a query with no searchable word says so, too long is cut with a note."""
    reply = await ask.search(query)
    states = {name: report.state for name, report in reply.lanes.items()}
    if states["lexical"] == "ok":
        assert states["vector"] == "ok"
        assert len(query) < 5_000 or any("cut" in note for note in reply.notes)
    else:
        assert states == {"vector": "off", "lexical": "off"}
        assert reply.notes


async def test_random_queries_never_raise_and_never_lose_a_planted_word(bench: QueryBench) -> None:
    """Row B1, short form."""
    rng = random.Random(7)
    marks = ['"', "'", "(", ")", "*", "^", ":", "-", "\0", "🚀", "[", "]", "%", "\\", "{", "}", "+", "~", "/", ";"]
    words = ["OR", "AND", "NOT", "NEAR", "NEAR(", "é", *marks[1:]]  # between two quotes they would be a phrase
    planted = [f"zq{number}xw" for number in range(40)]
    with bench.index() as index:
        index.add("planted.md", *(f"here stands {word} alone" for word in planted))
    async with bench.serving() as ask:
        for number in range(200):
            word = rng.choice(planted)
            noise = [rng.choice(marks if number % 3 else words) for _ in range(rng.randrange(12))]
            noise.insert(rng.randrange(len(noise) + 1), f" {word} ")
            reply = await ask.search("".join(noise), mode="lexical" if number % 2 else "auto", group="passage")
            assert reply.lanes["lexical"].state == "ok", noise
            assert any(word in hit.text for hit in reply.results), noise


async def test_words_are_combined_and_quotes_make_a_phrase(ask: Asker) -> None:
    """Case 4."""
    assert (await ask.paths("database migration", mode="lexical"))[0] == "migration.md"
    assert await ask.paths('"database migration"', mode="lexical") == []
    assert await ask.paths('"customer database"', mode="lexical") == ["migration.md"]


@pytest.mark.parametrize(
    ("query", "path"),
    [("認証", "ja.md"), ("仕組み", "ja.md"), ("認証の仕組み", "ja.md"), ("合約轉換", "zh.md"), ("끝말잇기", "ko.md")],
)
async def test_text_without_blanks_is_found_by_its_parts(ask: Asker, query: str, path: str) -> None:
    """Case 5."""
    assert path in await ask.paths(query, mode="lexical")


@pytest.mark.parametrize("query", ["autenticação", "autenticacao", "autenticac\u0327a\u0303o", "AUTENTICAÇÃO"])
async def test_accents_and_case_do_not_matter(ask: Asker, query: str) -> None:
    """Case 6."""
    assert {"nfc.md", "nfd.md", "plain.md"} <= set(await ask.paths(query, mode="lexical"))


@pytest.mark.parametrize("query", ["go", "id"])
async def test_two_letter_words_are_found(ask: Asker, query: str) -> None:
    """Case 6."""
    assert await ask.paths(query, mode="lexical") == ["short.md"]


def payloads() -> list[str]:
    """Make a hundred texts that are dangerous to some store."""
    bases = [
        "' OR 1=1 --",
        "'; DROP TABLE chunk_e1; --",
        '" OR ""="',
        "a' UNION SELECT path FROM document_e1 --",
        "x') OR ('1'='1",
        "*') --",
        "%",
        "_",
        "[a-z]*",
        "../../etc/passwd",
        "{e}",
        "{filters}",
        ":kinds",
        "?1",
        "%s",
        "chunk_fts_e1: *",
        "path:*",
        "docs/**' OR path LIKE '%",
        "\\' OR 1=1",
        "kumquat\u0000' OR 1=1",
    ]
    ends = ["", " kumquat", ";", "*", '"']
    return [base + end for base in bases for end in ends]


async def test_no_payload_leaves_its_filter_or_touches_the_index(bench: QueryBench) -> None:
    """Row A8: in every string argument; nothing outside the filter comes back, schema and data stay as they were."""
    with bench.index() as index:
        index.add("docs/a.md", "kumquat in the docs").add("src/b.py", "kumquat in the code", kind="code")
    before = schema_and_data(bench.project.index_path)
    async with bench.serving() as ask:
        for payload in payloads():
            hits = await ask.hits(payload, kinds=("docs",))
            assert {hit.kind for hit in hits} <= {"docs"}, payload
            assert await found_below(ask, payload) == []
    assert schema_and_data(bench.project.index_path) == before


async def found_below(ask: Asker, payload: str) -> list[str]:
    """Search under a glob that holds the payload; one that is malformed is refused, which finds nothing either."""
    try:
        return await ask.paths("kumquat", path_glob=f"src/{payload}/x")
    except KxError as error:
        if error.code != ErrorCode.BAD_REQUEST:
            raise
        return []


def schema_and_data(path: Path) -> list[tuple[object, ...]]:
    """Give what a reader must not change."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall()
    rows += connection.execute("SELECT id, path, content_hash FROM document_e1 ORDER BY id").fetchall()
    rows += connection.execute("SELECT id, text, text_hash FROM chunk_e1 ORDER BY id").fetchall()
    connection.close()
    return rows


BAD_VECTORS = {
    "nan": np.full(384, np.nan, dtype="<f4").tobytes(),
    "infinite": np.full(384, np.inf, dtype="<f4").tobytes(),
    "short": np.ones(383, dtype="<f4").tobytes(),
    "long": np.ones(385, dtype="<f4").tobytes(),
    "empty": b"",
    "odd": b"abc",
}


@pytest.mark.parametrize("flaw", BAD_VECTORS)
async def test_a_bad_vector_in_the_index_is_never_a_neighbour(bench: QueryBench, flaw: str) -> None:
    """Row B10, case 28: whatever got in, no hit has no distance and the good ones are all found."""
    bench.project.index_path.unlink()
    with bench.index() as index:
        index.add("bad.md", BuiltChunk(text="the bad kumquat", vector=BAD_VECTORS[flaw]))
        for number in range(5):
            index.add(f"good{number}.md", f"the kumquat {number}")
    async with bench.serving() as ask:
        reply = await ask.search("kumquat", mode="semantic", explain=True)
    assert reply.lanes["vector"].state == "ok"
    assert sorted(hit.path for hit in reply.results) == [f"good{number}.md" for number in range(5)]
    assert all(0.0 < hit.score <= 1.0 for hit in reply.results)
