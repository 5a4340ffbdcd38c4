"""Check the path patterns of a configuration file; what they match is the business of the tree's rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shared.config_file import invalid, shown
from shared.deny import DenyList
from shared.errors import KxError

MAX_PATTERNS = 1_000  # of one list; a longer one is an attack on the walk
MAX_PATTERN_CHARS = 1_000

PATTERN_WORDS = "a glob relative to the root, such as secrets/** or *.key"


def check_patterns(patterns: Sequence[str], file: Path, key: str) -> None:
    """Refuse absolute, outward, empty, negated and malformed patterns: one that denies nothing is worse than an error.

    Raises:
        KxError: CONFIG_INVALID with the key of the pattern, such as `indexing.deny[2]`.
    """
    if not patterns:
        return
    if len(patterns) > MAX_PATTERNS:
        raise invalid(file, key, f"a list of {len(patterns)}", f"at most {MAX_PATTERNS} patterns")
    for number, pattern in enumerate(patterns):
        if len(pattern) > MAX_PATTERN_CHARS:
            raise invalid(file, f"{key}[{number}]", shown(pattern), f"at most {MAX_PATTERN_CHARS} characters")
    try:
        DenyList(patterns)
    except KxError as error:
        number = next(index for index, pattern in enumerate(patterns) if repr(pattern) == error.params["pattern"])
        reason = error.params["reason"]
        raise invalid(file, f"{key}[{number}]", f"{shown(patterns[number])} ({reason})", PATTERN_WORDS) from error
