"""What a vector must be before it is stored or asked with."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.vectors import VectorFlaw, check_vector_bytes, check_vectors, vector_from_bytes, vector_to_bytes

DIM = 384


def unit(*, scale: float = 1.0, **components: float) -> np.ndarray:
    vector = np.full(DIM, scale / np.sqrt(DIM), dtype=np.float32)
    for name, value in components.items():
        vector[int(name.removeprefix("c"))] = value
    return vector


@pytest.mark.parametrize(
    ("vector", "flaw"),
    [
        pytest.param(unit(), None, id="good"),
        pytest.param(unit(scale=1.0009), None, id="rounded"),
        pytest.param(unit(scale=1.0011), VectorFlaw.NORM, id="too-long"),
        pytest.param(unit(scale=0.9989), VectorFlaw.NORM, id="too-short"),
        pytest.param(np.zeros(DIM, np.float32), VectorFlaw.NORM, id="zero"),
        pytest.param(unit(c7=np.nan), VectorFlaw.NOT_FINITE, id="nan"),
        pytest.param(unit(c383=np.inf), VectorFlaw.NOT_FINITE, id="infinity"),
        pytest.param(unit(c0=-np.inf), VectorFlaw.NOT_FINITE, id="minus-infinity"),
        pytest.param(unit(c0=3e38), VectorFlaw.NORM, id="overflowing-square"),
        pytest.param(unit()[:383], VectorFlaw.WIDTH, id="383-numbers"),
        pytest.param(np.append(unit(), np.float32(0)), VectorFlaw.WIDTH, id="385-numbers"),
        pytest.param(unit()[:0], VectorFlaw.WIDTH, id="empty"),
    ],
)
def test_only_sound_vectors_pass(vector: np.ndarray, flaw: VectorFlaw | None) -> None:
    """NaN, infinity, zeros and wrong widths are named in both forms (case 28, RELIABILITY B10)."""
    assert check_vectors(vector[None, :], DIM) == [flaw]
    assert check_vector_bytes(vector.astype("<f4").tobytes(), DIM) == flaw


def test_one_bad_row_does_not_condemn_the_others() -> None:
    """Each row of a matrix is judged alone (case 28)."""
    matrix = np.stack([unit(), unit(c0=np.nan), unit(), unit(scale=2)])
    assert check_vectors(matrix, DIM) == [None, VectorFlaw.NOT_FINITE, None, VectorFlaw.NORM]
    assert check_vectors(matrix[:0], DIM) == []
    assert check_vectors(matrix[0], DIM) == [VectorFlaw.WIDTH] * DIM


def test_broken_bytes_are_a_wrong_width() -> None:
    """A vector cut in the middle of a number is refused, not an exception (RELIABILITY B10)."""
    assert check_vector_bytes(vector_to_bytes(unit())[:-1], DIM) is VectorFlaw.WIDTH


@settings(max_examples=50)
@given(st.lists(st.floats(width=32), max_size=20))
def test_bytes_give_the_vector_back(numbers: list[float]) -> None:
    """Stored form and back is identity, little-endian whatever the machine."""
    vector = np.array(numbers, dtype=np.float32)
    data = vector_to_bytes(vector)
    assert data == np.array(numbers, dtype="<f4").tobytes()
    np.testing.assert_array_equal(vector_from_bytes(data), vector)
