"""All words of an index in memory before they are asked for, on a real one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from services.query.adapters.reader import IndexReaders, Snapshot
from services.query.adapters.word_memory import WordMemory
from services.query.core.evidence.memory import Excerpt
from shared.identity import InstanceId
from tests.support.query_bench import QueryBench


@pytest.fixture
def bench(tmp_path: Path) -> QueryBench:
    return QueryBench(tmp_path)


@pytest.fixture
def readers() -> Iterator[IndexReaders]:
    made = IndexReaders()
    yield made
    made.close()


class _ClosedOnceRead(IndexReaders):
    """Closes while the first chunks are read."""

    @contextmanager
    def snapshot(self, path: Path, instance: InstanceId, *, limit_s: float = 1.0) -> Iterator[Snapshot]:
        with super().snapshot(path, instance, limit_s=limit_s) as snapshot:
            yield snapshot
        self.close()


def asked(words: WordMemory, readers: IndexReaders, bench: QueryBench, *, chunks: int = 60) -> int:
    """Ask a question of an index that says it has so many chunks; give how many passages are known then."""
    with readers.snapshot(bench.project.index_path, bench.project.instance) as snapshot:
        words.follow(readers, snapshot, chunks)
    words.settle()
    return words.passages


def filled(bench: QueryBench, name: str, chunks: int) -> None:
    with bench.index() as index:
        index.add(f"{name}.md", *(f"{name} passage {i}" for i in range(chunks)))


def test_a_second_question_has_the_whole_index_read(bench: QueryBench, readers: IndexReaders) -> None:
    """A command asks once and pays for nothing; whoever asks on finds everything read."""
    filled(bench, "first", 60)  # more than one batch
    words = WordMemory(min_chunks=1)
    assert [asked(words, readers, bench) for _ in range(2)] == [0, 60]


def test_what_a_commit_adds_is_read_at_the_next_question(bench: QueryBench, readers: IndexReaders) -> None:
    """The chunks of before are not read again."""
    filled(bench, "first", 60)
    words = WordMemory(min_chunks=1)
    asked(words, readers, bench)
    asked(words, readers, bench)
    filled(bench, "second", 5)
    assert asked(words, readers, bench) == 65


def test_an_index_of_another_epoch_is_read_from_its_first_chunk(bench: QueryBench, readers: IndexReaders) -> None:
    """Its chunks have other ids; texts of before are known already."""
    filled(bench, "first", 60)
    words = WordMemory(min_chunks=1)
    asked(words, readers, bench)
    asked(words, readers, bench)
    with bench.index() as index:
        index.begin_epoch(2)
        index.add("first.md", "first passage 0", "first passage 60")
        index.answer_with_epoch()
    assert asked(words, readers, bench) == 61


def test_an_index_that_would_not_fit_is_not_read(bench: QueryBench, readers: IndexReaders) -> None:
    """Its candidates are read as they are met, as before."""
    filled(bench, "first", 60)
    words = WordMemory(min_chunks=1)
    assert [asked(words, readers, bench, chunks=1_000_000) for _ in range(3)] == [0, 0, 0]


def test_a_full_memory_is_forgotten_and_not_filled_again_at_once(bench: QueryBench, readers: IndexReaders) -> None:
    """Two trees that do not fit together would else be read in turns without end."""
    filled(bench, "first", 60)
    words = WordMemory(min_chunks=1, max_bytes=1_000_000)
    asked(words, readers, bench)
    assert asked(words, readers, bench) == 60
    with words.memory() as memory:
        text = " ".join(f"other{i}" for i in range(20_000))
        memory.read([Excerpt(heading="", symbols=(), text=text)], [True])
    with words.memory() as memory:
        assert memory.passages == 0
    assert [asked(words, readers, bench) for _ in range(3)] == [0, 0, 0]


def test_reading_ends_with_the_service(bench: QueryBench, readers: IndexReaders) -> None:
    """A process that is told to stop does not read an index to its end first."""
    filled(bench, "first", 60)
    words = WordMemory(min_chunks=1)
    asked(words, readers, bench)
    with readers.snapshot(bench.project.index_path, bench.project.instance) as snapshot:
        words.follow(_ClosedOnceRead(), snapshot, 60)
    words.settle()
    assert 0 < words.passages < 60


def test_a_reading_that_fails_leaves_nothing_half_known(bench: QueryBench, readers: IndexReaders) -> None:
    """Numbers without what they stand for would mix up the words of all questions."""
    filled(bench, "first", 60)
    words = WordMemory(min_chunks=1)
    asked(words, readers, bench)
    assert asked(words, readers, bench) == 60
    with pytest.raises(ZeroDivisionError), words.memory():
        raise ZeroDivisionError
    assert words.passages == 0
