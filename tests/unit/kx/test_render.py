"""Answers as text and as JSON."""

from __future__ import annotations

import json

import click
import pytest
from msgspec.structs import replace

from kx.catalogue import Catalogue
from kx.paint import Paint
from kx.render import as_json, search_json, search_text, status_json, status_text
from shared.excerpts import Excerpt
from shared.messages import Hit, LaneReport, Pending, SearchReply, ServiceStatus, StatusReply

PT = Catalogue("pt")
PENDING = Pending(text=0, vectors=0)
SERVICES = {"query": ServiceStatus(service="query", state="ready", pid=7, rss_bytes=1 << 20), "indexer": None}


def make_hit(**changes) -> Hit:
    values = {"path": "a.md", "kind": "vault", "start_line": 3, "end_line": 4, "score": 0.5, "origin": "both"}
    made = Hit(**{**values, "heading": "", "text": "one\ntwo", **changes})
    whole = Excerpt(start_line=made.start_line, end_line=made.end_line, text=made.text)
    return made if "excerpt" in changes else replace(made, excerpt=whole)


def make_reply(*hits: Hit, **changes) -> SearchReply:
    lane = LaneReport(state="ok", coverage=1.0, took_ms=1.0)
    values = {"query": "q", "mode": "auto", "project": "shop", "lanes": {"vector": lane, "lexical": lane}}
    return SearchReply(**{**values, "results": hits, "pending": PENDING, "total": len(hits), "took_ms": 1.0, **changes})


def make_status(**changes) -> StatusReply:
    values = {"project": "shop", "root": "/shop", "state": "not_indexed", "documents": 0, "chunks": 0, "by_kind": {}}
    counts = {"vectors_ready": 0, "vectors_missing": 0, "skipped": {}, "failed": (), "index_bytes": 0}
    return StatusReply(**{**values, **counts, "model_id": "m", "epoch": 0, "seq": 0, **changes})


def test_answer_speaks_the_language_and_json_does_not():
    """Origins are words on the terminal only: `[vault|ambas]`, and `both` in JSON."""
    reply = make_reply(make_hit())
    assert search_text(reply, Catalogue()) == "[0.5000] a.md:3-4 [vault|both]\none\ntwo\n1 result"
    assert search_text(reply, PT) == "[0.5000] a.md:3-4 [vault|ambas]\none\ntwo\n1 resultado(s) encontrado(s)."
    assert search_json(reply)["results"][0]["origin"] == "both"


def test_excerpt_says_its_lines_where_it_is_not_the_passage():
    """What is shown of a passage has its own numbers; JSON holds the passage whole beside it."""
    hit = make_hit(text="one\ntwo\nthree", end_line=5, excerpt=Excerpt(start_line=4, end_line=4, text="two"))
    shown = search_text(make_reply(hit), Catalogue()).split("\n")
    assert shown[:3] == ["[0.5000] a.md:3-5 [vault|both]", "line 4:", "two"]
    found = search_json(make_reply(hit))["results"][0]
    assert found["text"] == "one\ntwo\nthree"
    assert found["excerpt"] == {"start_line": 4, "end_line": 4, "text": "two"}


def test_part_of_a_long_line_is_named_as_one():
    """A sentence of a paragraph that stands on one line is not taken for the line."""
    part = Excerpt(start_line=3, end_line=3, text="one sentence.", is_part=True)
    hit = make_hit(text="one sentence. another.", end_line=3, excerpt=part)
    assert search_text(make_reply(hit), Catalogue()).split("\n")[1:3] == ["line 3, in part:", "one sentence."]
    assert search_json(make_reply(hit))["results"][0]["excerpt"]["is_part"]


def test_result_without_an_excerpt_is_its_place_and_heading():
    """Beyond maxSnippetResults; no text of the file stands there, and the next page is named."""
    reply = make_reply(make_hit(excerpt=None, heading="Guide >\nInstall"), total=9, next_offset=1)
    assert search_text(reply, Catalogue()).split("\n") == [
        "[0.5000] a.md:3-4 [vault|both]",
        "Guide > Install",
        "1 result",
        "more: --offset 1",
    ]
    assert search_json(reply)["results"][0]["excerpt"] is None


def test_colours_are_ours_alone():
    """Painted or not, no escape of a file's text or name reaches the terminal (row A9)."""
    reply = make_reply(make_hit(path="\x1b[31mred.md", text="\x1b[2Jgone"))
    plain = search_text(reply, Catalogue())
    painted = search_text(reply, Catalogue(), Paint(is_on=True))
    assert "\x1b" not in plain
    assert "\x1b[33m[0.5000]\x1b[0m" in painted
    assert click.unstyle(painted) == plain


def test_empty_answer_says_what_to_try():
    """Nothing found is not the end; where a note gives the reason, that is enough."""
    assert "kx index" in search_text(make_reply(), Catalogue())
    noted = search_text(make_reply(notes=("the query has no word that can be searched",)), PT)
    assert noted.split("\n") == [
        "Nenhum resultado encontrado.",
        "a consulta não tem nenhuma palavra que possa ser buscada",
    ]


def test_answer_without_a_good_result_says_so():
    """A person cannot know what a score of 0.15 means; modes that tell no confidence say nothing."""
    poor, good, untold = (make_hit(confidence=value) for value in (0.13, 0.4, None))
    assert search_text(make_reply(poor), Catalogue()).endswith("the confidence is 13 % at best")
    assert "13 %" in search_text(make_reply(poor), PT).split("\n")[-1]
    assert search_text(make_reply(poor, good), Catalogue()).endswith("2 results")
    assert search_text(make_reply(untold), Catalogue()).endswith("1 result")


def test_lane_that_is_off_is_named_with_its_reason():
    """Lanes, states and reasons are worded; a failing lane is never silent."""
    off = LaneReport(state="off", coverage=0.0, took_ms=0.0, reason="no text has a vector yet")
    reply = make_reply(make_hit(), lanes={"vector": off})
    assert search_text(reply, PT).endswith("via vetorial desligada: nenhum texto tem vetor ainda")
    assert search_text(reply, Catalogue()).endswith("the vector lane is off: no text has a vector yet")
    assert "lane" not in search_text(make_reply(make_hit(), lanes={"vector": off}, mode="lexical"), Catalogue())
    noted = make_reply(make_hit(), lanes={"vector": off}, notes=(off.reason,))
    assert search_text(noted, Catalogue()).count(off.reason) == 1


@pytest.mark.parametrize(
    ("absent", "english", "portuguese"),
    [
        ("down", "indexer down", "indexer fora do ar"),
        ("not_running", "indexer not running", "indexer não está rodando"),
    ],
)
def test_absent_service_is_told_by_where_it_should_be(absent, english, portuguese):
    """In a stack it is down; without one it needs no process."""
    assert english in status_text(make_status(), SERVICES, {}, Catalogue(), absent)
    assert portuguese in status_text(make_status(), SERVICES, {}, PT, absent)
    assert status_json(make_status(), SERVICES, {}, absent)["services"]["indexer"]["state"] == absent


def test_state_is_shown_in_words():
    """`not_indexed` is a value of JSON."""
    assert "shop (not indexed)" in status_text(make_status(), {}, {}, Catalogue())
    assert status_json(make_status(), {}, {})["state"] == "not_indexed"


def test_index_that_nobody_completes_is_not_said_to_be_indexing():
    """Without a stack it is incomplete, with the command that ends that; JSON and a stack keep the state."""
    behind = make_status(state="indexing", vectors_missing=3)
    told = status_text(behind, SERVICES, {}, Catalogue(), "not_running")
    assert "shop (incomplete)" in told
    assert told.endswith("to complete it: kx index /shop")
    assert "shop (incompleto)" in status_text(behind, SERVICES, {}, PT, "not_running")
    assert "shop (indexing)" in status_text(behind, SERVICES, {}, Catalogue())
    assert "kx index" not in status_text(behind, SERVICES, {}, Catalogue())
    assert status_json(behind, SERVICES, {}, "not_running")["state"] == "indexing"


def test_json_is_utf8_whatever_it_holds():
    """Non-ASCII stands as it is; half a character, of which there are no bytes, becomes U+FFFD."""
    printed = as_json({"a\udc80": ["ação 🚀", "\ud800", "\x1b", ("t",)]})
    assert "ação 🚀" in printed
    assert json.loads(printed.encode()) == {"a\ufffd": ["ação 🚀", "\ufffd", "\x1b", ["t"]]}
