"""What only tests, shows, is carried along or was made by a program, told by its path (pure).

Such files are rarely the answer, so the ranking demotes them and their vectors are made last.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

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
_GENERATED: Final = re.compile(
    r"(?:^|/)(?:generated|__generated__|gen|__snapshots__|snapshots?|locales?|i18n)(?:/|$)"
    r"|[._](?:pb2|pb2_grpc|pb|generated|designer|g|freezed)\.\w+$|\.snap$",
    re.IGNORECASE,
)


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


def is_generated(path: str) -> bool:
    """Tell whether a path is that of what a program wrote: stubs, snapshots, catalogues of messages.

    >>> is_generated("api/user_pb2.py"), is_generated("src/generator.py")
    (True, False)
    """
    return _GENERATED.search(path) is not None
