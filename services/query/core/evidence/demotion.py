"""What speaks against a file as an answer: it only tests, shows or carries along, or is of the other kind (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from services.query.core.evidence.aim import Aim
from services.query.core.evidence.asked import Asked
from services.query.core.evidence.wording import Shares
from shared.messages import KindFilter

MEMO_PATHS: Final = 8_192  # a file is a candidate of many questions, and the expressions take 4 microseconds

_TEST: Final = re.compile(
    r"(?:^|/)(?:tests?|testing|specs?|__tests__|testdata|fixtures?|mocks?|e2e)(?:/|$)"
    r"|(?:^|/)(?:test_[^/]*|[^/]*[_.-](?:test|tests|spec|specs|bench|benchmark)|[^/]*(?:Test|Tests|Spec))\.\w+$"
)
_ASIDE: Final = re.compile(
    r"(?:^|/)(?:_?examples?|samples?|demos?|benchmarks?|bench|compat|legacy|deprecated|vendor|third_party|scripts?)(?:/|\.|$)"
    r"|(?:^|/)[^/]*[_-]?(?:compat|legacy|deprecated)[_-]?[^/]*$",
    re.IGNORECASE,
)
_PROSE: Final = frozenset({"docs", "vault"})


@lru_cache(maxsize=MEMO_PATHS)
def is_test(path: str) -> bool:
    """Tell whether a path is that of a test, a fixture or a mock.

    >>> is_test("src/app_test.go"), is_test("src/latest.go")
    (True, False)
    """
    return _TEST.search(path) is not None


@lru_cache(maxsize=MEMO_PATHS)
def is_aside(path: str) -> bool:
    """Tell whether a path is that of an example, a benchmark, a script, or of what was carried along.

    >>> is_aside("examples/todo/app.py"), is_aside("src/app.py")
    (True, False)
    """
    return _ASIDE.search(path) is not None


def is_prose(kind: KindFilter) -> bool:
    """Tell whether files of this kind are read, not run."""
    return kind in _PROSE


def only_tests(paths: Sequence[str], asked: Asked) -> Shares:
    """Mark the files that only test; none when the question is about tests or examples."""
    return _marked([is_test(path) for path in paths], unless=asked.is_about_tests)


def asides(paths: Sequence[str], asked: Asked) -> Shares:
    """Mark the files that stand aside of the product; none when the question is about tests or examples."""
    return _marked([is_aside(path) for path in paths], unless=asked.is_about_tests)


def misplaced_prose(kinds: Sequence[KindFilter], asked: Asked) -> Shares:
    """Mark prose when the question names the thing itself."""
    return _marked([is_prose(kind) for kind in kinds], unless=asked.aim is not Aim.THING)


def misplaced_code(kinds: Sequence[KindFilter], asked: Asked) -> Shares:
    """Mark all but prose when the question is about how to use something."""
    return _marked([not is_prose(kind) for kind in kinds], unless=asked.aim is not Aim.USE)


def _marked(marks: Sequence[bool], *, unless: bool) -> Shares:
    return np.zeros(len(marks)) if unless else np.array(marks, dtype=np.float64)
