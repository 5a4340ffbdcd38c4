"""The JSON documents of docs/commands.md are what the command prints."""

from __future__ import annotations

import json
import re

import msgspec

from kx.examination import why_not_json
from kx.notes import activities_json, artifact_json
from kx.render import search_json, status_json
from shared.megabrain_messages import Activities, Artifacts
from shared.messages import ListingRow, SearchReply, ServiceStatus, StatusReply
from shared.search_messages import WhyNotReply
from tests.support.markdown import sections


def example_of(command: str) -> dict:
    """The document shown for a command."""
    found = re.search(r"```json\n(.+?)```", sections("docs/commands.md")[command], re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_search_prints_the_documented_keys():
    """A reply read from the example is printed as the example."""
    example = example_of("kx search")
    reply = msgspec.convert({"type": "SearchReply", **example}, SearchReply)
    assert search_json(reply) == example


def test_why_not_prints_the_documented_keys():
    """A reply read from the example is printed as the example."""
    example = example_of("kx why-not")
    reply = msgspec.convert({"type": "WhyNotReply", **example}, WhyNotReply)
    assert why_not_json(reply) == example


def test_status_prints_the_documented_keys():
    """A status made of the example's values is printed as the example."""
    example = example_of("kx status")
    vectors = {"vectors_ready": example["vectors"]["ready"], "vectors_missing": example["vectors"]["missing"]}
    reply = {"type": "StatusReply", "model_id": example["model"], **vectors, **example}
    services = {
        name: msgspec.convert({"type": "ServiceStatus", "service": name, **found}, ServiceStatus)
        for name, found in example["services"].items()
    }
    listings = {name: msgspec.convert(example[f"{name}_list"], list[ListingRow]) for name in ("documents", "skipped")}
    assert status_json(msgspec.convert(reply, StatusReply), services, listings) == example


def test_activities_are_printed_with_the_documented_keys():
    """Lists read from the examples are printed as the examples."""
    example = example_of("kx activity status")
    assert activities_json(msgspec.convert({"type": "Activities", **example}, Activities)) == example
    example = example_of("kx artifact list")
    assert artifact_json(msgspec.convert({"type": "Artifacts", **example}, Artifacts)) == example
