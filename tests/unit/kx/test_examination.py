"""Why a file is an answer or not, as a person reads it."""

from __future__ import annotations

from kx.catalogue import Catalogue
from kx.examination import why_not_json, why_not_text
from shared.messages import LaneReport
from shared.search_messages import LaneStanding, LastShown, PassageStanding, WhyNotReply

LANE = LaneReport(state="ok", coverage=1.0, took_ms=1.0, considered=100)


def make_reply(**changes) -> WhyNotReply:
    standing = PassageStanding(
        start_line=3,
        end_line=9,
        outcome="beyond_top",
        has_vector=True,
        lexical=LaneStanding(rank=14, score=3.1),
        vector=LaneStanding(score=0.21, last=0.34),
        missing_words=("policy",),
        fused=19,
        rank=12,
        score=0.31,
        parts={"words": 0.31},
        result=12,
    )
    last = LastShown(result=10, path="b.md", start_line=1, end_line=2, score=0.4, parts={"words": 0.4})
    values = {
        "path": "a.md",
        "line": 4,
        "outcome": "beyond_top",
        "why": ("it is result 12, and no more than 10 were asked for",),
    }
    lanes = {"vector": LANE, "lexical": LANE}
    return WhyNotReply(
        **{**values, "passages": (standing,), "last_shown": last, "lanes": lanes, "total": 20, **changes}
    )


def test_standing_and_what_it_had_to_beat_are_told():
    """The reason first, then each lane, the fusion, the rank with its parts, and the last result with its own."""
    assert why_not_text(make_reply(), Catalogue()).split("\n") == [
        "a.md:4 is not shown",
        "it is result 12, and no more than 10 were asked for",
        "lines 3-9:",
        "  lexical: rank 14, 3.1000",
        "  vector: beyond the 100 candidates, 0.2100",
        "  asked and not in it: policy",
        "  by the ranks of both lanes alone: 19",
        "  ranked 12 of all passages: 0.3100",
        "    words=+0.3100",
        "the last result shown, 10, is b.md:1-2: 0.4000",
        "    words=+0.4000",
    ]


def test_it_speaks_the_language_and_json_does_not():
    """Sentences of the answer and of its frame; outcomes and parts stay."""
    told = why_not_text(make_reply(), Catalogue("pt")).split("\n")
    assert told[:2] == ["a.md:4 não é mostrado", "é o resultado 12, e não foram pedidos mais de 10"]
    assert "  vetorial: além dos 100 candidatos, 0.2100" in told
    assert why_not_json(make_reply())["outcome"] == "beyond_top"


def test_what_is_shown_is_not_compared_and_what_is_kept_out_has_no_standing():
    """An answer is as short as its reason."""
    assert why_not_text(make_reply(outcome="shown", passages=(), why=("it is result 2",)), Catalogue()).split("\n") == [
        "a.md:4 is shown",
        "it is result 2",
    ]
    denied = make_reply(
        line=0, outcome="skipped", why=("it is not indexed: denied (*.key (built in))",), passages=(), last_shown=None
    )
    assert why_not_text(denied, Catalogue()).split("\n") == [
        "a.md is not shown",
        "it is not indexed: denied (*.key (built in))",
    ]
    assert why_not_json(denied)["line"] is None


def test_nothing_of_a_name_or_rule_acts_on_the_terminal():
    """Row A9: names of files, patterns of strangers and words that were typed are made visible."""
    hostile = make_reply(path="\x1b[2Ja.md", why=("it is not indexed: ignored (\u202eevil)",))
    assert not {"\x1b", "\u202e"} & set(why_not_text(hostile, Catalogue()))
