"""Messages about why a search answered as it did (pure)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from shared.excerpts import Place
from shared.messages import InstanceMessage, LaneReport, Message, Mode, SearchRequest

WhyNot = Literal[
    "shown",  # it is a result that was asked for
    "grouped",  # its file is such a result, with another passage
    "beyond_top",
    "before_offset",
    "folded",  # shown at another place with equal text
    "changed",  # on disk since it was indexed
    "not_ranked",  # the mode does not look at the lane that found it
    "not_found",  # by no lane among its candidates
    "no_words",  # the query has none that can be searched
    "filtered_kind",
    "filtered_path",
    "no_passage",  # none holds the line, or the file has none
    "not_indexed",  # yet
    "failed",
    "skipped",  # by a rule or for its content, see `reason`
    "not_on_disk",
    "root_missing",
]


class WhyNotRequest(InstanceMessage, frozen=True, kw_only=True):
    """Ask why a question shows a file or not."""

    search: SearchRequest  # as it was asked
    path: str  # project-relative
    line: int = 0  # 1-based; 0 is any


class LaneStanding(Struct, frozen=True, kw_only=True):
    """How a passage stands in one lane."""

    rank: int = 0  # 1-based; 0: not among the candidates
    score: float  # bm25 negated, or cosine: better is higher
    last: float = 0.0  # score of the last of the candidates, where it is not among them


class PassageStanding(Struct, frozen=True, kw_only=True):
    """How one passage of the file stands."""

    start_line: int  # 1-based, inclusive; as it was indexed
    end_line: int
    outcome: WhyNot
    has_vector: bool
    failure: str = ""  # error code of a text that could not be embedded and was set aside
    lexical: LaneStanding | None = None  # None: the lane did not meet it
    vector: LaneStanding | None = None
    missing_words: tuple[str, ...] = ()  # of the question, those that stand nowhere in it
    fused: int = 0  # 1-based rank by reciprocal rank alone; 0: no candidate
    rank: int = 0  # 1-based, of all passages as the mode ranks them; 0: not ranked
    score: float = 0.0
    confidence: float | None = None
    parts: dict[str, float] = {}  # named parts of the score
    result: int = 0  # 1-based place of the result it is in; 0: in none
    shown_as: Place | None = None  # what that result shows, where it is not this passage


class LastShown(Struct, frozen=True, kw_only=True):
    """The last result of the page: what another would have had to beat."""

    result: int  # 1-based
    path: str
    start_line: int
    end_line: int
    score: float
    parts: dict[str, float] = {}


class WhyNotReply(Message, frozen=True, kw_only=True):
    """Where a file stands in an answer, and the first thing that keeps it out."""

    path: str
    line: int
    outcome: WhyNot
    why: tuple[str, ...]  # English sentences, what decides first
    reason: str = ""  # skip reason or error code, as `kx status` has it
    rule: str = ""  # of which file, or what was found
    mode: Mode = "auto"  # as it was carried out
    passages: tuple[PassageStanding, ...] = ()  # best first, at most MAX_PASSAGES
    more_passages: int = 0  # of the file, not told
    last_shown: LastShown | None = None
    total: int = 0  # results, as far as candidates go
    lanes: dict[str, LaneReport] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # as in a SearchReply
    took_ms: float = 0.0


MAX_PASSAGES = 5
