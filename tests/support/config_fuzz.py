"""Broken configurations, and what must hold of each: a clear error, or nothing denied is lost (row B8)."""

from __future__ import annotations

import json
import random
from pathlib import Path

from shared.deny import DenyList
from shared.errors import ErrorCode, KxError
from shared.project_config import LoadedConfig

PROJECT_ID = "3f8e2c1a-9d1b-4c5e-8f7a-0123456789ab"
FULL = {
    "project": "projeto-a",
    "index": "~/.kx/data/projeto-a.sqlite",
    "sources": [{"type": "docs", "path": "docs", "glob": "**/*.md", "exclude": ["old/**"], "weight": 1.5}],
    "indexing": {"deny": [".vault/private/**", "**/.env*", "**/*.key"], "maxFileBytes": 1000, "hardLinks": "deny"},
    "search": {"recency": 0.3, "synonyms": {"disjuntor": "circuit breaker"}},
    "ignoreKeywords": ["foo"],
    "ignoreFiles": ["*.log", "!keep.log"],
    "maxSnippetLines": 50,
    "maxSnippetResults": 20,
    "squads": ["Plataforma"],
    "mcp": {"projectId": PROJECT_ID.upper()},
}

_ODD_VALUES: list[object] = [
    None,
    True,
    False,
    -1,
    0,
    10**30,
    1.5,
    "",
    "x",
    "../x",
    "/x",
    "\0",
    "\ud800",
    [],
    [[]],
    {},
    {"a": {}},
    [1],
]


def mutated(rng: random.Random) -> bytes:
    """Break a good configuration once in its structure, its bytes, or both."""
    value = json.loads(json.dumps(FULL))
    if rng.random() < 0.7:
        _mutate_value(value, rng)
    raw = json.dumps(value, indent=rng.choice([None, 2])).encode()
    if rng.random() < 0.5:
        raw = _mutate_bytes(raw, rng)
    return raw


def _mutate_value(value: object, rng: random.Random) -> None:
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))  # type: ignore[arg-type]
        key = rng.choice(keys)
        child = value[key]  # type: ignore[index]
        if isinstance(child, (dict, list)) and child and rng.random() < 0.6:
            value = child
            continue
        if isinstance(value, dict) and rng.random() < 0.3:
            value[str(key)[:-1] + rng.choice("xyz")] = value.pop(key)
        else:
            value[key] = rng.choice(_ODD_VALUES)  # type: ignore[index]
        return


def _mutate_bytes(raw: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(raw))
    end = min(len(raw), at + rng.randrange(1, 12))
    noise = bytes(rng.choice(b'{}[]",:0aN-\\ \n\xff\x00') for _ in range(rng.randrange(4)))
    return rng.choice([raw[:at], raw[:at] + raw[end:], raw[:at] + noise + raw[end:], raw[:end] + raw[at:]])


def check_refusal(error: KxError, root: Path, raw: bytes) -> None:
    """The error names the file and either the key, the line, or what was expected of the whole."""
    assert error.code in {ErrorCode.CONFIG_INVALID, ErrorCode.CONFIG_NOT_TRUSTED}, raw
    assert error.params["file"] == str(root / ".kx.json")
    assert error.params.get("key") or "line" in error.params or "expected" in error.params, raw


def check_loaded(loaded: LoadedConfig, raw: bytes) -> None:
    """Nothing the file denies is lost, what it misspells is told, and the defaults are never lost."""
    value = json.loads(raw.decode("utf-8-sig"))
    indexing = value.get("indexing", {})
    assert list(loaded.config.indexing.deny) == indexing.get("deny", []), raw
    misspelt = (value.keys() - FULL.keys()) | (indexing.keys() - {"deny", "maxFileBytes", "hardLinks"})
    assert all(any(f"{key} is ignored" in warning for warning in loaded.warnings) for key in misspelt), raw
    assert DenyList(loaded.config.indexing.deny).denies("sub/.env")
