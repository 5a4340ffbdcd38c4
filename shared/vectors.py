"""What a vector of an index must be, and its bytes (pure; numpy only).

Used at both ends: the embedder checks what the model gave, the indexer what arrived, the query its own question. A
store that accepts NaN, infinity or zeros ranks them first or breaks every distance, so nothing unchecked gets in.
"""

import math
from enum import StrEnum
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

EmbeddingMatrix: TypeAlias = NDArray[np.float32]
"""Shape (texts, dim), one L2-normalised vector a row."""

Vector: TypeAlias = NDArray[np.float32]
"""Shape (dim,), L2-normalised."""

NORM_TOLERANCE: Final = 1e-3

_LITTLE_ENDIAN: Final = np.dtype("<f4")


class VectorFlaw(StrEnum):
    """Why a vector is refused."""

    WIDTH = "wrong width"
    NOT_FINITE = "not finite"
    NORM = "not of length one"


def check_vectors(matrix: EmbeddingMatrix, dim: int) -> list[VectorFlaw | None]:
    """Judge each row: None when it is finite, `dim` wide and of norm 1 within `NORM_TOLERANCE`."""
    if matrix.ndim != 2 or matrix.shape[1] != dim:
        return [VectorFlaw.WIDTH] * (matrix.shape[0] if matrix.ndim else 1)
    # float64 holds the square of any finite float32, so a norm is finite exactly when its row is.
    norms = np.linalg.norm(matrix.astype(np.float64), axis=1)
    return [_flaw(float(norm)) for norm in norms]


def check_vector_bytes(data: bytes, dim: int) -> VectorFlaw | None:
    """Judge one vector in its stored form; also bytes that are no whole number of floats are a wrong width."""
    if len(data) != dim * _LITTLE_ENDIAN.itemsize:
        return VectorFlaw.WIDTH
    return check_vectors(vector_from_bytes(data)[None, :], dim)[0]


def vector_to_bytes(vector: Vector) -> bytes:
    """Give the stored form: little-endian float32, without a header."""
    return vector.astype(_LITTLE_ENDIAN, copy=False).tobytes()


def vector_from_bytes(data: bytes) -> Vector:
    """Read the stored form; a read-only view, `ValueError` when `data` is no whole number of floats."""
    return np.frombuffer(data, dtype=_LITTLE_ENDIAN).astype(np.float32, copy=False)


def _flaw(norm: float) -> VectorFlaw | None:
    if not math.isfinite(norm):
        return VectorFlaw.NOT_FINITE
    return None if abs(norm - 1.0) <= NORM_TOLERANCE else VectorFlaw.NORM
