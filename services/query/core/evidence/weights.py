"""What each kind of evidence counts (pure).

Chosen on public retrieval sets; docs/benchmarks.md says what each is worth. Around these values the ranking is flat: one
halved or doubled moves a set by about .01, so they are round.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

BY_PASSAGE: Final = ("stems", "words", "grams", "pairs", "window", "vector")
TOGETHER: Final = ("words", "grams", "pairs")
BY_FILE: Final = ("document", *(f"file_{name}" for name in TOGETHER))
NAMES: Final = (
    "names",
    "file_name",
    "path",
    "file_name_asked",
    "definition_certain",
    "definition_maybe",
    "definition_barely",
    "joined_name",
)
DEMOTIONS: Final = ("tests", "asides", "misplaced_prose", "misplaced_code")


class Weights(Struct, frozen=True, kw_only=True):
    """What each kind of evidence counts. Chosen on public retrieval sets: docs/ranking.md says what each is worth."""

    stems: float = 0.3
    words: float = 0.2
    grams: float = 0.3
    pairs: float = 0.2
    window: float = 0.15
    vector: float = 0.5
    document: float = 0.5
    file_words: float = 0.2
    file_grams: float = 0.25
    file_pairs: float = 0.2
    names: float = 0.45
    file_name: float = 0.45
    path: float = 0.22
    file_name_asked: float = 0.3
    definition_certain: float = 0.15
    definition_maybe: float = 0.3
    definition_barely: float = 0.15
    joined_name: float = 0.3
    prose_names: float = 0.9  # names of prose are headings: by how much they count beside names of code
    tests: float = 0.5
    asides: float = 0.4
    misplaced_prose: float = 0.1
    misplaced_code: float = 0.12
    worse_passage: float = 0.5
    later_passage: float = 0.15

    @property
    def content(self) -> float:
        """What a text with all that was asked, in every way, would earn: scores are shares of it; names may add."""
        return float(sum(getattr(self, name) for name in (*BY_PASSAGE, *BY_FILE))) or 1.0


DEFAULT: Final = Weights()
