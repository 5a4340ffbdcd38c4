"""The JSON documents of knowledge bases and memory in docs/commands.md are what the command prints."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from kx.knowledge.asking import WholeRevision
from kx.knowledge.documents import (
    document,
    limits_json,
    memories_json,
    read_json,
    recalled_json,
    search_json,
    written_json,
)
from kx.knowledge.outcomes import Imported, import_json
from kx.render import as_json
from shared.knowledge_messages import BaseRow, ItemRow, ItemWritten, KnowledgeReply, RevisionRow, RevisionText, SpaceRow
from shared.knowledge_upkeep_messages import AuditRow, KnowledgeLimits, LinkRow
from shared.memory_messages import Memories, MemoryHit, MemoryRecord, RecalledContext
from tests.support.markdown import sections


def example_of(command: str) -> dict:
    """The document shown for a command."""
    found = re.search(r"```json\n(.+?)```", sections("docs/commands.md")[command], re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def printed(answer: dict[str, Any]) -> dict:
    """What a program reads."""
    return json.loads(as_json(answer))


ROWS_OF_KNOWLEDGE = [
    ("kx kb spaces", "spaces", list[SpaceRow]),
    ("kx kb list", "bases", list[BaseRow]),
    ("kx kb items", "items", list[ItemRow]),
    ("kx kb revisions", "revisions", list[RevisionRow]),
    ("kx kb audit", "rows", list[AuditRow]),
    ("kx kb link", "links", list[LinkRow]),
    ("kx memory remember", "record", MemoryRecord),
]


@pytest.mark.parametrize(("command", "key", "kind"), ROWS_OF_KNOWLEDGE)
def test_rows_of_knowledge_are_printed_with_the_documented_keys(command: str, key: str, kind: type):
    """Rows read from the example are printed as the example: no key more, none less."""
    example = example_of(command)
    rest = {name: value for name, value in example.items() if name not in {"schema", key}}
    rows = msgspec.convert(example[key], kind)
    assert printed(document(**{key: rows}, **rest)) == example


def test_answers_of_knowledge_are_printed_with_the_documented_keys():
    """A written item, a revision and an import made of the examples' values are printed as the examples."""
    example = example_of("kx kb add")
    assert printed(written_json(msgspec.convert({"type": "ItemWritten", **example}, ItemWritten))) == example
    example = example_of("kx kb read")
    part = {"type": "RevisionText", "offset": 0, **example, "content": b""}
    whole = WholeRevision(msgspec.convert(part, RevisionText), example["content"].encode())
    assert printed(read_json(whole)) == example
    example = example_of("kx kb import")
    told = example["files"][0]
    outcomes = [Imported(path=told["path"], outcome=told["outcome"], reason=told["reason"])]
    assert printed(import_json(msgspec.convert(example["base"], BaseRow), outcomes)) == example


def test_findings_of_knowledge_and_memory_are_printed_with_the_documented_keys():
    """A search, a list of records and what is recalled are printed as the examples."""
    example = example_of("kx kb limits")
    assert (
        printed(limits_json(msgspec.convert(example["limits"] | {"type": "KnowledgeLimits"}, KnowledgeLimits)))
        == example
    )
    example = example_of("kx kb search")
    assert printed(search_json(msgspec.convert({"type": "KnowledgeReply", **example}, KnowledgeReply))) == example
    example = example_of("kx memory list")
    assert printed(memories_json(msgspec.convert({"type": "Memories", **example}, Memories))) == example
    example = example_of("kx recall-context")
    memory = tuple(
        MemoryHit(record=msgspec.convert({**row, "score": None}, MemoryRecord), score=row["score"])
        for row in example["memory"]
    )
    found = msgspec.convert({"type": "RecalledContext", **example, "memory": []}, RecalledContext)
    assert printed(recalled_json(replace(found, memory=memory))) == example
