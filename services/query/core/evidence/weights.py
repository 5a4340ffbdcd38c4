"""What each kind of evidence counts (pure).

Chosen on public retrieval sets; docs/benchmarks.md says what each is worth. Around these values the ranking is flat: one
halved or doubled moves a set by about .01, so they are round.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

BY_PASSAGE: Final = ("words", "grams", "pairs", "window", "vector")
TOGETHER: Final = ("words", "grams", "pairs")
BY_FILE: Final = ("document", *(f"file_{name}" for name in TOGETHER))
NAMES: Final = (
    "names",
    "file_name",
    "path",
    "file_name_asked",
    "definition",
    "plain_definition",
    "joined_name",
)
GATHERED: Final = ("many_passages",)
DEMOTIONS: Final = ("tests", "asides", "misplaced_prose", "misplaced_code")


class Weights(Struct, frozen=True, kw_only=True):
    """What each kind of evidence counts. Chosen on public retrieval sets: docs/ranking.md says what each is worth."""

    words: float = 0.3
    grams: float = 0.35
    pairs: float = 0.2
    window: float = 0.3
    vector: float = 0.5
    document: float = 0.4
    file_words: float = 0.2
    file_grams: float = 0.3
    file_pairs: float = 0.2
    names: float = 0.45
    file_name: float = 0.4
    path: float = 0.25
    file_name_asked: float = 0.3
    definition: float = 0.3
    plain_definition: float = 0.15
    joined_name: float = 0.3
    many_passages: float = 0.2
    prose_names: float = 0.8  # names of prose are headings: by how much they count beside names of code
    tests: float = 0.5
    asides: float = 0.4
    misplaced_prose: float = 0.2
    misplaced_code: float = 0.35
    worse_passage: float = 0.5
    later_passage: float = 0.15

    @property
    def content(self) -> float:
        """What a text with all that was asked, in every way, would earn: scores are shares of it; names may add."""
        return float(sum(getattr(self, name) for name in (*BY_PASSAGE, *BY_FILE))) or 1.0


DEFAULT: Final = Weights()
