"""The model's own token counter, loaded once."""

from collections.abc import Callable

import pytest

from shared.tokens import TokenCounter
from tests.support.chunks import TOKENIZER


@pytest.fixture(scope="session")
def count() -> Callable[[str], int]:
    """Count tokens exactly, the two special ones included."""
    return TokenCounter.load(TOKENIZER).count
