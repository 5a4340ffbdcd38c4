"""Answers of knowledge bases and memory as JSON that programs may rely on (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from kx.knowledge.asking import WholeRevision
from kx.render import lane_json
from shared.knowledge_messages import ItemWritten, KnowledgeHit, KnowledgeReply
from shared.knowledge_upkeep_messages import KnowledgeLimits
from shared.memory_messages import Memories, MemoryHit, RecalledContext

JSON_SCHEMA = 1


def document(**parts: object) -> dict[str, Any]:
    """Give a document of rows as they are in the messages."""
    return {"schema": JSON_SCHEMA, **{name: msgspec.to_builtins(part) for name, part in parts.items()}}


def written_json(written: ItemWritten) -> dict[str, Any]:
    """Give the documented form of an item that was written."""
    return document(item=written.item, is_changed=written.is_changed, notes=written.notes)


def read_json(found: WholeRevision) -> dict[str, Any]:
    """Give the documented form of a revision with its content."""
    content = found.content.decode("utf-8", "replace")
    return document(item=found.part.item, revision=found.part.revision, content=content)


def search_json(reply: KnowledgeReply) -> dict[str, Any]:
    """Give the documented form of a search of knowledge."""
    return {
        "schema": JSON_SCHEMA,
        "query": reply.query,
        "mode": reply.mode,
        "results": _hits(reply.results),
        "total": reply.total,
        "lanes": {name: lane_json(lane) for name, lane in reply.lanes.items()},
        "pending": {"text": reply.pending.text, "vectors": reply.pending.vectors},
        "notes": list(reply.notes),
        "took_ms": round(reply.took_ms, 2),
    }


def memories_json(found: Memories) -> dict[str, Any]:
    """Give the documented form of a page of records."""
    return document(total=found.total, records=found.records)


def recalled_json(found: RecalledContext) -> dict[str, Any]:
    """Give the documented form of what was recalled."""
    return {
        "schema": JSON_SCHEMA,
        "query": found.query,
        "tokens": found.tokens,
        "truncated": found.truncated,
        "memory": [_memory(hit) for hit in found.memory],
        "knowledge": _hits(found.knowledge),
        "notes": list(found.notes),
    }


def limits_json(found: KnowledgeLimits) -> dict[str, Any]:
    """Give the documented form of the limits."""
    told = msgspec.to_builtins(found)
    return {"schema": JSON_SCHEMA, "limits": {name: told[name] for name in found.__struct_fields__}}


def _hits(hits: Iterable[KnowledgeHit]) -> list[dict[str, Any]]:
    return [{**msgspec.to_builtins(hit), "score": round(hit.score, 6)} for hit in hits]


def _memory(hit: MemoryHit) -> dict[str, Any]:
    return {**msgspec.to_builtins(hit.record), "score": round(hit.score, 6)}
