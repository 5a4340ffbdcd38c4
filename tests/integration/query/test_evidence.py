"""Mode `auto` through the service: evidence on a real index."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from services.query.adapters.word_memory import WORDS
from services.query.core.passages import Passage
from shared.vectors import EmbeddingMatrix
from tests.support.fake_encoder import FakeEncoder
from tests.support.index_builder import BuiltChunk
from tests.support.query_bench import QueryBench

pytestmark = pytest.mark.anyio


@pytest.fixture
def bench(tmp_path: Path) -> QueryBench:
    return QueryBench(tmp_path)


async def test_the_definition_comes_before_what_mentions_it(bench: QueryBench) -> None:
    """MISSION 4.4: code is found by what it defines, not by what mentions it most."""
    with bench.index() as index:
        index.add("notes.md", "load_session load_session load_session is slow")
        index.add("auth/session.py", BuiltChunk(text="def load_session(key):", symbols=("load_session",)), kind="code")
    async with bench.serving() as ask:
        reply = await ask.search("load_session")
    assert [hit.path for hit in reply.results] == ["auth/session.py", "notes.md"]


async def test_named_parts_of_the_evidence_add_up(bench: QueryBench) -> None:
    """MISSION 4.4: every factor is visible with explain, and they add up."""
    bench.configure('{"sources": [{"path": ".", "weight": 2.0}]}')
    with bench.index() as index:
        index.add("tests/test_breaker.py", "the circuit breaker opens", kind="code")
        index.add("breaker.py", "a circuit breaker", "closes after a while", kind="code")
    async with bench.serving() as ask:
        reply = await ask.search("circuit breaker", explain=True)
    assert {"words", "document", "weight", "tests"} <= {name for hit in reply.results for name in hit.parts}
    for hit in reply.results:
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-5)


async def test_synonyms_are_found_in_both_directions_and_across_accents(bench: QueryBench) -> None:
    """MISSION 4.4: `search.synonyms` lets a team say that one word means another."""
    bench.configure('{"search": {"synonyms": {"disjuntor": ["circuit breaker"], "injeção": ["wiring"]}}}')
    with bench.index() as index:
        index.add("en.md", BuiltChunk(text="a circuit breaker opens after failures", is_embedded=False))
        index.add("pt.md", BuiltChunk(text="o disjuntor abre depois de falhas", is_embedded=False))
        index.add("di.md", BuiltChunk(text="how the wiring of services is done", is_embedded=False))
    async with bench.serving() as ask:
        for query, path in (("disjuntor", "en.md"), ("circuit breaker", "pt.md"), ("injecao", "di.md")):
            reply = await ask.search(query)
            assert path in [hit.path for hit in reply.results], query
        asked = await ask.search("disjuntor")
    assert asked.results[0].path == "pt.md"  # the word itself is the better witness


class _PatientEncoder(FakeEncoder):
    """Embeds a question once something was read ahead."""

    def __init__(self) -> None:
        super().__init__()
        self.is_read = threading.Event()

    def encode(self, texts: Sequence[str]) -> EmbeddingMatrix:
        """Embed after waiting."""
        if "circuit breaker" in texts:
            assert self.is_read.wait(5)
        return super().encode(texts)


async def test_what_words_found_is_read_while_the_model_is_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer waits for the model anyway; reading passages need not come after it."""
    encoder = _PatientEncoder()
    bench = QueryBench(tmp_path, encoder=encoder)
    with bench.index() as index:
        index.add("breaker.py", "a circuit breaker of a house", kind="code")
    read: list[str] = []

    def read_ahead(passages: Sequence[Passage]) -> None:
        read.extend(passage.text for passage in passages)
        encoder.is_read.set()

    monkeypatch.setattr("services.query.service.read_ahead", read_ahead)
    async with bench.serving() as ask:
        reply = await ask.search("circuit breaker")
    assert reply.lanes["vector"].state == "ok"
    assert read == ["a circuit breaker of a house"]


async def test_words_are_forgotten_when_nobody_asks_and_learnt_again(bench: QueryBench) -> None:
    """Small when idle: a large tree's words are 60 MB."""
    with bench.index() as index:
        index.add("breaker.py", "a circuit breaker of a house", kind="code")
    async with bench.serving() as ask:
        before = await ask.hits("circuit breaker")
        WORDS.drop_idle()
        assert WORDS.passages  # it was asked just now
        WORDS.drop_idle(older_than_s=0.0)
        assert not WORDS.passages
        assert await ask.hits("circuit breaker") == before
