"""Words as hashes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from services.query.core.evidence.hashed import HashTable, hash_of, hashes_of, hashes_of_joined

WORDS = st.lists(st.text("abcé", min_size=1, max_size=9), max_size=30)


def laid_out(words: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    sizes = np.array([len(word.encode()) for word in words], dtype=np.intp)
    ends = np.cumsum(sizes)
    return np.frombuffer("".join(words).encode(), dtype=np.uint8), ends - sizes, ends, sizes


@given(WORDS)
@settings(deadline=None)  # tables of powers are made once
def test_a_word_has_the_same_hash_wherever_it_stands(words: list[str]) -> None:
    """The question's words are hashed alone, those of texts together."""
    letters, starts, ends, _ = laid_out(words)
    assert hashes_of(letters, starts, ends).tolist() == list(map(hash_of, words))


@given(st.lists(WORDS, max_size=5))
@settings(deadline=None)
def test_words_written_as_one_have_the_hash_of_the_whole(runs: list[list[str]]) -> None:
    """`type adapter` finds `typeadapter`."""
    letters, starts, ends, sizes = laid_out([word for run in runs for word in run])
    joined = hashes_of_joined(hashes_of(letters, starts, ends), sizes, np.array(list(map(len, runs)), dtype=np.intp))
    assert joined.tolist() == [hash_of("".join(run)) if run else 0 for run in runs]


def test_a_table_gives_back_what_was_put_in_however_much() -> None:
    """It grows, and slots wanted by several are given to one."""
    table = HashTable()
    hashes = np.random.default_rng(1).permutation(np.arange(1, 60_001, dtype=np.uint64))
    for start in range(0, 60_000, 7_000):
        part = hashes[start : start + 7_000]
        assert (table.get(part) == -1).all()
        table.add(part, np.arange(start, start + len(part), dtype=np.int32))
    assert table.get(hashes).tolist() == list(range(60_000))
    assert table.get(np.array([60_001], dtype=np.uint64)).tolist() == [-1]
