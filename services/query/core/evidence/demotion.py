"""What speaks against a file as an answer: it only tests, shows or carries along, or is of the other kind (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from services.query.core.evidence.aim import Aim
from services.query.core.evidence.asked import Asked
from services.query.core.evidence.wording import Shares
from shared.asides import is_aside, is_test
from shared.messages import KindFilter

_PROSE: Final = frozenset({"docs", "vault"})


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
