"""The cut itself, on rows of atoms without any text around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.indexer.core.chunking import partition as cut
from services.indexer.core.chunking.partition import ALWAYS, INNER, NEVER, SOFT, STRUCTURE, partition

ATOMS = st.lists(
    st.tuples(st.integers(0, 438), st.sampled_from([NEVER, 0, INNER, SOFT, 60, STRUCTURE, ALWAYS])), max_size=80
)


@given(atoms=ATOMS)
def test_runs_cover_the_row_within_the_budget(atoms: list[tuple[int, int]]) -> None:
    """Consecutive, nothing lost, and above the budget only where no border may be taken."""
    sizes = [size if level != NEVER else 0 for size, level in atoms]
    levels = [level for _, level in atoms]
    runs = partition(sizes, levels, [str(i) for i in range(len(atoms))])
    assert [i for start, end in runs for i in range(start, end)] == list(range(len(atoms)))
    assert all(sum(sizes[start:end]) <= 438 for start, end in runs)


@given(n=st.integers(0, 400), size=st.integers(1, 60))
def test_equal_atoms_are_cut_in_equal_parts(n: int, size: int) -> None:
    """Where nothing distinguishes borders the middle is taken, so no run is a crumb."""
    runs = partition([size] * n, [SOFT] * n, ["same"] * n)
    lengths = [end - start for start, end in runs]
    assert not lengths or max(lengths) <= 2 * min(lengths) + 1


def test_structure_is_cut_before_paragraphs() -> None:
    """Two things with names that do not fit together part at their border, however small one is."""
    assert partition([20] * 20, [SOFT] * 17 + [STRUCTURE] + [SOFT] * 2, [str(i) for i in range(20)])[-1] == (17, 20)


def test_inner_border_is_not_cut_in_a_run_that_fits() -> None:
    """A fence of 430 tokens stays whole, one of 460 does not."""
    assert partition([43] * 10, [INNER] * 10, list("abcdefghij")) == [(0, 10)]
    assert len(partition([46] * 10, [INNER] * 10, list("abcdefghij"))) > 1


def test_always_is_cut_however_small() -> None:
    """Front matter parts from a text of one line."""
    assert partition([3, 3, 3], [SOFT, SOFT, ALWAYS], ["a", "b", "c"]) == [(0, 2), (2, 3)]


def test_row_without_peaks_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row on which each cut takes off one atom is cut by size after a bounded number of passes."""
    monkeypatch.setattr(cut, "_scatter", lambda text: int(text or 0))
    n = 8_000
    runs = partition([50] * n, [SOFT] * n, [str(i) for i in range(n)])
    assert sum(end - start for start, end in runs) == n
    assert max(end - start for start, end in runs) <= 7
