"""The table of tools: every row complete, every argument explained."""

from __future__ import annotations

import json

import pytest

from services.mcp_gateway.calls import HANDLERS
from services.mcp_gateway.core.guard import PROJECT_ID, PROJECT_ROOT
from services.mcp_gateway.core.inputs import SearchInput, StatusInput
from services.mcp_gateway.core.note_inputs import ActivityAddInput, ActivityUpdateInput
from services.mcp_gateway.core.tools import INSTRUCTIONS, TOOLS, input_schema, output_schema, parse
from services.mcp_gateway.notes import NOTE_HANDLERS
from services.mcp_gateway.recall import RECALL_HANDLERS
from shared.errors import ErrorCode, KxError

NAMES = [tool.name for tool in TOOLS]


def test_every_row_has_its_handler_and_no_handler_is_without_a_row():
    """Adding a tool is adding a row and a handler of that name."""
    assert [*HANDLERS, *NOTE_HANDLERS, *RECALL_HANDLERS] == NAMES


@pytest.mark.parametrize("tool", TOOLS, ids=NAMES)
def test_every_argument_is_explained_and_nothing_else_is_taken(tool):
    """MISSION 5.1: schemas with descriptions; a misspelt argument is told, not ignored."""
    schema = input_schema(tool.takes, is_gated=False)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert [name for name, field in schema["properties"].items() if not field.get("description")] == []
    assert '"null"' not in json.dumps(schema)


@pytest.mark.parametrize("tool", TOOLS, ids=NAMES)
def test_a_gated_project_shows_its_two_assertions_as_required(tool):
    """MISSION 1.8: an agent sees from the schema that it has to say them, and where they come from."""
    required = input_schema(tool.takes, is_gated=True)["required"]
    assert {PROJECT_ID, PROJECT_ROOT} <= set(required)
    assert PROJECT_ID not in input_schema(tool.takes, is_gated=False).get("required", ())
    assert ".kx.json" in INSTRUCTIONS


@pytest.mark.parametrize("tool", TOOLS, ids=NAMES)
def test_what_a_tool_gives_is_an_object_with_its_parts_in_the_schema(tool):
    """Every version of the protocol takes an object at the root, and not every client follows references."""
    schema = output_schema(tool.gives)
    assert schema["type"] == "object"
    assert list(schema["properties"])[-len(tool.gives.__struct_fields__) :] == list(tool.gives.__struct_fields__)
    assert all({"type", "enum"} & set(field) for field in schema["properties"].values())
    assert "$" not in json.dumps(schema)


@pytest.mark.parametrize("tool", TOOLS, ids=NAMES)
def test_every_argument_says_its_type(tool):
    """Not every client finds it out from the values of a choice, and some take no choice of two types."""
    fields = input_schema(tool.takes, is_gated=False)["properties"]
    assert [name for name, field in fields.items() if "type" not in field] == []


def test_the_tools_cost_an_agent_little_of_its_context():
    """All of them stand in the context of every agent that connects: 24 kB, about 6,000 tokens."""
    shown = [
        [tool.name, tool.title, tool.description, input_schema(tool.takes, is_gated=True), output_schema(tool.gives)]
        for tool in TOOLS
    ]
    assert len(json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()) < 23_000


def test_only_tools_that_read_say_so():
    """A client may run a read-only tool without asking its user."""
    assert [tool.name for tool in TOOLS if tool.hints.read_only] == [
        "search", "status", "megabrain_status", "megabrain_get", "megabrain_artifacts",
        "search_knowledge", "recall_context",
    ]  # fmt: skip
    assert [tool.name for tool in TOOLS if tool.hints.destructive] == ["forget"]


def test_portuguese_names_of_the_original_are_understood():
    """Issue 8: beside the English ones, which go before them."""
    asked = parse(ActivityUpdateInput, {"slug": "7", "tipo": "avanco", "texto": "andou", "sessao": "s"})
    assert (asked.ref, asked.kind, asked.text, asked.session) == ("7", "avanco", "andou", "s")
    both = parse(ActivityAddInput, {"titulo": "não", "title": "sim", "branches": "a:b, c:d"})
    assert (both.title, both.branches) == ("sim", "a:b, c:d")


def test_numbers_and_flags_written_as_text_are_understood():
    """Models send them so."""
    asked = parse(SearchInput, {"query": "q", "top": "3", "explain": "true", "alpha": "0.25"})
    assert (asked.top, asked.explain, asked.alpha) == (3, True, 0.25)


def test_a_number_where_text_is_meant_is_understood():
    """`ref: 3` is what a model makes of "number or slug"."""
    assert parse(ActivityUpdateInput, {"ref": 3, "kind": "done"}).ref == "3"
    assert parse(ActivityUpdateInput, {"slug": 3, "kind": "done"}).ref == "3"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [({"top": 1000}, "top is 1000: Expected `int` <= 100"), ({"mode": "best"}, "mode is 'best': Invalid enum value")],
    ids=["range", "choice"],
)
def test_a_value_that_cannot_be_used_is_told_with_what_it_may_be(arguments, told):
    """TARGETS U: what failed, the value, and what to write instead."""
    with pytest.raises(KxError) as refused:
        parse(SearchInput, {"query": "q", **arguments})
    assert told in refused.value.params["problem"]
    assert ("rrf, semantic" in refused.value.params["problem"]) is ("mode" in arguments)


@pytest.mark.parametrize(
    ("takes", "arguments"),
    [
        (SearchInput, {}),
        (SearchInput, {"query": ""}),
        (SearchInput, {"query": "q", "top": 0}),
        (SearchInput, {"query": "q", "top": 101}),
        (SearchInput, {"query": "q", "mode": "best"}),
        (SearchInput, {"query": "q", "tpo": 3}),
        (SearchInput, {"query": "q", "k": 10**400}),
        (StatusInput, {"query": "q"}),
    ],
    ids=lambda value: json.dumps(value)[:40] if isinstance(value, dict) else value.__name__,
)
def test_an_argument_that_cannot_be_used_is_named(takes, arguments):
    """KX_BAD_REQUEST, with the arguments there are."""
    with pytest.raises(KxError) as refused:
        parse(takes, arguments)
    assert refused.value.code is ErrorCode.BAD_REQUEST
    assert set(takes.__struct_fields__) <= set(refused.value.params["known"].split(", "))
