"""What speaks against a file as an answer: it only tests, shows or carries along, or is of the other kind (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from services.query.core.evidence.aim import Aim
from services.query.core.evidence.asked import Asked
from services.query.core.evidence.wording import Shares
from shared.asides import is_aside, is_test
from shared.messages import KindFilter

_PROSE: Final = frozenset({"docs", "vault"})
# What a repository keeps for the record: it names everything that ever changed and explains nothing.
_RECORD: Final = re.compile(
    r"(?:^|/)(?:(?:change(?:s|log)|history|news|releases?|release[-_]notes|notice|authors|contributors|code_of_conduct|security)"
    r"(?:[-_.]?v?\d[^/]*)?(?:\.\w+)?|(?:licen[sc]es?|copying|third[-_]party)(?:[-_.][^/]*)?)$",
    re.IGNORECASE,
)


def is_prose(kind: KindFilter) -> bool:
    """Tell whether files of this kind are read, not run."""
    return kind in _PROSE


def only_tests(paths: Sequence[str], asked: Asked) -> Shares:
    """Mark the files that only test; none when the question is about tests or examples."""
    return _marked([is_test(path) for path in paths], unless=asked.is_about_tests)


def asides(paths: Sequence[str], kinds: Sequence[KindFilter], asked: Asked) -> Shares:
    """Mark the files that stand aside of the product, and its records: neither when the question is about them."""
    beside = _marked([is_aside(path) for path in paths], unless=asked.is_about_tests)
    records = [is_record(path, kind) for path, kind in zip(paths, kinds, strict=True)]
    return np.maximum(beside, _marked(records, unless=asked.is_about_records))


def is_record(path: str, kind: KindFilter) -> bool:
    """Tell whether a file is a list of changes, a licence, a security policy or the like; code never is.

    >>> is_record("CHANGELOG.md", "docs"), is_record("src/history.ts", "code"), is_record("docs/security-model.md", "docs")
    (True, False, False)
    """
    return kind != "code" and _RECORD.search(path) is not None


def misplaced_prose(kinds: Sequence[KindFilter], asked: Asked, has_all: npt.NDArray[np.bool_]) -> Shares:
    """Mark prose when the question names the thing itself; not a key or a quoted sentence that no code has.

    Args:
        kinds: of the files.
        asked: the question.
        has_all: which files have all terms that were asked.
    """
    is_code = np.array([kind == "code" for kind in kinds], dtype=np.bool_)
    is_elsewhere = asked.is_literal and not (is_code & has_all).any()
    return _marked([is_prose(kind) for kind in kinds], unless=asked.aim is not Aim.THING or is_elsewhere)


def misplaced_code(kinds: Sequence[KindFilter], asked: Asked) -> Shares:
    """Mark all but prose when the question is about how to use something."""
    return _marked([not is_prose(kind) for kind in kinds], unless=asked.aim is not Aim.USE)


def _marked(marks: Sequence[bool], *, unless: bool) -> Shares:
    return np.zeros(len(marks)) if unless else np.array(marks, dtype=np.float64)
